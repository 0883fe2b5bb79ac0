/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "config/grammar.h"
#include "config/load.h"

#define DEFAULT_CONFIG SYSCONFDIR "/oncewrap/oncewrap.conf"
#define MOST_WORKERS   1024

enum {
	OPTION_HANDLER = 256,
	OPTION_WORKERS,
	OPTION_LISTEN,
	OPTION_CHECK,
	OPTION_PRINT,
	OPTION_HELP,
	OPTION_VERSION
};

static const char named_file[] = "FILE";

/* The one table: the parser, --help and the completion of the shell walk it. */
static const struct description {
	int code; /* its letter, or a number above all letters */
	const char *name;
	const char *argument; /* NULL: none; named_file: the name of one */
	const char *help;
} descriptions[] = {
    {'c', "config", named_file, "configuration file (" DEFAULT_CONFIG ")"},
    {OPTION_HANDLER, "handler", named_file, "for every request, run this program"},
    {OPTION_WORKERS, "workers", "N", "number of workers, in place of the configured one"},
    {OPTION_LISTEN, "listen", "ADDRESS", "serve at a socket path, HOST:PORT or [IPV6]:PORT"},
    {OPTION_CHECK, "check", NULL, "check the configuration and exit"},
    {OPTION_PRINT, "print-config", NULL, "print every setting as it is in force and exit"},
    {OPTION_HELP, "help", NULL, "print this help and exit"},
    {OPTION_VERSION, "version", NULL, "print the version and exit"},
};
#define DESCRIPTIONS (sizeof(descriptions) / sizeof(descriptions[0]))

static void describe(struct option options[DESCRIPTIONS + 1], char letters[2 * DESCRIPTIONS + 1])
{
	char *letter = letters;
	for (size_t i = 0; i < DESCRIPTIONS; i++) {
		const struct description *description = &descriptions[i];
		options[i] = (struct option){
		    .name = description->name,
		    .has_arg = description->argument != NULL ? required_argument : no_argument,
		    .val = description->code};
		if (description->code < OPTION_HANDLER) {
			*letter++ = (char)description->code;
			if (description->argument != NULL)
				*letter++ = ':';
		}
	}
	options[DESCRIPTIONS] = (struct option){0};
	*letter = '\0';
}

static int parse_workers(struct options *options, const char *text)
{
	char *end;
	errno = 0;
	long number = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || number < 1 || number > MOST_WORKERS) {
		fprintf(stderr, "oncewrap: --workers: \"%s\" is not a number from 1 to %d\n", text,
			MOST_WORKERS);
		return -1;
	}
	options->workers = number;
	return 0;
}

static int parse_listen(struct options *options, const char *text)
{
	struct error error;
	if (*text == '\0' || grammar_listen(text, &error) != 0) {
		fprintf(stderr, "oncewrap: --listen: %s\n",
			*text == '\0' ? "an address is wanted" : error.message);
		return -1;
	}
	options->listen = text;
	return 0;
}

static int take(struct options *options, int code)
{
	switch (code) {
	case 'c':
		options->config = optarg;
		return 0;
	case OPTION_HANDLER:
		options->handler = optarg;
		return 0;
	case OPTION_WORKERS:
		return parse_workers(options, optarg);
	case OPTION_LISTEN:
		return parse_listen(options, optarg);
	case OPTION_CHECK:
		options->task = TASK_CHECK;
		return 0;
	case OPTION_PRINT:
		options->task = TASK_PRINT_CONFIG;
		return 0;
	case OPTION_HELP:
		options->task = TASK_HELP;
		return 0;
	case OPTION_VERSION:
		options->task = TASK_VERSION;
		return 0;
	default:
		return -1; /* getopt has told */
	}
}

