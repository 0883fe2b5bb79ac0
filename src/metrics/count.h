/* SPDX-License-Identifier: ISC */
/*
 * Counting: what a process of the wrapper tells the segment. All of these are wait-free adds into
 * shared memory, and do nothing at all where no segment is mapped: metrics never fail a request,
 * and no caller asks whether they work. One segment a process; children that fork share it.
 */
#ifndef ONCEWRAP_METRICS_COUNT_H
#define ONCEWRAP_METRICS_COUNT_H

#include "base/error.h"
#include "metrics/series.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum count_opening {
	COUNT_OPENED,   /* counts */
	COUNT_REPLACED, /* counts, in a new file for something else: *error says what that was */
	COUNT_FAILED,   /* does not: *error says why */
};

/*
 * Map the segment of `directory`, made where it is missing (0640, of that user and group; the
 * directory is made too, 0755). What stands under its name and is no segment of that user, or is of
 * another size, is replaced, never written to. To be called before privileges are dropped, and
 * again after a reload. A file that is removed later, or cut short, is made anew by a worker
 * between two of its requests.
 */
enum count_opening count_open(const char *directory, uid_t user, gid_t group, struct error *error)
    __attribute__((warn_unused_result));
void count_close(void);

/* After a reload: open the same directory's again, unless its file still stands. */
enum count_opening count_refresh(struct error *error) __attribute__((warn_unused_result));

/* The line that an opening is worth: none for COUNT_OPENED. */
void count_tell(enum count_opening opening, const struct error *error);

/* The number of a route's counters in this process and those that it forks; METRICS_ROUTE_OTHER for
 * NULL, and where there is no room for one more. To be asked once for each configuration. */
unsigned count_route(const char *name);

/* Microseconds, of the clock that durations are measured by. */
int64_t count_now(void);

/* A request that has been answered, and how long it took. */
void count_request(unsigned route, unsigned outcome, int64_t microseconds);
/* What an observed request would have been answered. */
void count_observed(unsigned route, unsigned outcome);
void count_handler(unsigned route, int64_t microseconds);
void count_settlement(unsigned route, enum metrics_settlement outcome);
void count_takeover(unsigned route);
void count_reclaim(unsigned route);  /* a key came back after it had expired */
void count_conflict(unsigned route); /* an in-flight record was met, by a waiter too */
void count_replay_bytes(uint64_t bytes);
void count_renewal(void);
void count_store(enum metrics_op op, int64_t microseconds);
void count_store_error(enum metrics_reason reason);
void count_log(unsigned level);
/* Gauge of the spool, by whoever has looked: entries, and the oldest one's time (0: none). */
void count_spool(uint64_t entries, int64_t oldest_ms, uint64_t set_aside);

/* This process on the scoreboard: from now until it ends, also by kill -9, for its slot is known by
 * pid and start time. In each worker after its fork. */
void count_worker_begin(void);
void count_worker_end(void);
void count_worker_state(enum metrics_worker_state state);
/* A request begins, or (METRICS_ROUTE_OTHER, `busy` false) there is none. */
void count_worker_request(unsigned route, bool busy);

#endif
