/* SPDX-License-Identifier: ISC */
/* The audit trail: who changed what, when and why. A row is written in the transaction of the
 * change that it tells of, so that there is never one without the other. */
#ifndef ONCEWRAP_STORE_AUDIT_H
#define ONCEWRAP_STORE_AUDIT_H

#include "store/connection.h"
#include "store/record.h"

#include <stdbool.h>
#include <stdint.h>

/* The longest text that once_audit.reason holds, in bytes. */
#define AUDIT_REASON_LENGTH 1024

/* Who changes something, and why. */
struct audit_author {
	const char *who; /* login and sudo user */
	const char *host;
	const char *program; /* "once-release" */
	const char *reason;  /* "": none given */
};

struct audit_entry {
	const unsigned char *record; /* DIGEST_LENGTH */
	const unsigned char *token;  /* TOKEN_LENGTH, before the change; NULL: none */
	enum record_state before;
	enum record_state after;
	bool deleted; /* no state after it */
};

/* Write it. *number is what finds it again. 0, or -1 with *error. */
int audit_write(struct connection *connection, const struct audit_entry *entry,
		const struct audit_author *author, uint64_t *number, int64_t deadline,
		struct error *error) __attribute__((warn_unused_result));

/* Does the trail have that number, for that record and token? 1, 0, or -1 with *error. */
int audit_has(struct connection *connection, const struct audit_entry *entry, uint64_t number,
	      int64_t deadline, struct error *error) __attribute__((warn_unused_result));

#endif
