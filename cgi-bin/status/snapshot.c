/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/snapshot.h"

#include <time.h>

#include "base/clock.h"
#include "store/roundtrip.h"

/* Whoever opens the page when something is wrong does not wait longer for the database. */
enum { STORE_TIME = 2000 };

/* Of the records that need attention; the list commands have the others. */
enum { MOST_LISTED = 20, LIST_BOUND = 10000 };

static int64_t wall_clock(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void note(struct snapshot *snapshot, const struct error *error)
{
	if (snapshot->store_error.kind == ERROR_NONE)
		snapshot->store_error = *error;
}

static bool reach_store(struct snapshot *snapshot, int64_t deadline)
{
	struct roundtrip roundtrip = {.connection = &snapshot->connect.connection,
				      .goal = ROUNDTRIP_OPEN};
	if (roundtrip_run(&roundtrip, deadline) == ROUNDTRIP_DONE)
		return true;
	note(snapshot, &roundtrip.error);
	return false;
}

/* The list first: it is short, and what a person has come for. */
static void take_store(struct snapshot *snapshot, enum snapshot_depth depth)
{
	struct error error;
	struct connection *connection = &snapshot->connect.connection;
	int64_t deadline = clock_now() + STORE_TIME;
	if (!reach_store(snapshot, deadline))
		return;
	if (depth == SNAPSHOT_FULL) {
		snapshot->listed = attention_take(connection, MOST_LISTED, LIST_BOUND, deadline,
						  &snapshot->attention, &error) == 0;
		if (!snapshot->listed)
			note(snapshot, &error);
	}
	int64_t limit = depth == SNAPSHOT_FULL ? SNAPSHOT_COUNT_LIMIT : 1;
	if (gauges_take(connection, limit, deadline, &snapshot->gauges, &error) < 0)
		note(snapshot, &error);
}

int snapshot_take(struct snapshot *snapshot, const char *file, enum snapshot_depth depth)
{
	*snapshot = (struct snapshot){.now_ms = wall_clock()};
	connect_init(&snapshot->connect);
	snapshot->connect.file = file;
	/* The server's own bounds follow from it; one second more, so that the deadline of all
	 * comes first. */
	snapshot->connect.timeout = STORE_TIME / 1000 + 1;
	int status = connect_load(&snapshot->connect, CONNECTION_ADMIN, "oncewrap-metrics");
	if (status != GO_ON)
		return status;
	person_host(snapshot->host);
	snapshot->read = reading_take(&snapshot->reading, snapshot->connect.config->run_directory,
				      &snapshot->read_error) == 0;
	connect_hurry();
	take_store(snapshot, depth);
	return GO_ON;
}

void snapshot_free(struct snapshot *snapshot)
{
	reading_free(&snapshot->reading);
	attention_free(&snapshot->attention);
	connect_close(&snapshot->connect);
}
