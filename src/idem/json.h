/* SPDX-License-Identifier: ISC */
/*
 * JSON as RFC 8259 has it and no wider, read within limits and without recursion, so that a
 * stranger can exhaust neither stack nor memory. Numbers are kept as exact decimals
 * (idem/decimal.h), strings by what they say and not by how they are escaped. An object that names
 * a member twice is refused: which one is meant, programs decide differently.
 */
#ifndef ONCEWRAP_IDEM_JSON_H
#define ONCEWRAP_IDEM_JSON_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define JSON_MOST_DEPTH  128       /* arrays and objects in one another */
#define JSON_MOST_VALUES (1 << 20) /* of any kind, in all */
#define JSON_MOST_BYTES  (1 << 30)

enum json_kind {
	JSON_OBJECT,
	JSON_ARRAY,
	JSON_STRING,
	JSON_NUMBER,
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
};

struct json;

/* NULL with *why, which says where and shows none of the bytes: ERROR_INPUT when `text` is no JSON,
 * ERROR_LIMIT when it is beyond the limits, ERROR_MEMORY. `text` is not needed afterwards. */
struct json *json_parse(const void *text, size_t length, struct error *why);
void json_free(struct json *json); /* NULL is fine */

struct json_value {
	enum json_kind kind;
	const char
	    *text; /* of a string (UTF-8, may hold NUL) or number, else ""; owned by the json */
	size_t length;
};

/* The value that a JSON Pointer (RFC 6901) names; false when there is none, or it is no pointer. */
bool json_find(const struct json *json, const char *pointer, struct json_value *value);

/*
 * Append the one text that stands for all that say the same: members sorted by the bytes of their
 * names, no blanks, the order of arrays kept, numbers as idem/decimal.h spells them, in strings
 * only the quote, the backslash and control bytes escaped. -1 when out of memory.
 */
int json_canonical(const struct json *json, struct buffer *out);

#endif
