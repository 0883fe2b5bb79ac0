/* SPDX-License-Identifier: ISC */
/* A run of the purge: batch after batch with pauses between, held against others that would do the
 * same, until nothing is left or something ends it. */
#ifndef ONCEWRAP_ADMIN_EXPIRE_EXPIRY_H
#define ONCEWRAP_ADMIN_EXPIRE_EXPIRY_H

#include "admin/common/connect.h"
#include "admin/common/progress.h"
#include "admin/expire/brake.h"
#include "store/audit.h"
#include "store/maintenance.h"
#include "store/purge.h"

#include <stdint.h>

enum expiry_ending {
	EXPIRY_GOES_ON,
	EXPIRY_DONE,     /* nothing is left */
	EXPIRY_MAX_ROWS, /* so many records were changed */
	EXPIRY_RUN_TIME, /* its time is over */
	EXPIRY_LAG,      /* a replica stayed behind */
	EXPIRY_FLOW,     /* flow control stopped writers for too long */
	EXPIRY_SIGNAL,   /* a person, or the system that stops */
	EXPIRY_TAKEN,    /* it was silent for so long that another one took the task */
	EXPIRY_FAILED,   /* *error */
	EXPIRY_BLIND,    /* *error: what it should wait for cannot be seen any more */
};

struct expiry {
	struct connect *connect;
	struct purge purge;
	struct maintenance maintenance;
	struct brake *brake;
	struct progress *progress;
	int64_t sleep;    /* ms between batches */
	int64_t run_time; /* ms; 0: no end */
	/* what came of it */
	int64_t began, ended; /* clock_now */
	int64_t paused;       /* ms spent in pauses */
	enum expiry_ending ending;
	struct error error;
};

/* For machines: "done", "max-rows" and so on; for people; and the exit status. */
const char *expiry_ending_name(enum expiry_ending ending);
const char *expiry_ending_reason(enum expiry_ending ending);
int expiry_ending_status(enum expiry_ending ending);

/* From here on SIGINT, SIGTERM and SIGHUP end a run between two batches; a second one ends the
 * program. */
void expiry_heed_signals(void);

/* Purge, until expiry->ending says why no more. The task is the caller's to take and to give back.
 * In a dry run nobody is kept off and nothing is waited for. */
void expiry_run(struct expiry *expiry);

/* What it has done so far, as the task's row counts it. */
struct maintenance_counts expiry_counts(const struct expiry *expiry);

#endif
