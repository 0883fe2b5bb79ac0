/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/schema.h"

#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/encode.h"
#include "store/roundtrip.h"
#include "store/sql_file.h"

static const char select_query[] =
    "SELECT version, file, HEX(checksum), dirty,"
    " TIMESTAMPDIFF(MICROSECOND, '1970-01-01', applied_at) DIV 1000, applied_by"
    " FROM once_schema ORDER BY version";

static const char *const status_names[] = {
    [SCHEMA_APPLIED] = "applied", [SCHEMA_PENDING] = "pending", [SCHEMA_DIRTY] = "dirty",
    [SCHEMA_CHANGED] = "changed", [SCHEMA_NEWER] = "newer",
};

const char *schema_status_name(enum schema_status status)
{
	return status_names[status];
}

enum schema_status schema_overall(const struct schema *schema)
{
	enum schema_status worst = SCHEMA_APPLIED;
	for (size_t i = 0; i < schema->count; i++)
		if (schema->entries[i].status > worst)
			worst = schema->entries[i].status;
	return worst;
}

void schema_free(struct schema *schema)
{
	free(schema->entries);
	*schema = (struct schema){0};
}

/* One query; its result (NULL when it has none) is the caller's. */
static int run(struct connection *connection, const char *query, MYSQL_RES **result,
	       int64_t deadline, struct error *error)
{
	struct roundtrip roundtrip = {
	    .connection = connection,
	    .goal = ROUNDTRIP_QUERY,
	    .query = query,
	};
	if (roundtrip_run(&roundtrip, deadline) != ROUNDTRIP_DONE) {
		*error = roundtrip.error;
		return -1;
	}
	*result = roundtrip.result;
	return 0;
}

/* A query that changes something, or whose rows do not matter. */
static int change(struct connection *connection, const char *query, struct error *error)
{
	MYSQL_RES *result = NULL;
	if (run(connection, query, &result, CLOCK_NEVER, error) < 0)
		return -1;
	mysql_free_result(result);
	return 0;
}

static struct schema_entry *add(struct schema *schema, unsigned version, const char *file)
{
	size_t size = (schema->count + 1) * sizeof(*schema->entries);
	struct schema_entry *entries = realloc(schema->entries, size);
	if (entries == NULL)
		return NULL;
	schema->entries = entries;
	struct schema_entry *entry = &entries[schema->count++];
	*entry = (struct schema_entry){.version = version};
	snprintf(entry->file, sizeof(entry->file), "%s", file);
	return entry;
}

static const struct migration *known(unsigned version)
{
	for (size_t i = 0; i < migration_count; i++)
		if (migrations[i].version == version)
			return &migrations[i];
	return NULL;
}

static enum schema_status judge(const struct schema_entry *entry, bool dirty)
{
	const struct migration *migration = known(entry->version);
	if (migration == NULL)
		return SCHEMA_NEWER;
	if (dirty)
		return SCHEMA_DIRTY;
	unsigned char checksum[DIGEST_LENGTH];
	digest_of(migration->text, strlen(migration->text), checksum);
	return memcmp(checksum, entry->checksum, DIGEST_LENGTH) == 0 ? SCHEMA_APPLIED
								     : SCHEMA_CHANGED;
}

static int take_rows(struct schema *schema, MYSQL_RES *rows, struct error *error)
{
	for (MYSQL_ROW row; (row = mysql_fetch_row(rows)) != NULL;) {
		struct schema_entry *entry =
		    add(schema, (unsigned)strtoul(row[0], NULL, 10), row[1]);
		if (entry == NULL) {
			error_set(error, ERROR_MEMORY, "out of memory");
			return -1;
		}
		if (decode_hex(entry->checksum, DIGEST_LENGTH, row[2]) < 0)
			memset(entry->checksum, 0, DIGEST_LENGTH);
		entry->applied_ms = strtoll(row[4], NULL, 10);
		snprintf(entry->applied_by, sizeof(entry->applied_by), "%s", row[5]);
		entry->status = judge(entry, strcmp(row[3], "0") != 0);
	}
	return 0;
}

static bool has(const struct schema *schema, unsigned version)
{
	for (size_t i = 0; i < schema->count; i++)
		if (schema->entries[i].version == version)
			return true;
	return false;
}

static int by_version(const void *a, const void *b)
{
	const struct schema_entry *left = a, *right = b;
	return (left->version > right->version) - (left->version < right->version);
}