int options_parse(struct options *options, int count, char **arguments)
{
	struct option table[DESCRIPTIONS + 1];
	char letters[2 * DESCRIPTIONS + 1];
	describe(table, letters);
	*options = (struct options){0};
	/* No option, so that it is in nobody's way where a name is cut short. */
	if (count == 2 && strcmp(arguments[1], "--completion-table") == 0) {
		options->task = TASK_COMPLETION_TABLE;
		return 0;
	}
	int code;
	while ((code = getopt_long(count, arguments, letters, table, NULL)) != -1)
		if (take(options, code) != 0)
			return -1;
	if (optind < count) {
		fprintf(stderr,
			"oncewrap: unexpected argument \"%s\": a handler is named by --handler, "
			"and takes none\n",
			arguments[optind]);
		return -1;
	}
	return 0;
}

const char *options_file(const struct options *options)
{
	return options->config != NULL ? options->config : DEFAULT_CONFIG;
}

/* 0, or -1 when out of memory. */
static int replace(char **setting, const char *value)
{
	free(*setting);
	*setting = strdup(value);
	return *setting != NULL ? 0 : -1;
}

/* Nobody has named a directory, and the default one comes with an installation only. */
static int spool_anywhere(struct config *config)
{
	const char *directory = getenv("TMPDIR");
	return replace(&config->spool.directory,
		       directory != NULL && *directory == '/' ? directory : "/tmp");
}

bool options_is_fileless(const struct options *options)
{
	return options->config == NULL && options->handler != NULL &&
	       access(DEFAULT_CONFIG, F_OK) == -1 && errno == ENOENT;
}

struct config *options_load(const struct options *options, char **problems)
{
	bool fileless = options_is_fileless(options);
	struct config *config;
	int failed = 0;
	if (fileless) {
		config = config_default();
		*problems = strdup(config == NULL ? "out of memory\n" : "");
	} else {
		config = config_load(options_file(options), problems);
	}
	if (config == NULL)
		return NULL;
	if (options->workers != 0)
		config->workers = options->workers;
	if (fileless)
		failed = spool_anywhere(config);
	if (options->listen != NULL)
		failed |= replace(&config->listen, options->listen);
	if (failed != 0) {
		free(*problems);
		*problems = strdup("out of memory\n");
		config_free(config);
		return NULL;
	}
	return config;
}

void options_log_problems(const char *event, char *problems)
{
	char none[] = "out of memory";
	char *rest;
	char *line = strtok_r(problems != NULL ? problems : none, "\n", &rest);
	for (; line != NULL; line = strtok_r(NULL, "\n", &rest))
		log_message(LOG_LEVEL_ERROR, event, "%s", line);
}

void options_help(FILE *out)
{
	fputs("Usage: oncewrap [OPTION]...\n"
	      "Serve CGI handlers over FastCGI, each request with an idempotency key once.\n\n",
	      out);
	for (size_t i = 0; i < DESCRIPTIONS; i++) {
		const struct description *description = &descriptions[i];
		char name[64];
		snprintf(name, sizeof(name), "--%s%s%s", description->name,
			 description->argument != NULL ? "=" : "",
			 description->argument != NULL ? description->argument : "");
		if (description->code < OPTION_HANDLER)
			fprintf(out, "  -%c, %-18s %s\n", description->code, name,
				description->help);
		else
			fprintf(out, "      %-18s %s\n", name, description->help);
	}
	fputs("\nThe socket is the one handed over by the service manager or as descriptor 0,\n"
	      "else the configured one; run by a web server as a CGI program, it serves that\n"
	      "one request. See oncewrap(8).\n",
	      out);
}

void options_completion_table(FILE *out)
{
	for (size_t i = 0; i < DESCRIPTIONS; i++) {
		const struct description *description = &descriptions[i];
		const char *argument = description->argument;
		char letter[3] = "-";
		if (description->code < OPTION_HANDLER)
			letter[1] = (char)description->code;
		fprintf(out, "option\t%s\t--%s\t%s\n", letter, description->name,
			argument == NULL         ? "none"
			: argument == named_file ? "file"
						 : "text");
	}
}
