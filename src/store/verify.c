/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/verify.h"

#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/query.h"
#include "store/schema.h"
#include "store/sql_file.h"

enum { MOST_TABLES = 16, MOST_LINES = 96, NAME_LENGTH = 65 };

struct table {
	char name[NAME_LENGTH];
	char *real;   /* SHOW CREATE TABLE, owned; NULL: there is no such table */
	bool covered; /* by a temporary one */
};

struct verify {
	struct connection *connection;
	struct query query;
	int64_t deadline;
	struct table tables[MOST_TABLES];
	size_t count;
	void (*found)(void *context, const struct difference *difference);
	void *context;
};

static int run(struct verify *verify, const char *text, struct error *error)
{
	query_clear(&verify->query);
	buffer_append_text(&verify->query.text, text);
	return query_run(&verify->query, verify->deadline, error);
}

/* SHOW CREATE TABLE into *text, owned; NULL when there is none of that name. 0, or -1 with *error.
 */
static int show(struct verify *verify, const char *name, char **text, struct error *error)
{
	char statement[NAME_LENGTH + 32];
	*text = NULL;
	snprintf(statement, sizeof(statement), "SHOW CREATE TABLE `%s`", name);
	if (run(verify, statement, error) < 0)
		return verify->connection->code == ER_NO_SUCH_TABLE ? 0 : -1;
	if (!query_next(&verify->query, error)) {
		if (error->kind == ERROR_NONE)
			error_set(error, ERROR_STORE, "%s: no answer", statement);
		return -1;
	}
	*text = strdup(query_cell(&verify->query, 1).data);
	if (*text != NULL)
		return 0;
	error_set(error, ERROR_MEMORY, "out of memory");
	return -1;
}

static struct table *find_table(struct verify *verify, const char *name)
{
	for (size_t i = 0; i < verify->count; i++)
		if (strcmp(verify->tables[i].name, name) == 0)
			return &verify->tables[i];
	return NULL;
}

/* The name that follows `words` at the start of a statement; false when it is another statement. */
static bool names_table(const char *statement, const char *words, char name[NAME_LENGTH],
			const char **rest)
{
	size_t length = strlen(words);
	if (strncmp(statement, words, length) != 0)
		return false;
	const char *start = statement + length;
	size_t size = strspn(start, "abcdefghijklmnopqrstuvwxyz_0123456789");
	if (size == 0 || size >= NAME_LENGTH)
		return false;
	memcpy(name, start, size);
	name[size] = '\0';
	*rest = start + size;
	return true;
}

static int cover(struct verify *verify, const char *name, const char *rest, struct error *error)
{
	if (verify->count == MOST_TABLES || find_table(verify, name) != NULL) {
		error_set(error, ERROR_LIMIT, "table %s: one more than can be verified", name);
		return -1;
	}
	struct table *table = &verify->tables[verify->count++];
	*table = (struct table){0};
	snprintf(table->name, sizeof(table->name), "%s", name);
	if (show(verify, name, &table->real, error) < 0)
		return -1;
	query_clear(&verify->query);
	buffer_printf(&verify->query.text, "CREATE TEMPORARY TABLE %s%s", name, rest);
	if (query_run(&verify->query, verify->deadline, error) < 0)
		return -1;
	table->covered = true;
	return 0;
}

/* Only what makes or changes a table that is covered by now: nothing else is run. */
static int apply(struct verify *verify, const char *statement, struct error *error)
{
	char name[NAME_LENGTH];
	const char *rest;
	if (names_table(statement, "CREATE TABLE IF NOT EXISTS ", name, &rest))
		return cover(verify, name, rest, error);
	if (!names_table(statement, "ALTER TABLE ", name, &rest))
		return 0;
	const struct table *table = find_table(verify, name);
	return table != NULL && table->covered ? run(verify, statement, error) : 0;
}

static int apply_migrations(struct verify *verify, unsigned version, struct error *error)
{
	struct buffer statement = {0};
	int result = 0;
	for (size_t i = 0; result == 0 && i < migration_count; i++) {
		if (migrations[i].version > version)
			continue;
		struct sql_file file;
		sql_file_init(&file, migrations[i].text);
		while (result == 0 && sql_file_next(&file, &statement) == SQL_FILE_STATEMENT)
			result = apply(verify, buffer_text(&statement), error);
	}
	buffer_free(&statement);
	return result;
}

