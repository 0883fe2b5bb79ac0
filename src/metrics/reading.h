/* SPDX-License-Identifier: ISC */
/*
 * The segment as a reader has it: once-metrics and the status page. A copy, taken value by value
 * beside those who count: no sum in it ever runs backwards from one reading to the next, and a
 * histogram's buckets, count and sum are made to agree.
 */
#ifndef ONCEWRAP_METRICS_READING_H
#define ONCEWRAP_METRICS_READING_H

#include "base/error.h"
#include "metrics/series.h"

#include <stdbool.h>
#include <sys/types.h>

struct reading_histogram {
	/* Each bucket alone, not the sum of those below; the last one is +Inf. */
	uint64_t buckets[METRICS_REQUEST_BUCKETS + 1];
	uint64_t count, sum; /* of all buckets; of microseconds */
};

struct reading_minute {
	int64_t minute; /* since the epoch */
	uint64_t requests, replayed, errors;
};

struct reading_route {
	char name[METRICS_ROUTE_NAME];
	uint64_t requests[METRICS_OUTCOMES];
	uint64_t observed[METRICS_OUTCOMES];
	uint64_t settlements[METRICS_SETTLEMENTS];
	uint64_t takeovers, reclaims, conflicts;
	struct reading_histogram request, handler;
	struct reading_minute minutes[METRICS_MINUTES]; /* oldest first, the last one is now */
	unsigned in_flight;                             /* workers busy with it */
};

struct reading_worker {
	pid_t pid;
	enum metrics_worker_state state;
	unsigned route;    /* into struct reading's routes */
	bool busy;         /* with a request */
	int64_t since_ms;  /* of the request, since the epoch; 0: none */
	uint64_t served;   /* requests */
	uint64_t resident; /* bytes of memory; 0: not known */
};

struct reading {
	struct reading_route *routes; /* [0] is "other" */
	size_t route_count;
	struct reading_worker *workers; /* alive ones only */
	size_t worker_count;
	struct reading_histogram store[METRICS_OPS];
	uint64_t store_errors[METRICS_REASONS];
	uint64_t renewals, replay_bytes;
	uint64_t log_messages[METRICS_LEVELS];
	uint64_t spool_entries, spool_set_aside;
	int64_t spool_oldest_ms;
	int64_t created_ms; /* the segment's, since the epoch: when its counters were 0 */
};

/* Read the segment of `directory`. 0, or -1 with *error (ERROR_SYSTEM where there is none, which
 * is so until a wrapper of this build has run). Freed in any case. */
int reading_take(struct reading *reading, const char *directory, struct error *error)
    __attribute__((warn_unused_result));
void reading_free(struct reading *reading);

/* The quantile 0 < q < 1 in microseconds, interpolated within its bucket as Prometheus does; -1
 * where nothing was counted. */
int64_t reading_quantile(const struct reading_histogram *histogram, const uint64_t *bounds,
			 size_t bound_count, double q);

#endif
