/* SPDX-License-Identifier: ISC */
/* All that the status page tells, taken at one moment: this host's workers from their segment, and
 * the database within two seconds. Either may be missing. */
#ifndef ONCEWRAP_STATUS_SNAPSHOT_H
#define ONCEWRAP_STATUS_SNAPSHOT_H

#include "admin/common/connect.h"
#include "admin/common/person.h"
#include "metrics/reading.h"
#include "store/attention.h"
#include "store/gauges.h"

#include <stdbool.h>
#include <stdint.h>

/* How far the database counts. */
#define SNAPSHOT_COUNT_LIMIT 100000

struct snapshot {
	struct connect connect; /* config is in force; the connection is of no use to others */
	char host[PERSON_LENGTH];
	int64_t now_ms; /* since the epoch, by this host's clock */
	bool read;      /* `reading` is there */
	struct reading reading;
	struct error read_error; /* why it is not */
	struct gauges gauges;
	bool listed; /* `attention` is there, all of it */
	struct attention attention;
	struct error store_error; /* of ERROR_NONE: the database told everything */
};

enum snapshot_depth {
	SNAPSHOT_BRIEF, /* what readiness hangs on; counts and lists nothing */
	SNAPSHOT_FULL,
};

/* GO_ON, or the exit status of what was told on standard error: there is no configuration to go by.
 * Freed in any case. */
int snapshot_take(struct snapshot *snapshot, const char *file, enum snapshot_depth depth)
    __attribute__((warn_unused_result));
void snapshot_free(struct snapshot *snapshot);

#endif