static int add_pending(struct schema *schema, struct error *error)
{
	for (size_t i = 0; i < migration_count; i++) {
		const struct migration *migration = &migrations[i];
		if (migration->version == 0 || has(schema, migration->version))
			continue;
		struct schema_entry *entry = add(schema, migration->version, migration->file);
		if (entry == NULL) {
			error_set(error, ERROR_MEMORY, "out of memory");
			return -1;
		}
		entry->status = SCHEMA_PENDING;
		digest_of(migration->text, strlen(migration->text), entry->checksum);
	}
	if (schema->count > 0)
		qsort(schema->entries, schema->count, sizeof(*schema->entries), by_version);
	return 0;
}

int schema_read(struct connection *connection, struct schema *schema, int64_t deadline,
		struct error *error)
{
	*schema = (struct schema){0};
	MYSQL_RES *rows = NULL;
	int result = run(connection, select_query, &rows, deadline, error);
	if (result < 0 && connection->code == ER_NO_SUCH_TABLE)
		result = 0; /* nothing was ever applied */
	if (rows != NULL)
		result = take_rows(schema, rows, error);
	mysql_free_result(rows);
	if (result == 0)
		result = add_pending(schema, error);
	if (result < 0)
		schema_free(schema);
	return result;
}

/* Each statement of a migration; the number of the one that failed is put before the error. */
static int run_statements(struct connection *connection, const struct migration *migration,
			  struct error *error)
{
	struct buffer statement = {0};
	struct sql_file file;
	int result = 0;
	sql_file_init(&file, migration->text);
	enum sql_file_result next = sql_file_next(&file, &statement);
	for (unsigned number = 1; result == 0 && next == SQL_FILE_STATEMENT; number++) {
		result = change(connection, buffer_text(&statement), error);
		if (result < 0)
			error_prefix(error, "%s, statement %u", migration->file, number);
		else
			next = sql_file_next(&file, &statement);
	}
	if (result == 0 && next == SQL_FILE_BROKEN) {
		error_set(error, ERROR_INPUT, "%s: the last statement has no end", migration->file);
		result = -1;
	}
	buffer_free(&statement);
	return result;
}

static void append_mark(struct buffer *query, const struct migration *migration, bool dirty,
			const char *who)
{
	/* Bytes as hex: nothing to quote. */
	unsigned char checksum[DIGEST_LENGTH];
	char checksum_hex[2 * DIGEST_LENGTH + 1];
	char who_hex[2 * 255 + 1];
	size_t who_length = strnlen(who, 255);
	digest_of(migration->text, strlen(migration->text), checksum);
	encode_hex(checksum_hex, checksum, DIGEST_LENGTH);
	encode_hex(who_hex, (const unsigned char *)who, who_length);
	buffer_printf(
	    query,
	    "INSERT INTO once_schema (version, file, checksum, dirty, applied_at, applied_by)"
	    " VALUES (%u, '%s', x'%s', %s, UTC_TIMESTAMP(6), x'%s')",
	    migration->version, migration->file, checksum_hex, dirty ? "TRUE" : "FALSE", who_hex);
}

static int mark(struct connection *connection, const struct migration *migration, const char *who,
		struct error *error)
{
	struct buffer query = {0};
	append_mark(&query, migration, true, who);
	int result = change(connection, buffer_text(&query), error);
	buffer_free(&query);
	return result;
}

#define CLEAR_MARK_LENGTH 128

static void write_clear_mark(char query[CLEAR_MARK_LENGTH], const struct migration *migration)
{
	snprintf(query, CLEAR_MARK_LENGTH,
		 "UPDATE once_schema SET dirty = FALSE, applied_at = UTC_TIMESTAMP(6)"
		 " WHERE version = %u",
		 migration->version);
}

static int clear_mark(struct connection *connection, const struct migration *migration,
		      struct error *error)
{
	char query[CLEAR_MARK_LENGTH];
	write_clear_mark(query, migration);
	return change(connection, query, error);
}

/* 1: ours; 0: another one's; -1: *error. */
static int take_lock(struct connection *connection, unsigned wait, struct error *error)
{
	char query[128];
	MYSQL_RES *result = NULL;
	snprintf(query, sizeof(query),
		 "SELECT GET_LOCK(CONCAT('oncewrap-migrate:', DATABASE()), %u)", wait);
	if (run(connection, query, &result, CLOCK_NEVER, error) < 0)
		return -1;
	MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;
	int taken = row != NULL && row[0] != NULL && strcmp(row[0], "1") == 0;
	mysql_free_result(result);
	return taken;
}

