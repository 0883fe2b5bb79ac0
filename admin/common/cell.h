/* SPDX-License-Identifier: ISC */
/*
 * One value of a row, and how it reads: for eyes (short, in units, harmless to a terminal), as a
 * field of a data file (exact, in the base unit), and as JSON.
 */
#ifndef ONCEWRAP_ADMIN_CELL_H
#define ONCEWRAP_ADMIN_CELL_H

#include "base/buffer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cell_kind {
	CELL_NOTHING, /* not known, does not apply */
	CELL_HASH,    /* bytes, as hex: for eyes the first 12 digits */
	CELL_TEXT,    /* bytes that somebody sent */
	CELL_NUMBER,
	CELL_FLAG,
	CELL_SIZE, /* bytes */
	CELL_SPAN, /* milliseconds, also below 0; whole seconds in data */
	CELL_TIME, /* milliseconds since the epoch */
};

/* How it strikes the eye, where colours do. */
enum cell_tone { CELL_PLAIN, CELL_NOTICE, CELL_ALARM };

struct cell {
	enum cell_kind kind;
	enum cell_tone tone;
	const void *bytes; /* CELL_HASH, CELL_TEXT; borrowed */
	size_t length;
	int64_t number; /* the others */
	bool cut;       /* CELL_TEXT: the rest is not shown */
};

struct cell cell_hash(const void *bytes, size_t length);
struct cell cell_bytes(const void *bytes, size_t length);
struct cell cell_text(const char *text);
struct cell cell_number(enum cell_kind kind, int64_t number);

/* Show no more of a text than its first `most` characters. */
void cell_cut(struct cell *cell, size_t most);

struct cell_style {
	bool full;       /* hashes at full length also for eyes */
	bool local_time; /* times in the zone of the host, not in UTC */
	bool utf8;       /* the terminal shows characters beyond ASCII */
};

void cell_for_eyes(struct buffer *out, const struct cell *cell, const struct cell_style *style);

/* Always UTF-8: a file reads the same wherever it was made. Nothing is the empty field. */
void cell_for_data(struct buffer *out, const struct cell *cell, const struct cell_style *style);

/* A new reference, NULL when out of memory. Text that is no UTF-8 becomes {"hex": "..."}. */
json_t *cell_json(const struct cell *cell, const struct cell_style *style);

#endif
