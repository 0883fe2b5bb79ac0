/* SPDX-License-Identifier: ISC */
/*
 * A task that one process at a time does in a database, and what became of it: its row of
 * once_maintenance. Who moves held_until forward by a conditional UPDATE holds it, and keeps it by
 * moving it on; one who has died loses it by the database's clock. No lock of a session (GET_LOCK),
 * which another node of a cluster would not see.
 */
#ifndef ONCEWRAP_STORE_MAINTENANCE_H
#define ONCEWRAP_STORE_MAINTENANCE_H

#include "store/audit.h"
#include "store/connection.h"

#include <stdbool.h>
#include <stdint.h>

#define MAINTENANCE_PURGE "purge"

#define MAINTENANCE_HOLDER_LENGTH 256 /* with its NUL */

enum maintenance_result {
	MAINTENANCE_HELD,
	MAINTENANCE_BUSY,    /* another one's: *error says whose, and until when */
	MAINTENANCE_MISSING, /* its row is not there: *error says what to do */
	MAINTENANCE_FAILED,
};

/* What became of records in a run so far. */
struct maintenance_counts {
	uint64_t deleted, tombstoned;
	uint64_t expired; /* of both: keys whose retention was over; a tombstone's end is not
			     counted again */
};

/* The task as its holder has it. */
struct maintenance {
	struct connection *connection;
	const char *task;
	char holder[MAINTENANCE_HOLDER_LENGTH]; /* "alice@db1, process 4711, 0f3a..." */
	int64_t renewed;                        /* clock_now when it was last held for sure */
	struct maintenance_counts noted;        /* in the row already */
};

/* `who` is told to others that want it. */
enum maintenance_result maintenance_take(struct maintenance *maintenance,
					 struct connection *connection, const char *task,
					 const char *who, struct error *error);

/* Keep it, where it is time to, and note the counts of this run so far. MAINTENANCE_BUSY: it was
 * lost. */
enum maintenance_result maintenance_keep(struct maintenance *maintenance,
					 const struct maintenance_counts *counts,
					 struct error *error);

/* Give it back, with the time and the counts; and a row of once_audit by `author` (NULL: nothing
 * was changed that it should tell of) in the same transaction. `succeeded`: the database did not
 * refuse. 0, or -1 with *error. */
int maintenance_end(struct maintenance *maintenance, const struct maintenance_counts *counts,
		    bool succeeded, const struct audit_author *author, struct error *error);

#endif
