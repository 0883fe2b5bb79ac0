/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "admin/common/harmless.h"
#include "base/encode.h"

/* 48 bits: enough to name a record among millions, and it leaves room for the key. */
enum { HASH_FOR_EYES = 6 };

enum { SECOND = 1000, MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR };

struct cell cell_hash(const void *bytes, size_t length)
{
	return (struct cell){.kind = CELL_HASH, .bytes = bytes, .length = length};
}

struct cell cell_bytes(const void *bytes, size_t length)
{
	return (struct cell){.kind = CELL_TEXT, .bytes = bytes, .length = length};
}

struct cell cell_text(const char *text)
{
	return cell_bytes(text, strlen(text));
}

struct cell cell_number(enum cell_kind kind, int64_t number)
{
	return (struct cell){.kind = kind, .number = number};
}

void cell_cut(struct cell *cell, size_t most)
{
	size_t length = harmless_prefix(cell->bytes, cell->length, most);
	cell->cut = length < cell->length;
	cell->length = length;
}

static void append_text(struct buffer *out, const struct cell *cell, bool utf8)
{
	harmless_append(out, cell->bytes, cell->length, utf8);
	if (cell->cut)
		buffer_append_text(out, utf8 ? "\xe2\x80\xa6" : "...");
}

static void append_hex(struct buffer *out, const unsigned char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		buffer_printf(out, "%02x", bytes[i]);
}

/* Rounded down, so that a time before the epoch has a fraction that counts upwards too. */
static int64_t whole_seconds(int64_t milliseconds)
{
	return milliseconds / SECOND - (milliseconds % SECOND < 0 ? 1 : 0);
}

/* Two units at most: what matters about an age is its size. */
static void append_span(struct buffer *out, int64_t milliseconds)
{
	static const struct {
		int64_t least;
		char large;
		int64_t unit;
		char small;
	} forms[] = {{DAY, 'd', HOUR, 'h'}, {HOUR, 'h', MINUTE, 'm'}, {MINUTE, 'm', 1, 's'}};
	int64_t seconds = milliseconds / SECOND;
	if (seconds < 0)
		buffer_append_byte(out, '-');
	seconds = llabs(seconds);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (seconds >= forms[i].least) {
			buffer_printf(out, "%" PRId64 "%c%02" PRId64 "%c", seconds / forms[i].least,
				      forms[i].large, seconds % forms[i].least / forms[i].unit,
				      forms[i].small);
			return;
		}
	buffer_printf(out, "%" PRId64 "s", seconds);
}

static void append_size(struct buffer *out, int64_t bytes)
{
	static const char units[] = "KMGTPE";
	if (bytes < 1024) {
		buffer_printf(out, "%" PRId64, bytes);
		return;
	}
	int64_t tenths = bytes * 10 / 1024;
	const char *unit = units;
	for (; tenths >= 10240; unit++)
		tenths /= 1024;
	buffer_printf(out, "%" PRId64 ".%" PRId64 "%c", tenths / 10, tenths % 10, *unit);
}

/* RFC 3339; `milliseconds` of it only where asked for. */
static void append_time(struct buffer *out, int64_t milliseconds, bool local, bool exact)
{
	time_t seconds = (time_t)whole_seconds(milliseconds);
	struct tm parts;
	if (local)
		localtime_r(&seconds, &parts);
	else
		gmtime_r(&seconds, &parts);
	char text[64];
	size_t length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
	buffer_append(out, text, length);
	if (exact)
		buffer_printf(out, ".%03" PRId64,
			      milliseconds - whole_seconds(milliseconds) * SECOND);
	if (!local) {
		buffer_append_byte(out, 'Z');
		return;
	}
	long offset = parts.tm_gmtoff / 60;
	buffer_printf(out, "%c%02ld:%02ld", offset < 0 ? '-' : '+', labs(offset) / 60,
		      labs(offset) % 60);
}

void cell_for_eyes(struct buffer *out, const struct cell *cell, const struct cell_style *style)
{
	switch (cell->kind) {
	case CELL_NOTHING:
		buffer_append_byte(out, '-');
		break;
	case CELL_HASH:
		append_hex(out, cell->bytes,
			   style->full || cell->length < HASH_FOR_EYES ? cell->length
								       : HASH_FOR_EYES);
		break;
	case CELL_TEXT:
		append_text(out, cell, style->utf8);
		break;
	case CELL_NUMBER:
		buffer_printf(out, "%" PRId64, cell->number);
		break;
	case CELL_FLAG:
		buffer_append_text(out, cell->number != 0 ? "yes" : "no");
		break;
	case CELL_SIZE:
		append_size(out, cell->number);
		break;
	case CELL_SPAN:
		append_span(out, cell->number);
		break;
	case CELL_TIME:
		append_time(out, cell->number, style->local_time, false);
		break;
	}
}

void cell_for_data(struct buffer *out, const struct cell *cell, const struct cell_style *style)
{
	switch (cell->kind) {
	case CELL_NOTHING:
		break;
	case CELL_HASH:
		append_hex(out, cell->bytes, cell->length);
		break;
	case CELL_TEXT:
		append_text(out, cell, true);
		break;
	case CELL_NUMBER:
	case CELL_SIZE:
		buffer_printf(out, "%" PRId64, cell->number);
		break;
	case CELL_FLAG:
		buffer_append_text(out, cell->number != 0 ? "true" : "false");
		break;
	case CELL_SPAN:
		buffer_printf(out, "%" PRId64, cell->number / SECOND);
		break;
	case CELL_TIME:
		append_time(out, cell->number, style->local_time, true);
		break;
	}
}

/* What cell_for_data writes, as a string. */
static json_t *json_data(const struct cell *cell, const struct cell_style *style)
{
	struct buffer text = {0};
	cell_for_data(&text, cell, style);
	json_t *value = text.failed ? NULL : json_string(buffer_text(&text));
	buffer_free(&text);
	return value;
}

static json_t *json_text(const struct cell *cell, const struct cell_style *style)
{
	if (harmless_is_utf8(cell->bytes, cell->length))
		return json_stringn(cell->length > 0 ? cell->bytes : "", cell->length);
	struct cell hash = cell_hash(cell->bytes, cell->length);
	return json_pack("{s:o}", "hex", json_data(&hash, style));
}

json_t *cell_json(const struct cell *cell, const struct cell_style *style)
{
	switch (cell->kind) {
	case CELL_NOTHING:
		return json_null();
	case CELL_TEXT:
		return json_text(cell, style);
	case CELL_NUMBER:
	case CELL_SIZE:
		return json_integer(cell->number);
	case CELL_FLAG:
		return json_boolean(cell->number != 0);
	case CELL_SPAN:
		return json_integer(cell->number / SECOND);
	case CELL_HASH:
	case CELL_TIME:
		break;
	}
	return json_data(cell, style);
}
