/* SPDX-License-Identifier: ISC */
/*
 * What the segment counts, by name: the values of each label, in the order in which the segment
 * has them. Whoever changes a list changes the layout, and with it the file's name (segment.h).
 */
#ifndef ONCEWRAP_METRICS_SERIES_H
#define ONCEWRAP_METRICS_SERIES_H

#include <stddef.h>
#include <stdint.h>

/* A request's outcome is the broker's verdict, in its order: a unit test holds the two together. */
#define METRICS_OUTCOMES 25
extern const char *const metrics_outcomes[METRICS_OUTCOMES];

/* What the minutes of the last hour tell apart. An error is ours or a handler's, never what a
 * client asked for. */
enum metrics_nature { OUTCOME_IS_PLAIN, OUTCOME_IS_REPLAY, OUTCOME_IS_ERROR };
extern const enum metrics_nature metrics_natures[METRICS_OUTCOMES];

enum metrics_settlement {
	SETTLEMENT_STORED,
	SETTLEMENT_RELEASED,
	SETTLEMENT_UNKNOWN,
	SETTLEMENT_LEASE_LOST,
	SETTLEMENT_SPOOLED,
	SETTLEMENT_BY_HANDLER, /* committed in the handler's own transaction */
};
#define METRICS_SETTLEMENTS 6
extern const char *const metrics_settlements[METRICS_SETTLEMENTS];

enum metrics_op { STORE_OP_CLAIM, STORE_OP_READ, STORE_OP_RENEW, STORE_OP_SETTLE };
#define METRICS_OPS 4
extern const char *const metrics_ops[METRICS_OPS];

enum metrics_reason {
	STORE_ERROR_GONE,
	STORE_ERROR_DEADLOCK,
	STORE_ERROR_LOCK_TIMEOUT, /* never a claim's: there it is the answer "in flight" */
	STORE_ERROR_DENIED,
	STORE_ERROR_FULL,
	STORE_ERROR_OTHER,
};
#define METRICS_REASONS 6
extern const char *const metrics_reasons[METRICS_REASONS];

/* In the order of enum log_level. */
#define METRICS_LEVELS 4
extern const char *const metrics_levels[METRICS_LEVELS];

/* What a worker does. A letter each on the status page. */
enum metrics_worker_state {
	WORKER_IDLE,     /* waits for a request */
	WORKER_READING,  /* takes a request in */
	WORKER_CLAIMING, /* asks the store */
	WORKER_WAITING,  /* for the same request, in flight elsewhere */
	WORKER_RUNNING,  /* a handler at work */
	WORKER_SETTLING, /* writes the answer */
	WORKER_SENDING,  /* the answer */
	WORKER_LEAVING,  /* last request, then ends */
};
#define METRICS_WORKER_STATES 8
extern const char *const metrics_worker_states[METRICS_WORKER_STATES];
extern const char metrics_worker_letters[METRICS_WORKER_STATES + 1];

/* Upper bounds in microseconds, without +Inf, which every histogram has as its last bucket. */
#define METRICS_REQUEST_BUCKETS 13
extern const uint64_t metrics_request_bounds[METRICS_REQUEST_BUCKETS];
#define METRICS_STORE_BUCKETS 10
extern const uint64_t metrics_store_bounds[METRICS_STORE_BUCKETS];

/* Routes that have counters of their own; what is over, or matches no route, is the first one,
 * "other". */
#define METRICS_ROUTES           256
#define METRICS_ROUTE_OTHER      0
#define METRICS_ROUTE_OTHER_NAME "other"
#define METRICS_ROUTE_NAME       64 /* bytes, with the NUL; a longer name is "other" */

/* Workers that are seen at once; one without a slot counts all the same. */
#define METRICS_WORKERS 1024

/* Of the last hour, for each route. */
#define METRICS_MINUTES 60

#endif
