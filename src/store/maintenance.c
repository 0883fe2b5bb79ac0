/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/maintenance.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/encode.h"
#include "store/query.h"

/* How long it is held, and after what part of it moved on: a holder that is stopped for longer must
 * find out before it goes on. */
#define HOLD "INTERVAL 60 SECOND"
enum { KEEP_AFTER = 15 * 1000 };

#define NOW "UTC_TIMESTAMP(6)"

static int run(struct query *query, struct error *error)
{
	return query_run(query, CLOCK_NEVER, error);
}

/* Whose it is; MAINTENANCE_FAILED where that cannot be told either. */
static enum maintenance_result describe_holder(const struct maintenance *maintenance,
					       struct error *error)
{
	struct query query;
	enum maintenance_result result = MAINTENANCE_FAILED;
	query_init(&query, maintenance->connection);
	buffer_append_text(&query.text,
			   "SELECT holder, TIMESTAMPDIFF(SECOND, " NOW ", held_until) + 1"
			   " FROM once_maintenance WHERE task = ?");
	query_add_text(&query, maintenance->task);
	if (run(&query, error) < 0)
		goto out;
	if (query_next(&query, error)) {
		error_set(error, ERROR_STORE, "%s is at it; unless it goes on, for %ld s more",
			  query_cell(&query, 0).data, (long)query_number(&query, 1));
		result = MAINTENANCE_BUSY;
	} else if (error->kind == ERROR_NONE) {
		result = MAINTENANCE_MISSING;
		error_set(error, ERROR_STORE,
			  "once_maintenance has no row \"%s\"; as the administrator, run: INSERT"
			  " INTO once_maintenance (task) VALUES ('%s')",
			  maintenance->task, maintenance->task);
	}
out:
	query_free(&query);
	return result;
}

enum maintenance_result maintenance_take(struct maintenance *maintenance,
					 struct connection *connection, const char *task,
					 const char *who, struct error *error)
{
	unsigned char random[4];
	char mark[2 * sizeof(random) + 1];
	*maintenance = (struct maintenance){.connection = connection, .task = task};
	if (random_bytes(random, sizeof(random)) < 0) {
		error_set(error, ERROR_SYSTEM, "the system gives no random bytes");
		return MAINTENANCE_FAILED;
	}
	encode_hex(mark, random, sizeof(random));
	snprintf(maintenance->holder, sizeof(maintenance->holder), "%.200s, process %ld, %s", who,
		 (long)getpid(), mark);
	struct query query;
	query_init(&query, connection);
	buffer_append_text(&query.text,
			   "UPDATE once_maintenance SET holder = ?, held_until = " NOW " + " HOLD
			   ", started_at = " NOW " WHERE task = ? AND held_until <= " NOW);
	query_add_text(&query, maintenance->holder);
	query_add_text(&query, task);
	maintenance->renewed = clock_now();
	int failed = run(&query, error);
	bool taken = failed == 0 && query_changed(&query) == 1;
	query_free(&query);
	if (failed < 0)
		return MAINTENANCE_FAILED;
	return taken ? MAINTENANCE_HELD : describe_holder(maintenance, error);
}

/* The counts since they were last noted: nothing is lost but what a killed run did since. */
#define ADD_COUNTS "deleted = deleted + ?, tombstoned = tombstoned + ?, expired = expired + ?"
static void add_counts(struct query *query, const struct maintenance *maintenance,
		       const struct maintenance_counts *counts)
{
	const struct maintenance_counts *noted = &maintenance->noted;
	query_add_number(query, (int64_t)(counts->deleted - noted->deleted));
	query_add_number(query, (int64_t)(counts->tombstoned - noted->tombstoned));
	query_add_number(query, (int64_t)(counts->expired - noted->expired));
	query_add_text(query, maintenance->task);
	query_add_text(query, maintenance->holder);
}

/* 1: done; 0: it is no longer ours; -1: *error. */
static int note(struct maintenance *maintenance, const char *text,
		const struct maintenance_counts *counts, struct error *error)
{
	struct query query;
	query_init(&query, maintenance->connection);
	buffer_append_text(&query.text, text);
	add_counts(&query, maintenance, counts);
	int result = run(&query, error);
	if (result == 0)
		result = query_changed(&query) == 1;
	query_free(&query);
	if (result <= 0)
		return result;
	maintenance->noted = *counts;
	return 1;
}

enum maintenance_result maintenance_keep(struct maintenance *maintenance,
					 const struct maintenance_counts *counts,
					 struct error *error)
{
	static const char text[] = "UPDATE once_maintenance SET held_until = " NOW " + " HOLD
				   ", " ADD_COUNTS " WHERE task = ? AND holder = ?";
	int64_t now = clock_now();
	if (now - maintenance->renewed < KEEP_AFTER)
		return MAINTENANCE_HELD;
	int noted = note(maintenance, text, counts, error);
	if (noted < 0)
		return MAINTENANCE_FAILED;
	if (noted == 0)
		return describe_holder(maintenance, error);
	maintenance->renewed = now;
	return MAINTENANCE_HELD;
}

/* No record in particular: an id of zeros. */
static int audit(struct connection *connection, const struct audit_author *author,
		 struct error *error)
{
	static const unsigned char none[DIGEST_LENGTH];
	struct query query;
	query_init(&query, connection);
	buffer_append_text(&query.text,
			   "INSERT INTO once_audit (done_at, record_id, who, host, program, reason)"
			   " VALUES (" NOW ", ?, ?, ?, ?, ?)");
	query_add_bytes(&query, none, sizeof(none));
	query_add_text(&query, author->who);
	query_add_text(&query, author->host);
	query_add_text(&query, author->program);
	query_add_text(&query, author->reason);
	int result = run(&query, error);
	query_free(&query);
	return result;
}

#define END_TASK                                                                                   \
	"UPDATE once_maintenance SET holder = '', held_until = '1970-01-01', finished_at = " NOW   \
	", " ADD_COUNTS

int maintenance_end(struct maintenance *maintenance, const struct maintenance_counts *counts,
		    bool succeeded, const struct audit_author *author, struct error *error)
{
	static const char end_text[] = END_TASK " WHERE task = ? AND holder = ?";
	static const char success_text[] =
	    END_TASK ", succeeded_at = " NOW " WHERE task = ? AND holder = ?";
	struct connection *connection = maintenance->connection;
	if (query_begin(connection, CLOCK_NEVER, error) < 0)
		return -1;
	/* Lost to another one: what was done is audited all the same. */
	if (note(maintenance, succeeded ? success_text : end_text, counts, error) < 0 ||
	    (author != NULL && audit(connection, author, error) < 0)) {
		query_rollback(connection, CLOCK_NEVER);
		return -1;
	}
	return query_commit(connection, CLOCK_NEVER, error);
}
