/* SPDX-License-Identifier: ISC */
/*
 * Reads the configuration: one libconfig file and, after it, each `*.conf` of the directory
 * `conf.d` beside it in name order, whose routes are added at the end; and the presets that routes
 * name. Every message names file and line, the setting, and what would be right; an unknown name is
 * an error with the nearest known one as a suggestion.
 */
#ifndef ONCEWRAP_CONFIG_LOAD_H
#define ONCEWRAP_CONFIG_LOAD_H

#include "config/config.h"
#include "config/print.h"

/* Returns the configuration, owned by the caller, or NULL when there was any problem. *problems
 * gets all that were found, one a line, in the files' order ("" when none); owned by the caller,
 * NULL only when there is no memory even for a message. */
struct config *config_load(const char *path, char **problems);

/* As config_load, of a text that is there already, called `name` in messages; no conf.d. */
struct config *config_parse(const char *name, const char *text, char **problems);

/* Every setting at its default, no routes; for `--handler` without a file, and for tests. NULL when
 * out of memory. */
struct config *config_default(void);

/* Names of settings that differ and that a reload cannot change (listen, user, ...), as "listen,
 * user";
 * "" when none. Owned by the caller, NULL when out of memory. */
char *config_needs_restart(const struct config *old, const struct config *new_one);

void config_free(struct config *config); /* NULL is fine */

#endif
