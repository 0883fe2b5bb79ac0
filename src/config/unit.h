/* SPDX-License-Identifier: ISC */
/* Numbers as people write them in the configuration: "30s", "16M", "0660". */
#ifndef ONCEWRAP_CONFIG_UNIT_H
#define ONCEWRAP_CONFIG_UNIT_H

#include <stdint.h>

/* Holds any number in any of the forms below. */
#define UNIT_TEXT_SIZE 32

/* Each takes digits and a unit, nothing else, and gives 0, or -1 when `text` is anything else. What
 * is too large for the type becomes INT64_MAX, for a bound to refuse. */
int unit_parse_duration(const char *text,
			int64_t *milliseconds);        /* ms, s, m, h, d; never without */
int unit_parse_size(const char *text, int64_t *bytes); /* K, M, G (1024-based), or none */
int unit_parse_mode(const char *text, int64_t *mode);  /* octal digits */

/* The shortest text that is parsed to the same number. */
void unit_format_duration(int64_t milliseconds, char text[UNIT_TEXT_SIZE]);
void unit_format_size(int64_t bytes, char text[UNIT_TEXT_SIZE]);
void unit_format_mode(int64_t mode, char text[UNIT_TEXT_SIZE]);

#endif
