/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/expire/wishes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/unit.h"

enum { DEFAULT_BATCH = 500, DEFAULT_SLEEP = 50, MOST_SLEEP = 60 * 1000 };

/* A hundred years, beyond which the database's calendar is not asked. */
#define MOST_TIME (INT64_C(36500) * 24 * 60 * 60 * 1000)

static int take_duration(const char *argument, int64_t *milliseconds, struct error *error)
{
	if (unit_parse_duration(argument, milliseconds) == 0 && *milliseconds > 0 &&
	    *milliseconds <= MOST_TIME)
		return 0;
	error_set(error, ERROR_INPUT, "\"%s\" is no time such as 90s, 15m, 24h or 7d", argument);
	return -1;
}

static int take_expired(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct wishes *)target)->selection.expired = true;
	return 0;
}

static int take_route(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct wishes *)target)->selection.route = argument;
	return 0;
}

static int take_tenant(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct wishes *)target)->selection.tenant = argument;
	return 0;
}

static int take_older(void *target, const char *argument, struct error *error)
{
	return take_duration(argument, &((struct wishes *)target)->selection.older, error);
}

static int take_all(void *target, const char *argument, struct error *error)
{
	((struct wishes *)target)->all = true;
	if (strcmp(argument, "ALL") == 0)
		return 0;
	error_set(error, ERROR_INPUT, "write it out: --all=ALL");
	return -1;
}

static int take_batch(void *target, const char *argument, struct error *error)
{
	return options_number(argument, 1, PURGE_MOST_BATCH, &((struct wishes *)target)->batch,
			      error);
}

static int take_sleep(void *target, const char *argument, struct error *error)
{
	return options_number(argument, 0, MOST_SLEEP, &((struct wishes *)target)->sleep, error);
}

static int take_run_time(void *target, const char *argument, struct error *error)
{
	return take_duration(argument, &((struct wishes *)target)->run_time, error);
}

static int take_max_rows(void *target, const char *argument, struct error *error)
{
	return options_number(argument, 1, INT64_MAX, &((struct wishes *)target)->most, error);
}

static int take_max_lag(void *target, const char *argument, struct error *error)
{
	return take_duration(argument, &((struct wishes *)target)->brake.most_lag, error);
}

static int take_replica(void *target, const char *argument, struct error *error)
{
	return brake_take_replica(&((struct wishes *)target)->brake, argument, error);
}

static int take_max_flow_control(void *target, const char *argument, struct error *error)
{
	char *end;
	double part = strtod(argument, &end);
	if (strspn(argument, "0123456789.") != strlen(argument) || *argument == '\0' ||
	    *end != '\0' || !(part > 0 && part < 1)) {
		error_set(error, ERROR_INPUT, "\"%s\" is no part of the time such as 0.1",
			  argument);
		return -1;
	}
	((struct wishes *)target)->brake.most_stopped = part;
	return 0;
}

static int take_progress(void *target, const char *argument, struct error *error)
{
	return options_number(argument, 1, INT64_MAX, &((struct wishes *)target)->progress, error);
}

static int take_statistics(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct wishes *)target)->statistics = true;
	return 0;
}

static int take_why_quit(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct wishes *)target)->why_quit = true;
	return 0;
}

static int take_quiet(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct wishes *)target)->quiet = true;
	return 0;
}

static const struct option_entry entries[] = {
    {.name = "expired", .help = "records past their retention (default)", .take = take_expired},
    {.name = "route", .argument = "NAME", .help = "records of this route", .take = take_route},
    {.name = "tenant", .argument = "NAME", .help = "records of this tenant", .take = take_tenant},
    {.name = "older", .argument = "TIME", .help = "made longer ago than that", .take = take_older},
    {.name = "all", .argument = "ALL", .help = "every answer there is", .take = take_all},
    {.name = "batch",
     .argument = "N",
     .help = "delete N records at once (500)",
     .take = take_batch},
    {.name = "sleep",
     .argument = "MS",
     .help = "pause so long between batches (50)",
     .take = take_sleep},
    {.name = "run-time",
     .argument = "TIME",
     .help = "end after that time, done or not",
     .take = take_run_time},
    {.name = "max-rows",
     .argument = "N",
     .help = "end after so many records",
     .take = take_max_rows},
    {.name = "max-lag",
     .argument = "TIME",
     .help = "wait while --replica is further behind",
     .take = take_max_lag},
    {.name = "replica",
     .argument = "HOST",
     .help = "the one to look at for --max-lag",
     .take = take_replica},
    {.name = "max-flow-control",
     .argument = "R",
     .help = "wait while Galera stops writers for more",
     .take = take_max_flow_control},
    {.name = "progress",
     .argument = "N",
     .help = "no terminal: a line each N records",
     .take = take_progress},
    {.name = "statistics", .help = "tell what took how long", .take = take_statistics},
    {.name = "why-quit", .help = "tell why it ended", .take = take_why_quit},
    {.letter = 'q', .name = "quiet", .help = "tell what failed only", .take = take_quiet},
};

void wishes_init(struct wishes *wishes)
{
	*wishes = (struct wishes){.batch = DEFAULT_BATCH, .sleep = DEFAULT_SLEEP};
}

struct option_group wishes_options(struct wishes *wishes)
{
	return (struct option_group)OPTION_GROUP(entries, wishes);
}

int wishes_check(struct wishes *wishes, struct error *error)
{
	struct purge_selection *selection = &wishes->selection;
	bool partly = selection->route != NULL || selection->tenant != NULL || selection->older > 0;
	const struct brake *brake = &wishes->brake;
	if (wishes->all && (partly || selection->expired))
		error_set(error, ERROR_INPUT, "--all=ALL goes with no other selection");
	else if ((brake->most_lag > 0) != (brake->replica != NULL))
		error_set(error, ERROR_INPUT, "--max-lag and --replica go together");
	else {
		selection->expired = selection->expired || (!partly && !wishes->all);
		return 0;
	}
	return -1;
}

void wishes_describe(const struct wishes *wishes, char *text, size_t size)
{
	const struct purge_selection *selection = &wishes->selection;
	char older[UNIT_TEXT_SIZE] = "";
	if (selection->older > 0)
		unit_format_duration(selection->older, older);
	snprintf(text, size, "%s%s%.255s%s%.255s%s%s%s", wishes->all ? "--all=ALL" : "",
		 selection->route != NULL ? " --route=" : "",
		 selection->route != NULL ? selection->route : "",
		 selection->tenant != NULL ? " --tenant=" : "",
		 selection->tenant != NULL ? selection->tenant : "",
		 *older != '\0' ? " --older=" : "", older, selection->expired ? " --expired" : "");
	if (*text == ' ')
		memmove(text, text + 1, strlen(text));
}