/* The lines of a SHOW CREATE TABLE between its parentheses, and what stands behind those. The text
 * is cut up. */
struct layout {
	char *lines[MOST_LINES];
	size_t count;
	char *options;
};

static void lay_out(struct layout *layout, char *text)
{
	char *rest;
	*layout = (struct layout){.options = text + strlen(text)};
	(void)strtok_r(text, "\n", &rest); /* CREATE TABLE `name` ( */
	for (char *line; (line = strtok_r(NULL, "\n", &rest)) != NULL;) {
		if (*line == ')') {
			layout->options = line + strspn(line, ") ");
			return;
		}
		line += strspn(line, " ");
		size_t length = strlen(line);
		if (length > 0 && line[length - 1] == ',')
			line[length - 1] = '\0';
		if (layout->count < MOST_LINES)
			layout->lines[layout->count++] = line;
	}
}

/* What a line defines: "`id`", "PRIMARY KEY", "KEY `x`", "CONSTRAINT `x`". */
static size_t length_of_name(const char *line)
{
	if (strncmp(line, "PRIMARY KEY", strlen("PRIMARY KEY")) == 0)
		return strlen("PRIMARY KEY");
	const char *open = strchr(line, '`');
	const char *close = open != NULL ? strchr(open + 1, '`') : NULL;
	return close != NULL ? (size_t)(close + 1 - line) : strlen(line);
}

static const char *find_line(const struct layout *layout, const char *line)
{
	size_t length = length_of_name(line);
	for (size_t i = 0; i < layout->count; i++)
		if (length_of_name(layout->lines[i]) == length &&
		    strncmp(layout->lines[i], line, length) == 0)
			return layout->lines[i];
	return NULL;
}

static void tell(struct verify *verify, const char *table, struct buffer *what, struct buffer *cure)
{
	struct difference difference = {table, buffer_text(what),
					cure->length > 0 ? buffer_text(cure) : NULL};
	verify->found(verify->context, &difference);
	buffer_clear(what);
	buffer_clear(cure);
}

/* "DROP KEY `x`" for "UNIQUE KEY `x` (...)" and so on. */
static void append_drop(struct buffer *out, const char *line)
{
	const char *start = strncmp(line, "UNIQUE ", strlen("UNIQUE ")) == 0 ? line + 7 : line;
	buffer_printf(out, "DROP %.*s", (int)length_of_name(start), start);
}

static void compare_line(struct verify *verify, const char *table, const char *expected,
			 const char *actual)
{
	struct buffer what = {0}, cure = {0};
	bool column = *expected == '`';
	int name = (int)length_of_name(expected);
	if (actual == NULL) {
		buffer_printf(&what, "%s%.*s is missing", column ? "column " : "", name, expected);
		buffer_printf(&cure, "ALTER TABLE %s ADD %s%s", table, column ? "COLUMN " : "",
			      expected);
		tell(verify, table, &what, &cure);
	} else if (strcmp(expected, actual) != 0) {
		buffer_printf(&what, "%s is \"%s\" in place of \"%s\"", column ? "column" : "key",
			      actual, expected);
		buffer_printf(&cure, "ALTER TABLE %s ", table);
		if (column) {
			buffer_printf(&cure, "MODIFY COLUMN %s", expected);
		} else {
			append_drop(&cure, actual);
			buffer_printf(&cure, ", ADD %s", expected);
		}
		tell(verify, table, &what, &cure);
	}
	buffer_free(&what);
	buffer_free(&cure);
}

/* Of what a site has added, this makes a write of ours fail. */
static bool is_in_the_way(const char *line)
{
	if (*line == '`')
		return strstr(line, " NOT NULL") != NULL && strstr(line, " DEFAULT ") == NULL &&
		       strstr(line, " AUTO_INCREMENT") == NULL &&
		       strstr(line, " GENERATED ") == NULL;
	return strncmp(line, "KEY ", strlen("KEY ")) != 0;
}

