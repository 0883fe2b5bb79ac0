/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Each message is built beside the old one, so that the old one may be among the arguments. */

void error_set(struct error *error, enum error_kind kind, const char *format, ...)
{
	char message[sizeof(error->message)];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	error->kind = kind;
	memcpy(error->message, message, sizeof(message));
}

void error_set_errno(struct error *error, int number, const char *format, ...)
{
	char what[sizeof(error->message)];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	error_set(error, ERROR_SYSTEM, "%s: %s", what, strerror(number));
}

void error_prefix(struct error *error, const char *format, ...)
{
	char prefix[sizeof(error->message)];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(prefix, sizeof(prefix), format, arguments);
	va_end(arguments);
	error_set(error, error->kind, "%s: %s", prefix, error->message);
}
