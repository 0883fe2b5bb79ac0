/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/gauges.h"

#include <mysqld_error.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "store/query.h"
#include "store/roundtrip.h"
#include "store/schema.h"
#include "store/way.h"

#define SINCE_EPOCH(time) "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " time ")"

/* Rows of the index that has all that is asked, no more than the bound. */
#define COUNT(condition)                                                                           \
	"SELECT COUNT(*) FROM (SELECT 1 FROM once_record FORCE INDEX (once_record_expiry) "        \
	"WHERE " condition " LIMIT ?) AS some"

/* When it was made and who holds it stand in no index beside the state: the rows of these are
 * looked up, a page of the table each. They are few, unless something is wrong: then not too many,
 * and the first to expire, which are the oldest. */
#define LOOK_UP(state)                                                                             \
	" FROM (SELECT id FROM once_record FORCE INDEX (once_record_expiry) WHERE state = '" state \
	"' ORDER BY expires_at LIMIT ?) AS some STRAIGHT_JOIN once_record USING (id)"

enum { MOST_COLUMNS = 3 };

/* What is cheap comes first, so that a slow count does not cost what can be known at once. */
static const struct question {
	const char *text;
	int64_t most; /* bound on its rows, beside the caller's; 0: takes none */
	unsigned columns;
	enum gauge gauges[MOST_COLUMNS];
} questions[] = {
    {.text = "SELECT COALESCE(MAX(version), 0) FROM once_schema WHERE NOT dirty",
     .columns = 1,
     .gauges = {GAUGE_SCHEMA}},
    {.text = "SELECT deleted, expired, COALESCE(" SINCE_EPOCH(
	 "succeeded_at") ", 0)"
			 " FROM once_maintenance WHERE task = 'purge'",
     .columns = 3,
     .gauges = {GAUGE_PURGED, GAUGE_KEYS_EXPIRED, GAUGE_PURGED_AT}},
    {.text = COUNT("state = 'in_flight'"),
     .most = INT64_MAX,
     .columns = 1,
     .gauges = {GAUGE_IN_FLIGHT}},
    {.text = COUNT("state = 'unknown'"),
     .most = INT64_MAX,
     .columns = 1,
     .gauges = {GAUGE_UNKNOWN}},
    {.text = COUNT("state = 'released'"),
     .most = INT64_MAX,
     .columns = 1,
     .gauges = {GAUGE_RELEASED}},
    {.text = "SELECT COALESCE(SUM" WAY_STALE ", 0), " SINCE_EPOCH("MIN(created_at)")
	 LOOK_UP("in_flight") WAY_LEASE,
     .most = 10000,
     .columns = 2,
     .gauges = {GAUGE_STALE, GAUGE_OLDEST_IN_FLIGHT}},
    {.text = "SELECT " SINCE_EPOCH("MIN(created_at)") LOOK_UP("unknown"),
     .most = 1000,
     .columns = 1,
     .gauges = {GAUGE_OLDEST_UNKNOWN}},
    {.text = "SELECT SUM(DATA_LENGTH + INDEX_LENGTH) FROM information_schema.TABLES"
	     " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN"
	     " ('once_record', 'once_lease', 'once_natural_key', 'once_audit')",
     .columns = 1,
     .gauges = {GAUGE_BYTES}},
    {.text = COUNT("state IN ('complete', 'expired') AND expires_at <= " WAY_NOW),
     .most = INT64_MAX,
     .columns = 1,
     .gauges = {GAUGE_PAST_EXPIRY}},
    {.text = COUNT("state = 'expired'"),
     .most = INT64_MAX,
     .columns = 1,
     .gauges = {GAUGE_EXPIRED}},
    {.text = COUNT("state = 'complete'"),
     .most = INT64_MAX,
     .columns = 1,
     .gauges = {GAUGE_COMPLETE}},
};

static int64_t wall_clock(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t monotonic(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void set(struct gauges *gauges, enum gauge gauge, int64_t value)
{
	gauges->known[gauge] = true;
	gauges->values[gauge] = value;
}

/* The database read its clock somewhere between our question and its answer: in the middle, with
 * half of the way there and back as the largest error. */
static int take_skew(struct connection *connection, int64_t deadline, struct gauges *gauges,
		     struct error *error)
{
	struct roundtrip roundtrip = {.connection = connection,
				      .goal = ROUNDTRIP_QUERY,
				      .query = "SELECT " SINCE_EPOCH("UTC_TIMESTAMP(6)")};
	int64_t asked = wall_clock();
	if (roundtrip_run(&roundtrip, deadline) != ROUNDTRIP_DONE) {
		*error = roundtrip.error;
		return -1;
	}
	int64_t answered = wall_clock();
	MYSQL_ROW row = mysql_fetch_row(roundtrip.result);
	if (row != NULL && row[0] != NULL)
		set(gauges, GAUGE_SKEW,
		    strtoll(row[0], NULL, 10) - (asked + (answered - asked) / 2));
	mysql_free_result(roundtrip.result);
	return 0;
}

static int no_time_left(struct error *error)
{
	error_set(error, ERROR_STORE,
		  "the time was over before everything was counted; give it more by --timeout, or"
		  " count less by --count-limit");
	return -1;
}

static int take(struct connection *connection, const struct question *question, int64_t limit,
		int64_t deadline, struct gauges *gauges, struct error *error)
{
	struct query query;
	int result = -1;
	query_init(&query, connection);
	if (query_limit_time(&query, deadline, error) < 0) {
		no_time_left(error);
		goto out;
	}
	buffer_append_text(&query.text, question->text);
	if (question->most > 0)
		query_add_number(&query, limit < question->most ? limit : question->most);
	if (query_run(&query, deadline, error) < 0) {
		if (connection->code == ER_STATEMENT_TIMEOUT)
			no_time_left(error);
		goto out;
	}
	if (query_next(&query, error))
		for (unsigned i = 0; i < question->columns; i++)
			if (query_cell(&query, i).data != NULL)
				set(gauges, question->gauges[i], query_number(&query, i));
	result = error->kind == ERROR_NONE ? 0 : -1;
out:
	query_free(&query);
	return result;
}

static int open_connection(struct connection *connection, int64_t deadline, struct error *error)
{
	struct roundtrip roundtrip = {.connection = connection, .goal = ROUNDTRIP_OPEN};
	if (roundtrip_run(&roundtrip, deadline) == ROUNDTRIP_DONE)
		return 0;
	*error = roundtrip.error;
	return -1;
}

/* All of it, with the first failure in *error; up as long as the connection stands. */
static int take_all(struct connection *connection, int64_t limit, int64_t deadline,
		    struct gauges *gauges, struct error *error)
{
	if (open_connection(connection, deadline, error) < 0 ||
	    take_skew(connection, deadline, gauges, error) < 0)
		return -1;
	int result = 0;
	unsigned code = 0;
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]) && connection->open; i++) {
		struct error failure;
		if (take(connection, &questions[i], limit, deadline, gauges, &failure) == 0)
			continue;
		if (result == 0) {
			*error = failure;
			code = connection->code;
		}
		result = -1;
	}
	connection->code = code;
	gauges->up = connection->open;
	return result;
}

int gauges_take(struct connection *connection, int64_t limit, int64_t deadline,
		struct gauges *gauges, struct error *error)
{
	int64_t began = monotonic();
	*gauges = (struct gauges){0};
	int result = take_all(connection, limit, deadline, gauges, error);
	gauges->duration = monotonic() - began;
	return result;
}

int64_t gauges_expected_schema(void)
{
	return migrations[migration_count - 1].version;
}
