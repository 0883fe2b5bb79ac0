/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/options.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "admin/common/status.h"
#include "admin/common/writer.h"

enum { MOST_OPTIONS = 48, FIRST_CODE = 256 };

/* What every program takes; done here, so nothing to take. */
static const struct option_entry last_entries[] = {
    {.name = "help", .help = "print this help and exit"},
    {.name = "version", .help = "print the version and exit"},
};
enum { LAST_HELP, LAST_VERSION, LAST_COUNT };

/* The program's tables as getopt_long wants them. An option's code is FIRST_CODE plus its place
 * among all. */
struct parsing {
	size_t count;
	const struct option_entry *entries[MOST_OPTIONS];
	void *targets[MOST_OPTIONS];
	struct option options[MOST_OPTIONS + 1];
	char letters[2 * MOST_OPTIONS + 1];
	size_t letters_length;
};

static void add(struct parsing *parsing, const struct option_entry *entry, void *target)
{
	assert(parsing->count < MOST_OPTIONS);
	size_t place = parsing->count++;
	parsing->entries[place] = entry;
	parsing->targets[place] = target;
	parsing->options[place] = (struct option){
	    .name = entry->name,
	    .has_arg = entry->argument != NULL ? required_argument : no_argument,
	    .val = FIRST_CODE + (int)place,
	};
	if (entry->letter == '\0')
		return;
	parsing->letters[parsing->letters_length++] = entry->letter;
	if (entry->argument != NULL)
		parsing->letters[parsing->letters_length++] = ':';
}

static void gather(struct parsing *parsing, const struct program *program)
{
	*parsing = (struct parsing){0};
	for (size_t i = 0; i < program->group_count; i++) {
		const struct option_group *group = &program->groups[i];
		for (size_t k = 0; k < group->count; k++)
			add(parsing, &group->entries[k], group->target);
	}
	for (size_t i = 0; i < LAST_COUNT; i++)
		add(parsing, &last_entries[i], NULL);
}

/* The place among all of what getopt_long found, which for a letter is the letter. */
static size_t place_of(const struct parsing *parsing, int code)
{
	size_t place = 0;
	if (code >= FIRST_CODE)
		return (size_t)(code - FIRST_CODE);
	while (parsing->entries[place]->letter != code)
		place++;
	return place;
}

/* "--name=ARGUMENT" */
static int spell(const struct option_entry *entry, char *text, size_t size)
{
	return snprintf(text, size, "--%s%s%s", entry->name, entry->argument != NULL ? "=" : "",
			entry->argument != NULL ? entry->argument : "");
}

static int help(const struct parsing *parsing, const struct program *program)
{
	char name[64];
	int width = 0;
	for (size_t i = 0; i < parsing->count; i++) {
		int length = spell(parsing->entries[i], name, sizeof(name));
		width = length > width ? length : width;
	}
	struct buffer out = {0};
	buffer_printf(&out, "Usage: %s [OPTION]...%s%s\n%s\n\n", program->name,
		      *program->arguments != '\0' ? " " : "", program->arguments, program->summary);
	for (size_t i = 0; i < parsing->count; i++) {
		const struct option_entry *entry = parsing->entries[i];
		char letter[] = "    ";
		if (entry->letter != '\0')
			memcpy(letter, (char[]){'-', entry->letter, ',', ' '}, 4);
		spell(entry, name, sizeof(name));
		buffer_printf(&out, "  %s%-*s  %s\n", letter, width, name, entry->help);
	}
	buffer_printf(&out, "\nSee %s.\n", program->see);
	return writer_print(program->name, &out);
}

static int version(const struct program *program)
{
	struct buffer out = {0};
	buffer_printf(&out, "%s (%s)\n", program->name, PACKAGE_STRING);
	return writer_print(program->name, &out);
}

void options_offer(struct buffer *names, const char *name)
{
	buffer_printf(names, "\t%s", name);
}

static void describe(const struct option_entry *entry, const void *target, struct buffer *out)
{
	char letter[3] = "-";
	if (entry->letter != '\0')
		memcpy(letter, (char[]){'-', entry->letter, '\0'}, 3);
	buffer_printf(out, "option\t%s\t--%s\t%s", letter, entry->name,
		      entry->argument == NULL ? "none"
		      : entry->file           ? "file"
		      : entry->offer == NULL  ? "text"
		      : entry->several        ? "several"
					      : "one");
	if (entry->offer != NULL)
		entry->offer(target, out);
	buffer_append_byte(out, '\n');
}

static int completion_table(const struct parsing *parsing, const struct program *program)
{
	struct buffer out = {0};
	for (size_t i = 0; i < parsing->count; i++)
		describe(parsing->entries[i], parsing->targets[i], &out);
	if (program->records)
		buffer_append_text(&out, "operand\trecord\n");
	if (program->offer != NULL) {
		buffer_append_text(&out, "operand\tone");
		program->offer(&out);
		buffer_append_byte(&out, '\n');
	}
	return writer_print(program->name, &out);
}

int options_refuse(const struct program *program, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fprintf(stderr, "%s: ", program->name);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\nTry '%s --help'.\n", program->name);
	return EX_USAGE;
}

int options_parse(const struct program *program, int argc, char **argv, int *first)
{
	struct parsing parsing;
	gather(&parsing, program);
	/* No option, so that it is in nobody's way where a name is cut short. */
	if (argc == 2 && strcmp(argv[1], "--completion-table") == 0)
		return completion_table(&parsing, program);
	int code;
	while ((code = getopt_long(argc, argv, parsing.letters, parsing.options, NULL)) != -1) {
		if (code == '?') {
			fprintf(stderr, "Try '%s --help'.\n", program->name); /* getopt has told */
			return EX_USAGE;
		}
		size_t place = place_of(&parsing, code);
		const struct option_entry *entry = parsing.entries[place];
		struct error error;
		if (entry == &last_entries[LAST_HELP])
			return help(&parsing, program);
		if (entry == &last_entries[LAST_VERSION])
			return version(program);
		if (entry->take(parsing.targets[place], optarg, &error) < 0)
			return options_refuse(program, "--%s: %s", entry->name, error.message);
	}
	*first = optind;
	return GO_ON;
}

int options_number(const char *text, int64_t least, int64_t most, int64_t *number,
		   struct error *error)
{
	char *end;
	errno = 0;
	intmax_t value = strtoimax(text, &end, 10);
	/* strtoimax also takes blanks and signs in front */
	if (strchr("0123456789", *text) == NULL || *text == '\0' || *end != '\0' || errno != 0 ||
	    value < least || value > most) {
		error_set(error, ERROR_INPUT, "\"%s\" is not a number from %" PRId64 " to %" PRId64,
			  text, least, most);
		return -1;
	}
	*number = value;
	return 0;
}

/* A descriptor opened later must not become 0, 1 or 2: rows would be written into the database's
 * connection. What was closed refuses what it is for: output then fails as it should. */
static void open_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(EX_OSERR);
}

void options_begin(void)
{
	open_standard_descriptors();
	signal(SIGPIPE, SIG_IGN);
	setlocale(LC_CTYPE, "");
}
