/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/metrics/wishes.h"

#include <string.h>

/* A scrape waits for 10 s by default, and something may be slow before us. */
enum { DEFAULT_TIMEOUT = 2, MOST_TIMEOUT = 3600 };

/* Some tens of milliseconds an index; a site that has more sees it in oncewrap_store_bytes. */
enum { DEFAULT_LIMIT = 100000, MOST_LIMIT = 1000000000 };

static const struct {
	const char *name;
	unsigned scope;
} scopes[] = {
    {"local", SCOPE_LOCAL},
    {"store", SCOPE_STORE},
};

static unsigned scope_named(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
		if (strlen(scopes[i].name) == length && memcmp(scopes[i].name, name, length) == 0)
			return scopes[i].scope;
	return 0;
}

unsigned scopes_parse(const char *list, size_t length, struct error *error)
{
	unsigned found = 0;
	for (const char *end = list + length, *comma;; list = comma + 1) {
		comma = memchr(list, ',', (size_t)(end - list));
		size_t one = (size_t)((comma != NULL ? comma : end) - list);
		unsigned scope = scope_named(list, one);
		if (scope == 0) {
			error_set(error, ERROR_INPUT, "\"%.*s\" is none of local, store", (int)one,
				  list);
			return 0;
		}
		found |= scope;
		if (comma == NULL)
			return found;
	}
}

static int take_scope(void *target, const char *argument, struct error *error)
{
	unsigned found = scopes_parse(argument, strlen(argument), error);
	((struct wishes *)target)->scopes = found;
	return found != 0 ? 0 : -1;
}

static void offer_scopes(const void *target, struct buffer *names)
{
	(void)target;
	for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
		options_offer(names, scopes[i].name);
}

static int take_openmetrics(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct wishes *)target)->openmetrics = true;
	return 0;
}

static int take_classic(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct wishes *)target)->classic = true;
	return 0;
}

static int take_strict(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct wishes *)target)->strict = true;
	return 0;
}

static int take_textfile(void *target, const char *argument, struct error *error)
{
	if (*argument == '\0' || argument[strlen(argument) - 1] == '/') {
		error_set(error, ERROR_INPUT, "\"%s\" names no file", argument);
		return -1;
	}
	((struct wishes *)target)->textfile = argument;
	return 0;
}

static int take_count_limit(void *target, const char *argument, struct error *error)
{
	return options_number(argument, 1, MOST_LIMIT, &((struct wishes *)target)->count_limit,
			      error);
}

static int take_timeout(void *target, const char *argument, struct error *error)
{
	return options_number(argument, 1, MOST_TIMEOUT, &((struct wishes *)target)->timeout,
			      error);
}

static const struct option_entry entries[] = {
    {.name = "scope",
     .argument = "SCOPE,...",
     .help = "local: this host; store: the database (both)",
     .take = take_scope,
     .offer = offer_scopes,
     .several = true},
    {.name = "openmetrics",
     .help = "OpenMetrics 1.0 in place of the text format 0.0.4",
     .take = take_openmetrics},
    {.name = "classic", .help = "only the classic names, idempotency_...", .take = take_classic},
    {.name = "textfile",
     .argument = "FILE",
     .help = "replace FILE, for node_exporter's collector",
     .take = take_textfile,
     .file = true},
    {.name = "count-limit",
     .argument = "N",
     .help = "count no more than N records of a kind (100000)",
     .take = take_count_limit},
    {.name = "timeout",
     .argument = "SEC",
     .help = "for all that the database is asked (2)",
     .take = take_timeout},
    {.name = "strict",
     .help = "fail when the database or the segment is away",
     .take = take_strict},
};

void wishes_init(struct wishes *wishes)
{
	*wishes = (struct wishes){.count_limit = DEFAULT_LIMIT, .timeout = DEFAULT_TIMEOUT};
}

struct option_group wishes_options(struct wishes *wishes)
{
	return (struct option_group)OPTION_GROUP(entries, wishes);
}

int wishes_check(struct wishes *wishes, struct error *error)
{
	if (wishes->classic && (wishes->scopes & SCOPE_STORE) != 0)
		error_set(error, ERROR_INPUT, "--classic: its series are of --scope=local only");
	else if (wishes->openmetrics && wishes->textfile != NULL)
		error_set(error, ERROR_INPUT,
			  "--textfile: node_exporter reads no --openmetrics, only the text format");
	else {
		if (wishes->scopes == 0)
			wishes->scopes = wishes->classic ? SCOPE_LOCAL : SCOPE_ALL;
		return 0;
	}
	return -1;
}
