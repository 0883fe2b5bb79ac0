/* SPDX-License-Identifier: ISC */
/* once-migrate(8): brings the database to the schema that this build wants, tells where it stands,
 * and what it would take. */
#include <config.h>

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "admin/common/connect.h"
#include "admin/common/options.h"
#include "admin/common/output.h"
#include "admin/common/person.h"
#include "admin/common/writer.h"
#include "admin/migrate/grants.h"
#include "base/clock.h"
#include "config/load.h"
#include "store/schema.h"
#include "store/verify.h"

#define NAME  "once-migrate"
#define GROUP "oncewrap-migrate"

enum { STATUS_PENDING = 1, STATUS_DIFFERS = 1 };

/* How long `wait` lets pass before it looks again, ms. */
enum { PAUSE = 300 };

static struct cell version_of(const void *row)
{
	const struct schema_entry *entry = row;
	return cell_number(CELL_NUMBER, entry->version);
}

static struct cell file_of(const void *row)
{
	const struct schema_entry *entry = row;
	return cell_text(entry->file);
}

static struct cell state_of(const void *row)
{
	const struct schema_entry *entry = row;
	return cell_text(schema_status_name(entry->status));
}

static struct cell checksum_of(const void *row)
{
	const struct schema_entry *entry = row;
	return cell_hash(entry->checksum, DIGEST_LENGTH);
}

static struct cell applied_at_of(const void *row)
{
	const struct schema_entry *entry = row;
	if (entry->status == SCHEMA_PENDING)
		return (struct cell){0};
	return cell_number(CELL_TIME, entry->applied_ms);
}

static struct cell applied_by_of(const void *row)
{
	const struct schema_entry *entry = row;
	return *entry->applied_by != '\0' ? cell_text(entry->applied_by) : (struct cell){0};
}

static const struct column columns[] = {
    {.name = "version",
     .kind = CELL_NUMBER,
     .value = version_of,
     .shown = COLUMN_ALL,
     .right = true},
    {.name = "file", .kind = CELL_TEXT, .value = file_of, .shown = COLUMN_ALL},
    {.name = "state", .kind = CELL_TEXT, .value = state_of, .shown = COLUMN_ALL},
    {.name = "checksum", .kind = CELL_HASH, .value = checksum_of, .shown = COLUMN_ALL},
    {.name = "applied_at", .kind = CELL_TIME, .value = applied_at_of, .shown = COLUMN_ALL},
    {.name = "applied_by",
     .kind = CELL_TEXT,
     .value = applied_by_of,
     .shown = COLUMN_ALL,
     .shrinks = true},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static struct cell table_of(const void *row)
{
	const struct difference *difference = row;
	return cell_text(difference->table);
}

static struct cell difference_of(const void *row)
{
	const struct difference *difference = row;
	return cell_text(difference->what);
}

static struct cell cure_of(const void *row)
{
	const struct difference *difference = row;
	return difference->cure != NULL ? cell_text(difference->cure) : (struct cell){0};
}

static const struct column difference_columns[] = {
    {.name = "table", .kind = CELL_TEXT, .value = table_of, .shown = COLUMN_ALL},
    {.name = "difference",
     .kind = CELL_TEXT,
     .value = difference_of,
     .shown = COLUMN_ALL,
     .shrinks = true},
    {.name = "cure",
     .kind = CELL_TEXT,
     .value = cure_of,
     .shown = COLUMN_WIDE | COLUMN_DATA,
     .shrinks = true},
};
#define DIFFERENCE_COLUMNS (sizeof(difference_columns) / sizeof(difference_columns[0]))

/* What one run has to work with. */
struct migrate {
	struct connect connect;
	struct output_settings settings;
	struct output output;
	const char *host;     /* --host; NULL: not given */
	const char *argument; /* behind the verb; NULL: none */
};

static int take_host(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct migrate *)target)->host = argument;
	return 0;
}

