/* SPDX-License-Identifier: ISC */
/*
 * A body being spooled: a request's on its way in, or an answer's on its way out. Kept in memory up
 * to a limit, in an unlinked file beyond; counted, and hashed as it passes when asked. Hides where
 * the bytes are.
 */
#ifndef ONCEWRAP_BASE_BODY_H
#define ONCEWRAP_BASE_BODY_H

#include "base/digest.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct body;

struct body_limits {
	size_t memory;         /* bytes kept in memory before a file is made */
	uint64_t total;        /* most bytes accepted; 0: no limit */
	const char *directory; /* where the unlinked file is made; borrowed */
};

enum body_result {
	BODY_OK,
	BODY_TOO_LARGE, /* over limits.total; what came before is still there */
	BODY_FAILED,    /* disk full or the like; *error says */
};

/* An empty body; NULL when out of memory. With `hashed`, body_digest works. */
struct body *body_new(const struct body_limits *limits, bool hashed);

enum body_result body_append(struct body *body, const void *data, size_t length,
			     struct error *error) __attribute__((warn_unused_result));

uint64_t body_length(const struct body *body);

/* SHA-256 of all bytes so far. Only for a body made with `hashed`; may be called once. */
void body_digest(struct body *body, unsigned char out[DIGEST_LENGTH]);

/* A descriptor that reads the bytes from the start (a file, a memfd, or /dev/null when empty),
 * close on exec, owned by the body; for a child's standard input. -1 with *error. */
int body_descriptor(struct body *body, struct error *error);

/* All bytes in one piece, valid until the next append or free (memory or a private mapping). "" and
 * 0 when empty. 0, or -1 with *error. */
int body_view(struct body *body, const unsigned char **data, size_t *length, struct error *error);

void body_free(struct body *body); /* NULL is fine */

#endif
