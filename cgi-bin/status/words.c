/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/words.h"

#include <inttypes.h>

#include "admin/common/cell.h"
#include "base/clock.h"

#define MILLISECOND 1000
#define SECOND      (1000 * MILLISECOND)

/* Four digits are read at a glance, and more by threes. */
void words_count(struct buffer *out, uint64_t count)
{
	uint64_t unit = 1;
	if (count < 10000) {
		buffer_printf(out, "%" PRIu64, count);
		return;
	}
	while (count / unit >= 1000)
		unit *= 1000;
	buffer_printf(out, "%" PRIu64, count / unit);
	for (unit /= 1000; unit > 0; unit /= 1000)
		buffer_printf(out, " %03" PRIu64, count / unit % 1000);
}

void words_counted(struct buffer *out, uint64_t count, const char *one, const char *several)
{
	words_count(out, count);
	buffer_printf(out, " %s", count == 1 ? one : several);
}

void words_duration(struct buffer *out, int64_t microseconds)
{
	if (microseconds < 0)
		buffer_append_byte(out, '-');
	else if (microseconds < 10 * MILLISECOND)
		buffer_printf(out, "%" PRId64 ".%" PRId64 " ms", microseconds / MILLISECOND,
			      microseconds % MILLISECOND / (MILLISECOND / 10));
	else if (microseconds < SECOND)
		buffer_printf(out, "%" PRId64 " ms", microseconds / MILLISECOND);
	else if (microseconds < 10 * SECOND)
		buffer_printf(out, "%" PRId64 ".%" PRId64 " s", microseconds / SECOND,
			      microseconds % SECOND / (SECOND / 10));
	else if (microseconds < 100 * (int64_t)SECOND)
		buffer_printf(out, "%" PRId64 " s", microseconds / SECOND);
	else
		words_span(out, microseconds / MILLISECOND);
}

void words_span(struct buffer *out, int64_t milliseconds)
{
	static const struct cell_style style = {.utf8 = true};
	struct cell cell = cell_number(CELL_SPAN, milliseconds);
	cell_for_eyes(out, &cell, &style);
}

void words_bytes(struct buffer *out, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	uint64_t tenths = bytes;
	size_t unit = 0;
	if (bytes < 1024) {
		buffer_printf(out, "%" PRIu64 " %s", bytes, units[0]);
		return;
	}
	for (; tenths / 1024 >= 1024; unit++)
		tenths /= 1024;
	tenths = tenths / 1024 * 10 + tenths % 1024 * 10 / 1024;
	buffer_printf(out, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10, units[unit + 1]);
}

/* The stamp's parts, which stand at fixed places. */
void words_time(struct buffer *out, int64_t milliseconds)
{
	char stamp[CLOCK_STAMP_LENGTH];
	clock_format(stamp, milliseconds);
	buffer_printf(out, "%.10s %.8s UTC", stamp, stamp + 11);
}

void words_minute(struct buffer *out, int64_t minute)
{
	char stamp[CLOCK_STAMP_LENGTH];
	clock_format(stamp, minute * 60 * 1000);
	buffer_printf(out, "%.5s", stamp + 11);
}
