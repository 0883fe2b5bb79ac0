/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/parameters.h"

#include <assert.h>
#include <string.h>

/* Years from now that are still before the year 9999, for a long time. */
#define WINDOW_MOST (INT64_C(7000) * 365 * 24 * 3600 * 1000)

/* The arrays are left as they are: a bind is cleared when it is added. */
void parameters_init(struct parameters *parameters)
{
	parameters->count = 0;
	parameters->size = 0;
}

static MYSQL_BIND *add(struct parameters *parameters, enum enum_field_types type)
{
	assert(parameters->count < PARAMETERS_MOST);
	MYSQL_BIND *bind = &parameters->binds[parameters->count++];
	*bind = (MYSQL_BIND){.buffer_type = type};
	return bind;
}

void parameters_add_bytes(struct parameters *parameters, const void *data, size_t length)
{
	MYSQL_BIND *bind = add(parameters, MYSQL_TYPE_BLOB);
	/* Connector/C only reads what a parameter points to. */
	bind->buffer = length > 0 ? (void *)(uintptr_t)data : (void *)(uintptr_t) "";
	bind->buffer_length = length;
	parameters->size += length;
}

static void add_null(struct parameters *parameters)
{
	add(parameters, MYSQL_TYPE_NULL);
}

void parameters_add_optional(struct parameters *parameters, const void *data, size_t length)
{
	if (data != NULL)
		parameters_add_bytes(parameters, data, length);
	else
		add_null(parameters);
}

void parameters_add_text(struct parameters *parameters, const char *text)
{
	parameters_add_bytes(parameters, text, strlen(text));
}

void parameters_add_number(struct parameters *parameters, int64_t value)
{
	MYSQL_BIND *bind = add(parameters, MYSQL_TYPE_LONGLONG);
	int64_t *place = &parameters->numbers[parameters->count - 1];
	*place = value;
	bind->buffer = place;
}

void parameters_add_unsigned(struct parameters *parameters, uint64_t value)
{
	parameters_add_number(parameters, (int64_t)value);
	parameters->binds[parameters->count - 1].is_unsigned = 1;
}

void parameters_add_span(struct parameters *parameters, int64_t milliseconds)
{
	int64_t microseconds;
	if (__builtin_mul_overflow(milliseconds, 1000, &microseconds))
		microseconds = INT64_MAX;
	parameters_add_number(parameters, microseconds);
}

void parameters_add_window(struct parameters *parameters, int64_t milliseconds)
{
	if (milliseconds <= WINDOW_MOST)
		parameters_add_span(parameters, milliseconds);
	else
		add_null(parameters);
}
