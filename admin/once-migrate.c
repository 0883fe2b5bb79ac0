/* SPDX-License-Identifier: ISC */
/* once-migrate(8): brings the database to the schema that this build wants, and tells where it
 * stands. */
#include <config.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "admin/common/connect.h"
#include "admin/common/options.h"
#include "admin/common/output.h"
#include "admin/common/person.h"
#include "admin/common/writer.h"
#include "base/clock.h"
#include "store/schema.h"

#define NAME  "once-migrate"
#define GROUP "oncewrap-migrate"

enum { STATUS_PENDING = 1 };

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

/* What one run has to work with. */
struct migrate {
	struct connect connect;
	struct output_settings settings;
	struct output output;
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

static const struct verb {
	const char *name;
	int (*run)(struct migrate *migrate);
	bool lists; /* takes the options of output */
} verbs[] = {
    {"status", show_status, true},
    {"up", bring_up, false},
};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < VERBS; i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

int main(int argc, char **argv)
{
	options_begin();
	struct migrate migrate = {0};
	connect_init(&migrate.connect);
	const struct option_group groups[] = {
	    output_options(&migrate.settings),
	    connect_options(&migrate.connect),
	};
	const struct program program = {
	    .name = NAME,
	    .arguments = "status|up",
	    .summary =
		"Tell where the database's schema stands (status), or bring it up to date (up).",
	    .see = "once-migrate(8)",
	    .groups = groups,
	    .group_count = sizeof(groups) / sizeof(groups[0]),
	};
	int first;
	int status = options_parse(&program, argc, argv, &first);
	if (status != GO_ON)
		return status;
	if (argc - first != 1)
		return options_refuse(&program, "say one of: status, up");
	const struct verb *verb = find_verb(argv[first]);
	if (verb == NULL)
		return options_refuse(&program, "\"%s\" is none of: status, up", argv[first]);
	struct error error;
	if (verb->lists &&
	    output_open(&migrate.output, NAME, &migrate.settings, columns, COLUMNS, &error) < 0)
		return options_refuse(&program, "%s", error.message);
	if (!verb->lists && output_is_asked(&migrate.settings))
		return options_refuse(&program, "%s: prints no list that options could shape",
				      verb->name);
	status = verb->run(&migrate);
	output_free(&migrate.output);
	connect_close(&migrate.connect);
	return status;
}
