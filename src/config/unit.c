/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/unit.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	int64_t factor;
	int64_t least; /* a formatted number uses the unit from here on */
};

/* Largest first, as formatting tries them. One day is written 24h, one minute 60s, as people do. */
static const struct unit durations[] = {
    {"d", INT64_C(86400000), INT64_C(2) * 86400000},
    {"h", INT64_C(3600000), INT64_C(3600000)},
    {"m", INT64_C(60000), INT64_C(120000)},
    {"s", INT64_C(1000), 0},
    {"ms", INT64_C(1), 0},
    {0},
};

static const struct unit sizes[] = {
    {"G", INT64_C(1) << 30, INT64_C(1) << 30},
    {"M", INT64_C(1) << 20, INT64_C(1) << 20},
    {"K", INT64_C(1) << 10, INT64_C(1) << 10},
    {"", INT64_C(1), 0},
    {0},
};

static int parse(const struct unit *units, const char *text, int64_t *number)
{
	int64_t value = 0;
	const char *next = text;
	for (; *next >= '0' && *next <= '9'; next++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *next - '0', &value))
			value = INT64_MAX; /* and stays there, whatever follows */
	if (next == text)
		return -1;
	for (; units->name != NULL; units++) {
		if (strcmp(units->name, next) != 0)
			continue;
		if (__builtin_mul_overflow(value, units->factor, &value))
			value = INT64_MAX;
		*number = value;
		return 0;
	}
	return -1;
}

static void format(const struct unit *units, int64_t number, char text[UNIT_TEXT_SIZE])
{
	while (number < units->least || number % units->factor != 0)
		units++;
	snprintf(text, UNIT_TEXT_SIZE, "%" PRId64 "%s", number / units->factor, units->name);
}

int unit_parse_duration(const char *text, int64_t *milliseconds)
{
	return parse(durations, text, milliseconds);
}

int unit_parse_size(const char *text, int64_t *bytes)
{
	return parse(sizes, text, bytes);
}

int unit_parse_mode(const char *text, int64_t *mode)
{
	size_t length = strlen(text);
	if (length < 3 || length > 5 || strspn(text, "01234567") != length)
		return -1;
	*mode = 0;
	for (; *text != '\0'; text++)
		*mode = *mode * 8 + (*text - '0');
	return 0;
}

void unit_format_duration(int64_t milliseconds, char text[UNIT_TEXT_SIZE])
{
	format(durations, milliseconds, text);
}

void unit_format_size(int64_t bytes, char text[UNIT_TEXT_SIZE])
{
	format(sizes, bytes, text);
}

void unit_format_mode(int64_t mode, char text[UNIT_TEXT_SIZE])
{
	snprintf(text, UNIT_TEXT_SIZE, "%04" PRIo64, (uint64_t)mode);
}