static void tell_added(struct verify *verify, const char *table, const char *line)
{
	struct buffer what = {0}, cure = {0};
	buffer_printf(&what, "%s%.*s is none of ours, and makes writes fail",
		      *line == '`' ? "column " : "", (int)length_of_name(line), line);
	buffer_printf(&cure, "ALTER TABLE %s ", table);
	const char *compulsory = strstr(line, " NOT NULL");
	if (*line == '`') /* nothing that it holds is lost */
		buffer_printf(&cure, "MODIFY COLUMN %.*s NULL%s", (int)(compulsory - line), line,
			      compulsory + strlen(" NOT NULL"));
	else
		append_drop(&cure, line);
	tell(verify, table, &what, &cure);
	buffer_free(&what);
	buffer_free(&cure);
}

/* Is each word of the one among those of the other? What there is beside them, a counter or what
 * another engine was told, is no difference. */
static bool has_options(const char *options, const char *wanted)
{
	for (size_t length; *wanted != '\0'; wanted += length + strspn(wanted + length, " ")) {
		length = strcspn(wanted, " ");
		const char *place = options;
		while (strncmp(place, wanted, length) != 0 ||
		       (place[length] != ' ' && place[length] != '\0')) {
			place += strcspn(place, " ");
			if (*place == '\0')
				return false;
			place++;
		}
	}
	return true;
}

static void compare(struct verify *verify, const char *table, char *expected, char *actual)
{
	struct layout wanted, had;
	struct buffer what = {0}, cure = {0};
	lay_out(&wanted, expected);
	lay_out(&had, actual);
	for (size_t i = 0; i < wanted.count; i++)
		compare_line(verify, table, wanted.lines[i], find_line(&had, wanted.lines[i]));
	for (size_t i = 0; i < had.count; i++)
		if (find_line(&wanted, had.lines[i]) == NULL && is_in_the_way(had.lines[i]))
			tell_added(verify, table, had.lines[i]);
	if (!has_options(had.options, wanted.options)) {
		buffer_printf(&what, "is \"%s\" in place of \"%s\"", had.options, wanted.options);
		buffer_printf(&cure, "ALTER TABLE %s %s", table, wanted.options);
		tell(verify, table, &what, &cure);
	}
	buffer_free(&what);
	buffer_free(&cure);
}

/* One line of it, so that it can be typed. */
static void append_flat(struct buffer *out, const char *text)
{
	for (; *text != '\0'; text++)
		if (*text != '\n')
			buffer_append_byte(out, (unsigned char)*text);
}

static void compare_table(struct verify *verify, struct table *table, char *expected)
{
	static const char temporary[] = "CREATE TEMPORARY TABLE ", permanent[] = "CREATE TABLE ";
	struct buffer what = {0}, cure = {0};
	if (table->real == NULL) {
		buffer_append_text(&what, "is missing");
		buffer_append_text(&cure, permanent);
		append_flat(&cure, expected + strlen(temporary));
		tell(verify, table->name, &what, &cure);
	} else if (strncmp(table->real, permanent, strlen(permanent)) != 0) {
		buffer_append_text(&what, "is no table");
		tell(verify, table->name, &what, &cure);
	} else {
		compare(verify, table->name, expected, table->real);
	}
	buffer_free(&what);
	buffer_free(&cure);
}

static int compare_tables(struct verify *verify, struct error *error)
{
	int result = 0;
	for (size_t i = 0; result == 0 && i < verify->count; i++) {
		char *expected;
		result = show(verify, verify->tables[i].name, &expected, error);
		if (result == 0)
			compare_table(verify, &verify->tables[i], expected);
		free(expected);
	}
	return result;
}

/* They would hide the real ones from whoever uses the connection next. */
static void uncover(struct verify *verify)
{
	for (size_t i = 0; i < verify->count; i++) {
		struct table *table = &verify->tables[i];
		char statement[NAME_LENGTH + 64];
		struct error ignored;
		snprintf(statement, sizeof(statement), "DROP TEMPORARY TABLE `%s`", table->name);
		if (table->covered && run(verify, statement, &ignored) < 0)
			connection_drop(verify->connection);
		free(table->real);
	}
}

int verify_schema(struct connection *connection, unsigned version,
		  void (*found)(void *context, const struct difference *difference), void *context,
		  int64_t deadline, struct error *error)
{
	struct verify verify = {
	    .connection = connection, .deadline = deadline, .found = found, .context = context};
	query_init(&verify.query, connection);
	int result = apply_migrations(&verify, version, error);
	if (result == 0)
		result = compare_tables(&verify, error);
	unsigned code = connection->code;
	uncover(&verify);
	query_free(&verify.query);
	connection->code = code;
	return result;
}