static const struct option_entry entries[] = {
    {.name = "host",
     .argument = "HOST",
     .help = "grants: host of the accounts (localhost, or % where store.host is set)",
     .take = take_host},
};

/* The exit status that the schema's standing calls for, told where it is not current. */
static int judge(const struct schema *schema)
{
	switch (schema_overall(schema)) {
	case SCHEMA_APPLIED:
		return EX_OK;
	case SCHEMA_PENDING:
		fputs(NAME ": the schema is older than this build; run: once-migrate up\n", stderr);
		return STATUS_PENDING;
	case SCHEMA_DIRTY:
		fputs(NAME ": a migration was cut short; see once-migrate(8), CUT SHORT\n", stderr);
		break;
	case SCHEMA_CHANGED:
		fputs(NAME ": a migration was applied from another text than this build has\n",
		      stderr);
		break;
	case SCHEMA_NEWER:
		fputs(NAME ": the schema is newer than this build; install the newer one here\n",
		      stderr);
		break;
	}
	return EX_CONFIG;
}

static int print_schema(struct output *output, const struct schema *schema)
{
	int status = GO_ON;
	for (size_t i = 0; i < schema->count && status == GO_ON; i++)
		status = output_row(output, &schema->entries[i]);
	return status == GO_ON ? output_end(output) : status;
}

static int show_status(struct migrate *migrate)
{
	struct connect *connect = &migrate->connect;
	int status = connect_open(connect, NAME, CONNECTION_ADMIN, GROUP);
	if (status != GO_ON)
		return status;
	struct error error;
	struct schema schema;
	if (schema_read(&connect->connection, &schema, clock_now() + connect->timeout * 1000,
			&error) < 0)
		return connect_failed(connect, NAME, &error);
	status = print_schema(&migrate->output, &schema);
	if (status == GO_ON)
		status = judge(&schema);
	schema_free(&schema);
	return status;
}

/* What has been done so far, and whether it could be told. */
struct progress {
	unsigned count;
	int status;
};

