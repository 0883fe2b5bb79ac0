/* SPDX-License-Identifier: ISC */
/* The command line, and the configuration as it says. */
#ifndef ONCEWRAP_WRAP_OPTIONS_H
#define ONCEWRAP_WRAP_OPTIONS_H

#include "config/config.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum options_task {
	TASK_SERVE,
	TASK_CHECK,
	TASK_PRINT_CONFIG,
	TASK_HELP,
	TASK_VERSION,
	TASK_COMPLETION_TABLE, /* for the shell: admin/completion/oncewrap */
};

struct options {
	enum options_task task;
	const char *config;  /* --config; NULL: not given */
	const char *handler; /* --handler; NULL: not given */
	const char *listen;  /* --listen; NULL: not given */
	int64_t workers;     /* --workers; 0: not given */
};

/* 0; or -1, told on standard error. */
int options_parse(struct options *options, int count, char **arguments);

/* The file that is read: --config or the default. */
const char *options_file(const struct options *options);

/* Is there no file, nor need of one? */
bool options_is_fileless(const struct options *options);

/* The configuration, with what the command line says put over it. Without any file, --handler has
 * the defaults, with bodies spooled where temporary files go. As config_load: NULL and *problems
 * (owned by the caller, as in every case). */
struct config *options_load(const struct options *options, char **problems);

/* Log problems that stand one a line, an event each; NULL: out of memory. The text is used up. */
void options_log_problems(const char *event, char *problems);

void options_help(FILE *out);

/* A line an option, tabs between: "option -c --config file". */
void options_completion_table(FILE *out);

#endif
