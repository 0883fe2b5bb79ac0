/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/clock.h"
#include "metrics/count.h"
#include "store/handle.h"
#include "store/trouble.h"

/* Connector/C never shrinks its packet buffer. A connection that has carried more than this is not
 * worth its memory: a worker is to stay small whatever the bodies (docs/design.md section 11). */
enum { PACKET_KEPT = 1024 * 1024 };

/* Pauses between issues, in ms: short where the other session is about to end, up to the most where
 * a server is coming back. */
enum { PAUSE_DEADLOCK = 1, PAUSE_OTHERS = 5, PAUSE_MOST = 200 };

static void pause_before(unsigned retry, enum trouble trouble, int64_t deadline)
{
	if (retry == 0 && trouble == TROUBLE_GONE)
		return; /* most often an idle connection that the server has closed */
	int64_t pause = (trouble == TROUBLE_DEADLOCK ? PAUSE_DEADLOCK : PAUSE_OTHERS)
			<< (retry < 6 ? retry : 6);
	int64_t left = deadline - clock_now();
	pause = pause < PAUSE_MOST ? pause : PAUSE_MOST;
	if (pause < left)
		clock_pause(pause);
	else if (left > 0)
		clock_pause(left);
}

static void take_counts(struct issue *issue, const struct roundtrip *roundtrip)
{
	MYSQL_STMT *statement = roundtrip_statement(roundtrip);
	issue->rows = mysql_stmt_affected_rows(statement);
	issue->number = mysql_stmt_insert_id(statement);
}

/* A row that a claim, or what follows from one, finds locked is an answer and no trouble. */
static void count_trouble(const struct statement *statement, unsigned code)
{
	enum metrics_reason reason = trouble_reason(code);
	if (reason != STORE_ERROR_LOCK_TIMEOUT || statement->op != STORE_OP_CLAIM)
		count_store_error(reason);
}

static enum store_result issue_until(struct store *store, struct issue *issue, bool one_try,
				     int64_t deadline, struct error *error)
{
	const struct statement *statement = &statements[issue->statement];
	struct connection *connection = &store->connection;
	struct roundtrip roundtrip = {
	    .connection = connection,
	    .goal = ROUNDTRIP_STATEMENT,
	    .statement = issue->statement,
	    .parameters = &issue->parameters,
	};
	for (unsigned retry = 0;; retry++) {
		if (clock_now() >= deadline) {
			if (retry == 0)
				error_set(error, ERROR_STORE, "%s: no time left", statement->name);
			break;
		}
		if (roundtrip_run(&roundtrip, deadline) == ROUNDTRIP_DONE) {
			take_counts(issue, &roundtrip);
			return STORE_DONE;
		}
		*error = roundtrip.error;
		issue->in_doubt = issue->in_doubt || roundtrip.in_doubt;
		enum trouble trouble = trouble_of(roundtrip.code);
		count_trouble(statement, roundtrip.code);
		/* In doubt, the session that holds the row is most likely our own of before. */
		if (trouble == TROUBLE_BUSY && !statement->reads && !statement->waits &&
		    !issue->in_doubt)
			return STORE_BUSY;
		if (trouble == TROUBLE_REFUSED || (one_try && roundtrip.opening))
			break;
		pause_before(retry, trouble, deadline);
	}
	return issue->in_doubt && !statement->reads ? STORE_UNCERTAIN : STORE_DOWN;
}

enum store_result store_issue(struct store *store, struct issue *issue, int64_t deadline,
			      struct error *error)
{
	const struct statement *statement = &statements[issue->statement];
	const struct connection *connection = &store->connection;
	/* A database known to be away gets one try, and none shortly after the last: a request must
	 * not wait out its deadline to hear what the one before it has heard. */
	bool one_try = connection->down && !statement->patient;
	issue->in_doubt = false;
	if (one_try && clock_now() < connection->quiet_until) {
		*error = connection->refusal;
		return STORE_DOWN;
	}
	int64_t from = count_now();
	enum store_result result = issue_until(store, issue, one_try, deadline, error);
	count_store(statement->op, count_now() - from);
	return result;
}

enum store_result store_take_record(struct store *store, const struct issue *issue,
				    struct record *record, struct error *error)
{
	MYSQL_STMT *statement = store->connection.statements[issue->statement];
	enum row_result result = row_fetch_record(statement, record, error);
	store_shed(store, record->headers.length + record->body.length);
	switch (result) {
	case ROW_FETCHED:
		return STORE_DONE;
	case ROW_NONE:
		return STORE_NO_ROW;
	case ROW_FAILED:
		break;
	}
	return STORE_DOWN;
}

void store_shed(struct store *store, uint64_t packet)
{
	if (packet > PACKET_KEPT)
		connection_close(&store->connection);
}
