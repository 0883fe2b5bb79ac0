/* SPDX-License-Identifier: ISC */
/*
 * How the segment lies in its file. Every value is one atomic word that is right by itself: whoever
 * counts may be killed between any two instructions, and nothing is left locked or half done.
 *
 * The file's name ends in the layout's hash, so that two builds share a segment only where they
 * agree about all of this.
 */
#ifndef ONCEWRAP_METRICS_LAYOUT_H
#define ONCEWRAP_METRICS_LAYOUT_H

#include "metrics/series.h"

#include <stdatomic.h>
#include <stdint.h>

#define LAYOUT_MAGIC     "oncemetr"
#define LAYOUT_FILE_NAME sizeof("metrics.01234567")

/* Lock-free, or else two processes do not share it at all. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "the segment needs 64-bit atomic operations");
typedef _Atomic uint64_t counter;

struct segment_header {
	char magic[8];
	uint64_t layout;
	int64_t created_ms; /* since the epoch */
};

struct segment_histogram {
	counter sum; /* microseconds */
	counter buckets[METRICS_REQUEST_BUCKETS + 1];
};

/* Each word holds its own minute (layout_minute): what is of another one counts as 0. */
struct segment_minute {
	counter requests, replayed, errors;
};

struct segment_route {
	/* Of the name, 0: free. It claims the place; whoever finds it there writes the name anew,
	 * in case that its first claimant died before he had. */
	counter digest;
	counter name[METRICS_ROUTE_NAME / sizeof(uint64_t)];
	counter requests[METRICS_OUTCOMES];
	counter observed[METRICS_OUTCOMES];
	counter settlements[METRICS_SETTLEMENTS];
	counter takeovers, reclaims, conflicts;
	struct segment_histogram request, handler;
	struct segment_minute minutes[METRICS_MINUTES];
};

/* A worker's place on the scoreboard; its owner alone writes it. A cache line each. */
struct segment_worker {
	_Alignas(64) counter owner; /* layout_owner; 0: free */
	counter doing;              /* layout_doing */
	counter since_ms;           /* the epoch; of its request, 0: none */
	counter served;
};

struct segment {
	struct segment_header header;
	struct segment_route routes[METRICS_ROUTES]; /* without a gap */
	struct segment_worker workers[METRICS_WORKERS];
	struct segment_histogram store[METRICS_OPS];
	counter store_errors[METRICS_REASONS];
	counter renewals, replay_bytes;
	counter log_messages[METRICS_LEVELS];
	counter spool_entries, spool_oldest_ms, spool_set_aside;
};

/* Of this build, and the file's name by it. */
uint64_t layout_hash(void);
void layout_file_name(char name[LAYOUT_FILE_NAME]);

/* Never 0. */
uint64_t layout_digest(const char *name);

/* Packed into one word, so that no reader sees the one half of a change. */

#define LAYOUT_MINUTE_COUNT_BITS 32

static inline uint64_t layout_minute(int64_t minute, uint64_t count)
{
	return (uint64_t)minute << LAYOUT_MINUTE_COUNT_BITS | count;
}

static inline uint64_t layout_minute_count(uint64_t word, int64_t minute)
{
	return word >> LAYOUT_MINUTE_COUNT_BITS == (uint64_t)minute ? (uint32_t)word : 0;
}

/* PID_MAX_LIMIT is 2^22; the rest lasts for a thousand years of clock ticks. */
#define LAYOUT_PID_BITS 22

static inline uint64_t layout_owner(int64_t pid, uint64_t start)
{
	return start << LAYOUT_PID_BITS | (uint64_t)pid;
}

static inline int64_t layout_owner_pid(uint64_t owner)
{
	return (int64_t)(owner & ((UINT64_C(1) << LAYOUT_PID_BITS) - 1));
}

static inline uint64_t layout_owner_start(uint64_t owner)
{
	return owner >> LAYOUT_PID_BITS;
}

struct layout_doing {
	uint32_t route;
	uint16_t state;
	uint16_t busy;
};

static inline uint64_t layout_doing(struct layout_doing doing)
{
	return (uint64_t)doing.route << 32 | (uint64_t)doing.state << 16 | doing.busy;
}

static inline struct layout_doing layout_doing_of(uint64_t word)
{
	return (struct layout_doing){.route = (uint32_t)(word >> 32),
				     .state = (uint16_t)(word >> 16),
				     .busy = (uint16_t)word};
}

#endif
