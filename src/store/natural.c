/* SPDX-License-Identifier: ISC */
/* Natural keys (store.h): who holds one. What ends a hold is in settle.c. */
#include <config.h>

#include "store/handle.h"

#include <string.h>

/* A claim that would hold a natural key. */
struct contender {
	struct store *store;
	const struct store_natural *natural;
	const unsigned char *record;
	const unsigned char *token;
	int64_t deadline;
	struct error *error;
};

static enum store_result upsert(const struct contender *contender,
				struct store_natural_holder *holder)
{
	struct issue issue = {.statement = STATEMENT_HOLD_NATURAL};
	parameters_init(&issue.parameters);
	parameters_add_bytes(&issue.parameters, contender->natural->id, DIGEST_LENGTH);
	parameters_add_bytes(&issue.parameters, contender->record, DIGEST_LENGTH);
	parameters_add_bytes(&issue.parameters, contender->token, TOKEN_LENGTH);
	parameters_add_window(&issue.parameters, contender->natural->window);
	enum store_result result =
	    store_issue(contender->store, &issue, contender->deadline, contender->error);
	if (result != STORE_DONE)
		return result;
	MYSQL_STMT *statement = contender->store->connection.statements[issue.statement];
	switch (row_fetch_holder(statement, holder, contender->error)) {
	case ROW_FETCHED:
		return STORE_DONE;
	case ROW_NONE:
		error_set(contender->error, ERROR_STORE,
			  "hold natural key: the database returned no row");
		return STORE_UNCERTAIN;
	case ROW_FAILED:
		break;
	}
	return STORE_DOWN;
}

/* 0 rows, and an earlier issue of the same statement in doubt: the row's own token tells whether
 * that one was done. */
static enum store_result settle_doubt(const struct contender *contender)
{
	struct store_natural_holder holder = {0};
	enum store_result result = upsert(contender, &holder);
	if (result == STORE_DONE && memcmp(holder.token, contender->token, TOKEN_LENGTH) != 0)
		result = STORE_NO_ROW;
	else if (result != STORE_DONE)
		result = STORE_UNCERTAIN;
	buffer_free(&holder.location);
	return result;
}

static enum store_result take(const struct contender *contender,
			      const unsigned char seen[TOKEN_LENGTH])
{
	struct issue issue = {.statement = STATEMENT_TAKE_NATURAL};
	parameters_init(&issue.parameters);
	parameters_add_bytes(&issue.parameters, contender->record, DIGEST_LENGTH);
	parameters_add_bytes(&issue.parameters, contender->token, TOKEN_LENGTH);
	parameters_add_window(&issue.parameters, contender->natural->window);
	parameters_add_bytes(&issue.parameters, contender->natural->id, DIGEST_LENGTH);
	parameters_add_bytes(&issue.parameters, seen, TOKEN_LENGTH);
	enum store_result result =
	    store_issue(contender->store, &issue, contender->deadline, contender->error);
	if (result != STORE_DONE || issue.rows == 1)
		return result;
	return issue.in_doubt ? settle_doubt(contender) : STORE_NO_ROW;
}

/* Not by the upsert: an attempt that was taken over while it was on its way here would take the key
 * back from the one that has its record now. The taking looks which of the two that is. */
static enum store_result follow_own_record(const struct contender *contender,
					   struct store_natural_holder *holder)
{
	enum store_result result = take(contender, holder->token);
	if (result == STORE_DONE) {
		memcpy(holder->token, contender->token, TOKEN_LENGTH);
		holder->over = false;
	}
	return result == STORE_NO_ROW ? STORE_DONE : result;
}

enum store_result store_hold_natural(struct store *store, const struct store_natural *natural,
				     const unsigned char record[DIGEST_LENGTH],
				     const unsigned char token[TOKEN_LENGTH],
				     struct store_natural_holder *holder, int64_t deadline,
				     struct error *error)
{
	const struct contender contender = {store, natural, record, token, deadline, error};
	*holder = (struct store_natural_holder){0};
	enum store_result result = upsert(&contender, holder);
	bool earlier_attempt = result == STORE_DONE && holder->settled_ms == 0 &&
			       memcmp(holder->record, record, DIGEST_LENGTH) == 0 &&
			       memcmp(holder->token, token, TOKEN_LENGTH) != 0;
	return earlier_attempt ? follow_own_record(&contender, holder) : result;
}

enum store_result store_take_natural(struct store *store, const struct store_natural *natural,
				     const unsigned char seen[TOKEN_LENGTH],
				     const unsigned char record[DIGEST_LENGTH],
				     const unsigned char token[TOKEN_LENGTH], int64_t deadline,
				     struct error *error)
{
	const struct contender contender = {store, natural, record, token, deadline, error};
	return take(&contender, seen);
}
