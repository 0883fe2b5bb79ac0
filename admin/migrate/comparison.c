/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/migrate/comparison.h"

#include <limits.h>
#include <stdio.h>
#include <sysexits.h>

#include "admin/common/person.h"
#include "base/clock.h"
#include "store/verify.h"

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

const struct column comparison_columns[] = {
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
const size_t comparison_column_count = sizeof(comparison_columns) / sizeof(comparison_columns[0]);

struct comparison {
	struct output *output; /* NULL: only counted */
	unsigned count;
	int status;
};

static void differs(void *context, const struct difference *difference)
{
	struct comparison *comparison = context;
	comparison->count++;
	if (comparison->output != NULL && comparison->status == GO_ON)
		comparison->status = output_row(comparison->output, difference);
}

int comparison_verify(struct migrate *migrate)
{
	struct connect *connect = &migrate->connect;
	struct comparison comparison = {.output = migrate->quiet ? NULL : &migrate->output,
					.status = GO_ON};
	struct error error;
	int status = migrate_open(migrate, CONNECTION_ADMIN);
	if (status != GO_ON)
		return status;
	if (verify_schema(&connect->connection, UINT_MAX, differs, &comparison,
			  clock_now() + connect->timeout * 1000, &error) < 0)
		return connect_failed(connect, MIGRATE_NAME, &error);
	status = comparison.status;
	if (status == GO_ON && !migrate->quiet)
		status = output_end(&migrate->output);
	if (status != GO_ON)
		return status;
	return comparison.count > 0 ? MIGRATE_DIFFERS : EX_OK;
}

/* Of the ledger the highest, so that what later migrations have changed is no difference. */
static int latest_of(struct migrate *migrate, unsigned *latest)
{
	struct schema schema;
	int status = migrate_read(migrate, &schema);
	if (status != GO_ON)
		return status;
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
	if (result != SCHEMA_DONE)
		return migrate_failed(migrate, result, &error);
	migrate_say(migrate, "marked %u as applied\n", version);
	return migrate->said == GO_ON ? EX_OK : migrate->said;
}

/* GO_ON: the tables are what the migrations up to that one make. */
static int look_at_tables(struct migrate *migrate, unsigned version)
{
	struct connect *connect = &migrate->connect;
	struct comparison comparison = {0};
	struct error error;
	unsigned latest = version;
	int status = latest_of(migrate, &latest);
	if (status != GO_ON)
		return status;
	if (verify_schema(&connect->connection, latest, differs, &comparison, CLOCK_NEVER, &error) <
	    0)
		return connect_failed(connect, MIGRATE_NAME, &error);
	if (comparison.count == 0)
		return GO_ON;
	migrate_tell(migrate, "the tables are not what the migrations make, so nothing is marked;"
			      " run: once-migrate verify -o wide");
	return EX_CONFIG;
}

/* Only what is as the migration would have made it is marked: a mark is believed from then on. */
int comparison_mark(struct migrate *migrate)
{
	struct error error;
	int64_t version;
	if (migrate->argument == NULL ||
	    options_number(migrate->argument, 1, UINT_MAX - 1, &version, &error) < 0) {
		fputs(MIGRATE_NAME ": mark: say the number of a migration, as status shows it\n"
				   "Try '" MIGRATE_NAME " --help'.\n",
		      stderr);
		return EX_USAGE;
	}
	int status = migrate_open(migrate, CONNECTION_MIGRATION);
	if (status == GO_ON)
		status = look_at_tables(migrate, (unsigned)version);
	return status == GO_ON ? mark_version(migrate, (unsigned)version) : status;
}