static void tell(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A reader that has gone is no reason to stop half way. */
static void tell(struct progress *progress, const char *format, ...)
{
	struct buffer text = {0};
	va_list arguments;
	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	if (progress->status == GO_ON)
		progress->status = writer_write(NAME, &text);
	buffer_free(&text);
}

static void applied(void *context, const struct migration *migration)
{
	struct progress *progress = context;
	progress->count++;
	tell(progress, "applied %s\n", migration->file);
}

static int bring_up(struct migrate *migrate)
{
	struct connect *connect = &migrate->connect;
	int status = connect_open(connect, NAME, CONNECTION_MIGRATION, GROUP);
	if (status != GO_ON)
		return status;
	struct error error;
	char who[PERSON_LENGTH];
	struct progress progress = {.status = GO_ON};
	person_describe(who);
	enum schema_result result = schema_up(&connect->connection, who, (unsigned)connect->timeout,
					      applied, &progress, &error);
	if (result == SCHEMA_DONE) {
		if (progress.count == 0)
			tell(&progress, "nothing to do: the schema is current\n");
		return progress.status == GO_ON ? EX_OK : progress.status;
	}
	status = connect_failed(connect, NAME, &error);
	return result == SCHEMA_LOCKED    ? EX_TEMPFAIL
	       : result == SCHEMA_REFUSED ? EX_CONFIG
					  : status;
}

/* The SQL of what `up` would do, marks included: a person may run it by the mariadb client. */
static int print_plan(struct migrate *migrate)
{
	struct connect *connect = &migrate->connect;
	int status = connect_open(connect, NAME, CONNECTION_ADMIN, GROUP);
	if (status != GO_ON)
		return status;
	struct error error;
	struct schema schema;
	if (schema_read(&connect->connection, &schema, clock_now() + connect->timeout * 1000,
			&error) < 0)
		return connect_failed(connect, NAME, &error);
	char who[PERSON_LENGTH];
	struct buffer text = {0};
	person_describe(who);
	if (schema_overall(&schema) > SCHEMA_PENDING) {
		status = judge(&schema);
	} else {
		schema_plan(&schema, who, &text);
		if (text.length == 0)
			buffer_append_text(&text, "-- nothing is pending\n");
		status = writer_print(NAME, &text);
	}
	schema_free(&schema);
	buffer_free(&text);
	return status;
}

struct comparison {
	struct output *output;
	unsigned count;
	int status;
};

static void differs(void *context, const struct difference *difference)
{
	struct comparison *comparison = context;
	comparison->count++;
	if (comparison->status == GO_ON)
		comparison->status = output_row(comparison->output, difference);
}

static int verify(struct migrate *migrate)
{
	struct connect *connect = &migrate->connect;
	struct comparison comparison = {.output = &migrate->output, .status = GO_ON};
	struct error error;
	int status = connect_open(connect, NAME, CONNECTION_ADMIN, GROUP);
	if (status != GO_ON)
		return status;
	if (verify_schema(&connect->connection, UINT_MAX, differs, &comparison,
			  clock_now() + connect->timeout * 1000, &error) < 0)
		return connect_failed(connect, NAME, &error);
	status = comparison.status == GO_ON ? output_end(&migrate->output) : comparison.status;
	if (status != GO_ON)
		return status;
	return comparison.count > 0 ? STATUS_DIFFERS : EX_OK;
}

static void count_difference(void *context, const struct difference *difference)
{
	(void)difference;
	++*(unsigned *)context;
}

/* Of the ledger the highest, so that what later migrations have changed is no difference. */
static int latest_of(struct migrate *migrate, unsigned *latest)
{
	struct connect *connect = &migrate->connect;
	struct error error;
	struct schema schema;
	if (schema_read(&connect->connection, &schema, clock_now() + connect->timeout * 1000,
			&error) < 0)
		return connect_failed(connect, NAME, &error);
	for (size_t i = 0; i < schema.count; i++)
		if (schema.entries[i].status != SCHEMA_PENDING &&
		    schema.entries[i].version > *latest)
			*latest = schema.entries[i].version;
	schema_free(&schema);
	return GO_ON;
}

static int mark_version(struct migrate *migrate, unsigned version)
{
	struct connect *connect = &migrate->connect;
	char who[PERSON_LENGTH];
	struct error error;
	person_describe(who);
	enum schema_result result =
	    schema_mark(&connect->connection, version, who, (unsigned)connect->timeout, &error);
	if (result == SCHEMA_DONE) {
		struct buffer text = {0};
		buffer_printf(&text, "marked %u as applied\n", version);
		return writer_print(NAME, &text);
	}
	int status = connect_failed(connect, NAME, &error);
	return result == SCHEMA_LOCKED    ? EX_TEMPFAIL
	       : result == SCHEMA_REFUSED ? EX_CONFIG
					  : status;
}

/* Only what is as the migration would have made it is marked: a mark is believed from then on. */
static int mark(struct migrate *migrate)
{
	struct error error;
	int64_t version;
	if (migrate->argument == NULL ||
	    options_number(migrate->argument, 1, UINT_MAX - 1, &version, &error) < 0) {
		fprintf(stderr, NAME ": mark: say the number of a migration, as status shows it\n"
				     "Try '" NAME " --help'.\n");
		return EX_USAGE;
	}
	int status = connect_open(&migrate->connect, NAME, CONNECTION_MIGRATION, GROUP);
	if (status != GO_ON)
		return status;
	unsigned latest = (unsigned)version, count = 0;
	status = latest_of(migrate, &latest);
	if (status != GO_ON)
		return status;
	struct connect *connect = &migrate->connect;
	if (verify_schema(&connect->connection, latest, count_difference, &count, CLOCK_NEVER,
			  &error) < 0)
		return connect_failed(connect, NAME, &error);
	if (count == 0)
		return mark_version(migrate, (unsigned)version);
	fputs(NAME ": the tables are not what the migrations make, so nothing is marked; run: " NAME
		   " verify -o wide\n",
	      stderr);
	return EX_CONFIG;
}

/* For a deployment in which another one migrates: until the schema is there, and where the database
 * itself is still to come up, until that is. A dirty mark is what a migration under way has. */
static int wait_for_schema(struct migrate *migrate)
{
	struct connect *connect = &migrate->connect;
	int64_t deadline = clock_now() + connect->timeout * 1000;
	int status = connect_open(connect, NAME, CONNECTION_ADMIN, GROUP);
	if (status != GO_ON && status != EX_UNAVAILABLE)
		return status;
	for (;; clock_pause(PAUSE)) {
		struct error error;
		struct schema schema;
		bool over = clock_now() >= deadline;
		/* The last look is to have a moment, too. */
		if (schema_read(&connect->connection, &schema, deadline + 1000, &error) < 0) {
			status = status_of_store(connect->connection.code);
			if (!over && (status == EX_UNAVAILABLE || status == EX_TEMPFAIL))
				continue;
			return connect_failed(connect, NAME, &error);
		}
		enum schema_status standing = schema_overall(&schema);
		bool moving = standing == SCHEMA_PENDING || standing == SCHEMA_DIRTY;
		if (!moving || over)
			status = judge(&schema);
		schema_free(&schema);
		if (!moving)
			return status;
		if (over)
			return standing == SCHEMA_PENDING ? EX_TEMPFAIL : status;
	}
}

static int print_grants(struct migrate *migrate)
{
	char *problems = NULL;
	struct config *config = config_load(migrate->connect.file, &problems);
	struct buffer text = {0};
	struct error error;
	int status = EX_CONFIG;
	if (config == NULL)
		fputs(problems != NULL ? problems : "out of memory\n", stderr);
	else if (grants_write(&text, &config->store, migrate->host, &error) < 0)
		fprintf(stderr, NAME ": %s\n", error.message);
	else
		status = writer_print(NAME, &text);
	free(problems);
	config_free(config);
	buffer_free(&text);
	return status;
}

static const struct verb {
	const char *name;
	int (*run)(struct migrate *migrate);
	const struct column *columns; /* of what it lists; NULL: takes no options of output */
	size_t column_count;
	bool takes_argument;
} verbs[] = {
    {.name = "status", .run = show_status, .columns = columns, .column_count = COLUMNS},
    {.name = "plan", .run = print_plan},
    {.name = "up", .run = bring_up},
    {.name = "verify",
     .run = verify,
     .columns = difference_columns,
     .column_count = DIFFERENCE_COLUMNS},
    {.name = "mark", .run = mark, .takes_argument = true},
    {.name = "wait", .run = wait_for_schema},
    {.name = "grants", .run = print_grants},
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

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
	if (verb->columns != NULL && output_open(&migrate->output, NAME, &migrate->settings,
						 verb->columns, verb->column_count, &error) < 0)
		return options_refuse(program, "%s", error.message);
	if (verb->columns == NULL && output_is_asked(&migrate->settings))
		return options_refuse(program, "%s: prints no list that options could shape",
				      verb->name);
	if (migrate->host != NULL && verb->run != print_grants)
		return options_refuse(program, "%s: has no use for --host", verb->name);
	return GO_ON;
}

int main(int argc, char **argv)
{
	options_begin();
	struct migrate migrate = {0};
	connect_init(&migrate.connect);
	const struct option_group groups[] = {
	    output_options(&migrate.settings),
	    OPTION_GROUP(entries, &migrate),
	    connect_options(&migrate.connect),
	};
	const struct program program = {
	    .name = NAME,
	    .arguments = "status|plan|up|verify|mark N|wait|grants",
	    .summary = "Tell where the database's schema stands (status), what would be done "
		       "(plan), do it\n(up), compare the tables with it (verify), and more.",
	    .see = "once-migrate(8)",
	    .groups = groups,
	    .group_count = sizeof(groups) / sizeof(groups[0]),
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