static void release_lock(struct connection *connection)
{
	struct error ignored; /* it ends with the connection at the latest */
	unsigned code = connection->code;
	(void)change(connection, "DO RELEASE_LOCK(CONCAT('oncewrap-migrate:', DATABASE()))",
		     &ignored);
	connection->code = code; /* of what was done under the lock: that is what is asked for */
}

static enum schema_result refuse(const struct schema *schema, struct error *error)
{
	for (size_t i = 0; i < schema->count; i++) {
		const struct schema_entry *entry = &schema->entries[i];
		if (entry->status > SCHEMA_PENDING)
			error_set(error, ERROR_INPUT,
				  "migration %u (%s) is %s; see once-migrate(8)", entry->version,
				  entry->file, schema_status_name(entry->status));
	}
	return SCHEMA_REFUSED;
}

static enum schema_result apply_pending(struct connection *connection, const struct schema *schema,
					const char *who,
					void (*applied)(void *, const struct migration *),
					void *context, struct error *error)
{
	for (size_t i = 0; i < schema->count; i++) {
		if (schema->entries[i].status != SCHEMA_PENDING)
			continue;
		const struct migration *migration = known(schema->entries[i].version);
		if (mark(connection, migration, who, error) < 0 ||
		    run_statements(connection, migration, error) < 0 ||
		    clear_mark(connection, migration, error) < 0)
			return SCHEMA_FAILED;
		applied(context, migration);
	}
	return SCHEMA_DONE;
}

/* Make the ledger where there is none yet, and take the lock. SCHEMA_DONE: both, to be ended by
 * release_lock. */
static enum schema_result begin(struct connection *connection, unsigned lock_wait,
				struct error *error)
{
	if (run_statements(connection, known(0), error) < 0)
		return SCHEMA_FAILED;
	int taken = take_lock(connection, lock_wait, error);
	if (taken < 0)
		return SCHEMA_FAILED;
	if (taken == 0) {
		error_set(error, ERROR_STORE, "another once-migrate is at work on this database");
		return SCHEMA_LOCKED;
	}
	return SCHEMA_DONE;
}

enum schema_result schema_up(struct connection *connection, const char *who, unsigned lock_wait,
			     void (*applied)(void *context, const struct migration *migration),
			     void *context, struct error *error)
{
	enum schema_result result = begin(connection, lock_wait, error);
	if (result != SCHEMA_DONE)
		return result;
	struct schema schema;
	result = SCHEMA_FAILED;
	/* Read under the lock: what was pending a moment ago may have been applied by the other. */
	if (schema_read(connection, &schema, CLOCK_NEVER, error) == 0) {
		result = schema_overall(&schema) > SCHEMA_PENDING
			     ? refuse(&schema, error)
			     : apply_pending(connection, &schema, who, applied, context, error);
		schema_free(&schema);
	}
	release_lock(connection);
	return result;
}

void schema_plan(const struct schema *schema, const char *who, struct buffer *out)
{
	bool begun = false;
	for (size_t i = 0; i < schema->count; i++) {
		char cleared[CLEAR_MARK_LENGTH];
		const struct migration *migration = known(schema->entries[i].version);
		if (schema->entries[i].status != SCHEMA_PENDING || migration == NULL)
			continue;
		if (!begun)
			buffer_append_text(out, known(0)->text);
		begun = true;
		buffer_append_text(out, "\n");
		append_mark(out, migration, true, who);
		write_clear_mark(cleared, migration);
		buffer_printf(out, ";\n\n%s\n%s;\n", migration->text, cleared);
	}
}

enum schema_result schema_mark(struct connection *connection, unsigned version, const char *who,
			       unsigned lock_wait, struct error *error)
{
	const struct migration *migration = known(version);
	if (migration == NULL || version == 0) {
		error_set(error, ERROR_INPUT, "this build has no migration %u", version);
		return SCHEMA_REFUSED;
	}
	enum schema_result result = begin(connection, lock_wait, error);
	if (result != SCHEMA_DONE)
		return result;
	struct buffer query = {0};
	append_mark(&query, migration, false, who);
	buffer_append_text(&query,
			   " ON DUPLICATE KEY UPDATE file = VALUES(file),"
			   " checksum = VALUES(checksum), dirty = FALSE,"
			   " applied_at = VALUES(applied_at), applied_by = VALUES(applied_by)");
	if (change(connection, buffer_text(&query), error) < 0)
		result = SCHEMA_FAILED;
	buffer_free(&query);
	release_lock(connection);
	return result;
}
