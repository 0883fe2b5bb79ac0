/* SPDX-License-Identifier: ISC */
/* Patterns of paths and hosts: `*` any bytes, `?` one byte, `[...]` a set, in which `!` first
 * inverts; bytes are bytes, whatever the locale. Sets must be closed: config/grammar.c sees to it.
 */
#ifndef ONCEWRAP_CONFIG_GLOB_H
#define ONCEWRAP_CONFIG_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* The whole text against the whole pattern. Texts are a stranger's, so the time is bounded by the
 * product of the lengths. */
bool glob_matches(const char *pattern, const char *text, size_t length, bool fold_case);

/* Does `outer` match all that `inner` matches? True is certain; a pattern with `*` beside `?`, or
 * with a set that only its neighbours complete, may be contained without being recognised. */
bool glob_contains(const char *outer, const char *inner, bool fold_case);

#endif
