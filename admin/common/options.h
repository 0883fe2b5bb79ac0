/* SPDX-License-Identifier: ISC */
/*
 * The command line of an admin program. What a program takes stands in const tables, one for each
 * room that has options (its own, output, connect); the parser, --help and the completion of the
 * shell walk them, and a test holds the manual page against them.
 */
#ifndef ONCEWRAP_ADMIN_OPTIONS_H
#define ONCEWRAP_ADMIN_OPTIONS_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_entry {
	char letter; /* '\0': only the long name */
	const char *name;
	const char *argument; /* as --help calls it; NULL: takes none */
	const char *help;
	/* Note it in the group's target; `argument` is NULL where there is none. 0, or -1 with
	 * *error. */
	int (*take)(void *target, const char *argument, struct error *error);
	/* For the completion: options_offer all that the argument may be; NULL: anything. */
	void (*offer)(const void *target, struct buffer *names);
	bool several; /* of these, with commas between them */
	bool file;    /* the argument names a file */
};

struct option_group {
	const struct option_entry *entries;
	size_t count;
	void *target;
};

#define OPTION_GROUP(table, aim)                                                                   \
	{                                                                                          \
		.entries = (table), .count = sizeof(table) / sizeof((table)[0]), .target = (aim)   \
	}

struct program {
	const char *name;
	const char
	    *arguments; /* behind the options in the first line of --help: "status|up"; "" : none */
	const char *summary; /* one sentence or a few lines */
	const char *see;     /* its manual page: "once-list(8)" */
	const struct option_group *groups;
	size_t group_count;
	bool records; /* its operands are ids of records */
	/* options_offer what its first operand may be; NULL: there is no such set */
	void (*offer)(struct buffer *names);
};

/* Before anything else in main: descriptors 0 to 2 made real, SIGPIPE ignored (a write tells),
 * LC_CTYPE set, so that a terminal's width is known, and no other part of the locale. */
void options_begin(void);

/*
 * Parse. GO_ON: the operands are argv[*first] to the end. Else the exit status to end with: --help
 * and --version are done, or a mistake was told. --completion-table, alone, is for the completion
 * of the shell (admin/completion/oncewrap): it prints the tables, a line each, tabs between:
 *
 *	option -o --output one table wide json csv id lines
 *	operand record
 *
 * where -o is - for an option without a letter, "one" may also be "several", "file", "text" or
 * "none", and "record" "one" and names.
 */
int options_parse(const struct program *program, int argc, char **argv, int *first);

/* Tell "NAME: message" and how to get help; EX_USAGE. */
int options_refuse(const struct program *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Add a name to those that are offered. */
void options_offer(struct buffer *names, const char *name);

/* A whole decimal number from `least` to `most`. 0, or -1 with *error. */
int options_number(const char *text, int64_t least, int64_t most, int64_t *number,
		   struct error *error);

#endif
