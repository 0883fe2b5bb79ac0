/* SPDX-License-Identifier: ISC */
/* A header field's value that is a word and parameters, as Content-Type and Content-Disposition:
 * `form-data; name="a"` (RFC 9110 5.6.6, RFC 7578 4.2). */
#ifndef ONCEWRAP_IDEM_FIELD_VALUE_H
#define ONCEWRAP_IDEM_FIELD_VALUE_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

struct field_value {
	const char *next, *end; /* what is left to read, borrowed */
	const char *word;       /* "form-data", of any case */
	size_t word_length;
};

/* Read the word; the parameters are then taken one by one. */
void field_value_open(struct field_value *field, const char *value, size_t length);

/* Is the word this one, in any case? */
bool field_value_is(const struct field_value *field, const char *word);

enum field_value_taken {
	FIELD_VALUE_PARAMETER,
	FIELD_VALUE_END,
	FIELD_VALUE_MALFORMED, /* no parameter stands here; or out of memory: text->failed */
};

/*
 * The next parameter: its name, in lower case, replaces *name, its value *text. A value without
 * quotes goes up to a blank or semicolon, whatever is in it (boundaries are sent so that need
 * quotes). In quotes a backslash escapes a quote or a backslash and else stands for itself, as
 * browsers send it in file names.
 */
enum field_value_taken field_value_next(struct field_value *field, struct buffer *name,
					struct buffer *text);

#endif
