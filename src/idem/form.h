/* SPDX-License-Identifier: ISC */
/* A body of application/x-www-form-urlencoded, decoded as the URL Standard (section 5.1) has it,
 * but for escapes that are none: those are refused and not kept as they stand. */
#ifndef ONCEWRAP_IDEM_FORM_H
#define ONCEWRAP_IDEM_FORM_H

#include "base/buffer.h"
#include "base/error.h"

#include <stddef.h>

#define FORM_MOST_PAIRS 16384

struct form_pair {
	const char *name, *value; /* owned by the form; may hold NUL bytes */
	size_t name_length, value_length;
};

struct form {
	struct form_pair *pairs; /* sorted by name; those of one name as they came */
	size_t count;
	char *text; /* private */
};

/* 0; or -1 with *why, which shows none of the bytes: ERROR_INPUT for a bad escape, ERROR_LIMIT,
 * ERROR_MEMORY. *form need not be freed then. */
int form_parse(struct form *form, const void *body, size_t length, struct error *why);
void form_free(struct form *form);

/* Append the one text that stands for all that say the same: pairs by name, those of one name in
 * their order, everything but unreserved characters (RFC 3986 2.3) as %XX. -1 when out of memory.
 */
int form_canonical(const struct form *form, struct buffer *out);

#endif
