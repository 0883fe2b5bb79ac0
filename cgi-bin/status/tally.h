/* SPDX-License-Identifier: ISC */
/* What a route's counters come to, as the page shows them; and the workers by what they do. */
#ifndef ONCEWRAP_STATUS_TALLY_H
#define ONCEWRAP_STATUS_TALLY_H

#include "metrics/reading.h"

#include <stdbool.h>
#include <stdint.h>

struct tally {
	uint64_t requests, first, replayed, mismatch;
	uint64_t errors; /* refused or ended by a fault of ours, the database's or the handler's */
	unsigned in_flight;   /* at work now */
	int64_t median, slow; /* microseconds: half, and 95 % of the requests, took no longer; -1 */
	struct {
		uint64_t requests, replayed, errors;
		uint64_t most; /* in one minute ... */
		int64_t when;  /* ... which was this one, since the epoch */
	} hour;
};

void tally_route(struct tally *tally, const struct reading_route *route);

/* What has no counters of its own is seldom there; it is shown last, and only then. */
bool tally_shows_other(const struct reading *reading);

struct tally_workers {
	unsigned states[METRICS_WORKER_STATES];
	const struct reading_worker *longest; /* with the request begun first; NULL: none is busy */
};

void tally_workers(struct tally_workers *workers, const struct reading *reading);

#endif
