/* SPDX-License-Identifier: ISC */
/* The values for a statement's placeholders, given in the order of the placeholders. */
#ifndef ONCEWRAP_STORE_PARAMETERS_H
#define ONCEWRAP_STORE_PARAMETERS_H

#include <mysql.h>
#include <stddef.h>
#include <stdint.h>

#define PARAMETERS_MOST 24

struct parameters {
	unsigned count;
	size_t size; /* bytes of data, all together */
	MYSQL_BIND binds[PARAMETERS_MOST];
	int64_t numbers[PARAMETERS_MOST];
};

void parameters_init(struct parameters *parameters);

/* Bytes as they stand, no character set: hashes, tokens, keys, bodies. Borrowed until the statement
 * has ended. */
void parameters_add_bytes(struct parameters *parameters, const void *data, size_t length);
/* The same, or NULL for no data at all. */
void parameters_add_optional(struct parameters *parameters, const void *data, size_t length);
void parameters_add_text(struct parameters *parameters, const char *text);
void parameters_add_number(struct parameters *parameters, int64_t value);
void parameters_add_unsigned(struct parameters *parameters, uint64_t value);
/* A span of time given in milliseconds, for `INTERVAL ? MICROSECOND`. */
void parameters_add_span(struct parameters *parameters, int64_t milliseconds);
/* The same, or NULL for a span that leads beyond what a DATETIME can hold. */
void parameters_add_window(struct parameters *parameters, int64_t milliseconds);

#endif
