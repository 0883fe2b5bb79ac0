/* SPDX-License-Identifier: ISC */
/*
 * The database as once-metrics tells of it: how many records there are in which state, what waits
 * for a person or for the purge, how old and how large it has become. Everything is counted along
 * an index and no further than a bound, each statement is stopped by the server itself when its
 * time is over, and all of it ends by a deadline: a scrape costs a database in trouble little.
 */
#ifndef ONCEWRAP_STORE_GAUGES_H
#define ONCEWRAP_STORE_GAUGES_H

#include "base/error.h"
#include "store/connection.h"

#include <stdbool.h>
#include <stdint.h>

/* Counts are numbers of rows, times and spans microseconds (times since the epoch). */
enum gauge {
	GAUGE_IN_FLIGHT, /* in the order of enum record_state */
	GAUGE_COMPLETE,
	GAUGE_UNKNOWN,
	GAUGE_RELEASED,
	GAUGE_EXPIRED,
	GAUGE_STALE,            /* in flight, and nobody holds it any more */
	GAUGE_OLDEST_IN_FLIGHT, /* when it was made; not known where there is none */
	GAUGE_OLDEST_UNKNOWN,
	GAUGE_PAST_EXPIRY,  /* what the next purge will look at */
	GAUGE_BYTES,        /* of all tables with their indexes, as the server estimates them */
	GAUGE_SCHEMA,       /* the newest migration that is whole; 0: none */
	GAUGE_SKEW,         /* the database's clock less this host's */
	GAUGE_PURGED_AT,    /* end of the last purge that was no failure; 0: never */
	GAUGE_PURGED,       /* records deleted by all purges */
	GAUGE_KEYS_EXPIRED, /* keys whose retention was over when a purge met them */
};
#define GAUGES (GAUGE_KEYS_EXPIRED + 1)

struct gauges {
	bool up; /* the database answered, to the end */
	bool known[GAUGES];
	int64_t values[GAUGES];
	int64_t duration; /* microseconds that it took */
};

/*
 * Take what can be had by `deadline` (clock_now milliseconds), counting no further than `limit`.
 * 0, or -1 with *error: then the database did not answer (not up), or refused or had no time for
 * some of it, which is then not known; *error tells the first thing that failed, and
 * connection->code its number.
 */
int gauges_take(struct connection *connection, int64_t limit, int64_t deadline,
		struct gauges *gauges, struct error *error) __attribute__((warn_unused_result));

/* The version that this build's schema has. */
int64_t gauges_expected_schema(void);

#endif
