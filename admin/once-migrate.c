/* SPDX-License-Identifier: ISC */
/* once-migrate(8): brings the database to the schema that this build wants, tells where it stands,
 * and what it would take. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "admin/common/options.h"
#include "admin/common/writer.h"
#include "admin/migrate/comparison.h"
#include "admin/migrate/grants.h"
#include "admin/migrate/migrate.h"
#include "admin/migrate/standing.h"
#include "admin/migrate/upgrade.h"
#include "config/load.h"

static int take_host(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct migrate *)target)->host = argument;
	return 0;
}

static int take_dry_run(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct migrate *)target)->dry_run = true;
	return 0;
}

static int take_quiet(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct migrate *)target)->quiet = true;
	return 0;
}

static const struct option_entry entries[] = {
    {.name = "host",
     .argument = "HOST",
     .help = "grants: host of the accounts (localhost, %)",
     .take = take_host},
    {.letter = 'n', .name = "dry-run", .help = "up: the same as plan", .take = take_dry_run},
    {.letter = 'q', .name = "quiet", .help = "tell what is wrong only", .take = take_quiet},
};

static int print_grants(struct migrate *migrate)
{
	char *problems = NULL;
	struct config *config = config_load(migrate->connect.file, &problems);
	struct buffer text = {0};
	struct error error;
	int status = EX_CONFIG;
	if (config == NULL)
		fputs(problems != NULL ? problems : "out of memory\n", stderr);
	else if (grants_write(&text, config, migrate->host, &error) < 0)
		fprintf(stderr, MIGRATE_NAME ": %s\n", error.message);
	else
		status = writer_print(MIGRATE_NAME, &text);
	free(problems);
	config_free(config);
	buffer_free(&text);
	return status;
}

static const struct verb {
	const char *name;
	int (*run)(struct migrate *migrate);
	const struct column *columns; /* of what it lists; NULL: takes no options of output */
	const size_t *column_count;
	bool takes_argument;
} verbs[] = {
    {.name = "status",
     .run = standing_show,
     .columns = standing_columns,
     .column_count = &standing_column_count},
    {.name = "plan", .run = upgrade_plan},
    {.name = "up", .run = upgrade_run},
    {.name = "verify",
     .run = comparison_verify,
     .columns = comparison_columns,
     .column_count = &comparison_column_count},
    {.name = "mark", .run = comparison_mark, .takes_argument = true},
    {.name = "wait", .run = standing_wait},
    {.name = "grants", .run = print_grants},
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void offer_verbs(struct buffer *names)
{
	for (size_t i = 0; i < VERBS; i++)
		options_offer(names, verbs[i].name);
}

static const char verb_names[] = "status, plan, up, verify, mark, wait, grants";

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < VERBS; i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

/* What the command line says of one verb. GO_ON, or the exit status of what was told. */
static int begin(struct migrate *migrate, const struct program *program, const struct verb *verb)
{
	struct error error;
	if (verb->columns != NULL && output_open(&migrate->output, MIGRATE_NAME, &migrate->settings,
						 verb->columns, *verb->column_count, &error) < 0)
		return options_refuse(program, "%s", error.message);
	if (verb->columns == NULL && output_is_asked(&migrate->settings))
		return options_refuse(program, "%s: prints no list that options could shape",
				      verb->name);
	if (migrate->host != NULL && verb->run != print_grants)
		return options_refuse(program, "%s: has no use for --host", verb->name);
	if (migrate->dry_run && verb->run != upgrade_run)
		return options_refuse(program, "%s: has no use for --dry-run", verb->name);
	return GO_ON;
}

int main(int argc, char **argv)
{
	options_begin();
	struct migrate migrate = {
	    .settings.offered = {{standing_columns, standing_column_count},
				 {comparison_columns, comparison_column_count}},
	    .said = GO_ON,
	};
	connect_init(&migrate.connect);
	const struct option_group groups[] = {
	    output_options(&migrate.settings),
	    OPTION_GROUP(entries, &migrate),
	    connect_options(&migrate.connect),
	};
	const struct program program = {
	    .name = MIGRATE_NAME,
	    .arguments = "status|plan|up|verify|mark N|wait|grants",
	    .summary = "Tell where the database's schema stands (status), what would be done "
		       "(plan), do\nit (up), compare the tables with it (verify), and more.",
	    .see = "once-migrate(8)",
	    .groups = groups,
	    .group_count = sizeof(groups) / sizeof(groups[0]),
	    .offer = offer_verbs,
	};
	int first;
	int status = options_parse(&program, argc, argv, &first);
	if (status != GO_ON)
		return status;
	const struct verb *verb = first < argc ? find_verb(argv[first]) : NULL;
	if (first == argc)
		return options_refuse(&program, "say one of: %s", verb_names);
	if (verb == NULL)
		return options_refuse(&program, "\"%s\" is none of: %s", argv[first], verb_names);
	if (argc - first > (verb->takes_argument ? 2 : 1))
		return options_refuse(&program, "say one of: %s", verb_names);
	migrate.argument = argc - first == 2 ? argv[first + 1] : NULL;
	status = begin(&migrate, &program, verb);
	if (status == GO_ON)
		status = verb->run(&migrate);
	output_free(&migrate.output);
	connect_close(&migrate.connect);
	return status;
}
