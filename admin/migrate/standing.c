/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/migrate/standing.h"

#include <sysexits.h>

#include "base/clock.h"

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

const struct column standing_columns[] = {
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
const size_t standing_column_count = sizeof(standing_columns) / sizeof(standing_columns[0]);

int standing_judge(const struct migrate *migrate, const struct schema *schema)
{
	static const char *const verdicts[] = {
	    [SCHEMA_PENDING] = "the schema is older than this build; run: once-migrate up",
	    [SCHEMA_DIRTY] = "a migration was cut short; see once-migrate(8), CUT SHORT",
	    [SCHEMA_CHANGED] = "a migration was applied from another text than this build has",
	    [SCHEMA_NEWER] = "the schema is newer than this build; install the newer one here",
	};
	enum schema_status standing = schema_overall(schema);
	if (standing == SCHEMA_APPLIED)
		return EX_OK;
	migrate_tell(migrate, verdicts[standing]);
	return standing == SCHEMA_PENDING ? MIGRATE_PENDING : EX_CONFIG;
}

static int print(struct output *output, const struct schema *schema)
{
	int status = GO_ON;
	for (size_t i = 0; i < schema->count && status == GO_ON; i++)
		status = output_row(output, &schema->entries[i]);
	return status == GO_ON ? output_end(output) : status;
}

int standing_show(struct migrate *migrate)
{
	struct schema schema;
	int status = migrate_open(migrate, CONNECTION_ADMIN);
	if (status == GO_ON)
		status = migrate_read(migrate, &schema);
	if (status != GO_ON)
		return status;
	status = migrate->quiet ? GO_ON : print(&migrate->output, &schema);
	if (status == GO_ON)
		status = standing_judge(migrate, &schema);
	schema_free(&schema);
	return status;
}

/* For a deployment in which another one migrates: until the schema is there, and where the database
 * itself is still to come up, until that is. A dirty mark is what a migration under way has. */
int standing_wait(struct migrate *migrate)
{
	struct connect *connect = &migrate->connect;
	int64_t deadline = clock_now() + connect->timeout * 1000;
	int status = migrate_open(migrate, CONNECTION_ADMIN);
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
			return connect_failed(connect, MIGRATE_NAME, &error);
		}
		enum schema_status standing = schema_overall(&schema);
		bool moving = standing == SCHEMA_PENDING || standing == SCHEMA_DIRTY;
		if (!moving || over)
			status = standing_judge(migrate, &schema);
		schema_free(&schema);
		if (!moving)
			return status;
		if (over)
			return standing == SCHEMA_PENDING ? EX_TEMPFAIL : status;
	}
}
