/* SPDX-License-Identifier: ISC */
/*
 * The schema's migrations: those compiled in from sql/, those applied according to once_schema, and
 * bringing the database up to date. Forward only; each statement is guarded, so that what is there
 * stays. A mark is set before a migration and cleared after it, because DDL commits by itself; two
 * at once are kept apart by GET_LOCK.
 */
#ifndef ONCEWRAP_STORE_SCHEMA_H
#define ONCEWRAP_STORE_SCHEMA_H

#include "base/buffer.h"
#include "base/digest.h"
#include "store/connection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file of sql/ as it was when this was built. Version 0 makes once_schema itself and is never
 * recorded. */
struct migration {
	unsigned version;
	const char *file;
	const char *text;
};
extern const struct migration migrations[];
extern const size_t migration_count;

enum schema_status {
	SCHEMA_APPLIED,
	SCHEMA_PENDING,
	SCHEMA_DIRTY,   /* begun and not ended */
	SCHEMA_CHANGED, /* applied from a file that differs from ours */
	SCHEMA_NEWER,   /* not known to this build */
};

struct schema_entry {
	unsigned version;
	char file[256];
	unsigned char
	    checksum[DIGEST_LENGTH]; /* of the file as applied; as it is here while pending */
	enum schema_status status;
	int64_t applied_ms; /* since the epoch, by the database's clock; 0 while pending */
	char applied_by[256];
};

struct schema {
	struct schema_entry *entries; /* owned, by version */
	size_t count;
};

/* "applied", "pending" and so on. */
const char *schema_status_name(enum schema_status status);

/* The worst of its entries: dirty, changed or newer before pending before applied. */
enum schema_status schema_overall(const struct schema *schema);

/* What has been applied and what has not. 0, or -1 with *error. Nothing is written. */
int schema_read(struct connection *connection, struct schema *schema, int64_t deadline,
		struct error *error);
void schema_free(struct schema *schema);

enum schema_result {
	SCHEMA_DONE,    /* all applied, by us or before */
	SCHEMA_LOCKED,  /* another one is at it, and was not done in time */
	SCHEMA_REFUSED, /* dirty, changed, or newer than this build: for a person to look at */
	SCHEMA_FAILED,
};

/* Apply what is pending; `applied` is told each entry once it is in. `who` is recorded. Waits for
 * another one that is at it for `lock_wait` seconds. */
enum schema_result schema_up(struct connection *connection, const char *who, unsigned lock_wait,
			     void (*applied)(void *context, const struct migration *migration),
			     void *context, struct error *error);

/* What schema_up would do, as SQL for the mariadb client: pending migrations with their marks;
 * empty when there is none. `who` is recorded. */
void schema_plan(const struct schema *schema, const char *who, struct buffer *out);

/* Record a migration as applied, as this build has it, without running it: for one whose tables a
 * person has seen to be right. The rest as schema_up. */
enum schema_result schema_mark(struct connection *connection, unsigned version, const char *who,
			       unsigned lock_wait, struct error *error);

#endif
