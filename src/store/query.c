/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/roundtrip.h"
#include "store/trouble.h"

struct query_value {
	const void *data; /* NULL: NULL, or a number */
	unsigned long length;
	int64_t number;
	bool is_number;
};

/* What a column's value finds room in at once; a longer one is fetched by itself. */
enum { ROOM = 64 };

struct query_column {
	char room[ROOM];
	char *longer; /* owned; the value that did not fit */
	unsigned long length;
	my_bool is_null;
};

void query_init(struct query *query, struct connection *connection)
{
	*query = (struct query){.connection = connection};
}

static void forget_result(struct query *query)
{
	if (query->statement != NULL)
		mysql_stmt_close(query->statement);
	query->statement = NULL;
	for (size_t i = 0; i < query->column_count; i++)
		free(query->columns[i].longer);
	free(query->columns);
	query->columns = NULL;
	query->column_count = 0;
}

void query_free(struct query *query)
{
	forget_result(query);
	free(query->values);
	buffer_free(&query->text);
	*query = (struct query){.connection = query->connection};
}

void query_clear(struct query *query)
{
	forget_result(query);
	buffer_clear(&query->text);
	query->value_count = 0;
	query->rows = 0;
	query->failed = false;
}

/* A client that stops listening cannot tell a slow statement from a server that has gone. */
enum { RESERVE = 100 };

int query_limit_time(struct query *query, int64_t deadline, struct error *error)
{
	int64_t time = deadline - clock_now() - RESERVE;
	if (time <= 0) {
		error_set(error, ERROR_STORE, "no time is left to ask the database");
		return -1;
	}
	buffer_printf(&query->text,
		      "SET STATEMENT max_statement_time = %" PRId64 ".%03" PRId64 " FOR ",
		      time / 1000, time % 1000);
	return 0;
}

static void add(struct query *query, struct query_value value)
{
	if (query->value_count == query->value_capacity) {
		size_t capacity = query->value_capacity == 0 ? 16 : query->value_capacity * 2;
		struct query_value *values = reallocarray(query->values, capacity, sizeof(*values));
		if (values == NULL) {
			query->failed = true;
			return;
		}
		query->values = values;
		query->value_capacity = capacity;
	}
	query->values[query->value_count++] = value;
}

void query_add_bytes(struct query *query, const void *data, size_t length)
{
	/* A value of no length is not NULL, whatever the caller's pointer is. */
	add(query,
	    (struct query_value){.data = length == 0 ? "" : data, .length = (unsigned long)length});
}

void query_add_text(struct query *query, const char *text)
{
	query_add_bytes(query, text, strlen(text));
}

void query_add_number(struct query *query, int64_t number)
{
	add(query, (struct query_value){.number = number, .is_number = true});
}

void query_add_null(struct query *query)
{
	add(query, (struct query_value){0});
}

static int out_of_memory(struct error *error)
{
	error_set(error, ERROR_MEMORY, "out of memory");
	return -1;
}

/* A result that has arrived cannot be taken from Connector/C. */
static int refuse(struct query *query, struct error *error)
{
	query->connection->code = mysql_stmt_errno(query->statement);
	trouble_describe(error, query->connection->code, mysql_stmt_error(query->statement));
	forget_result(query);
	return -1;
}

static MYSQL_BIND bind_of(struct query_value *value)
{
	if (value->is_number)
		return (MYSQL_BIND){.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &value->number};
	if (value->data == NULL)
		return (MYSQL_BIND){.buffer_type = MYSQL_TYPE_NULL};
	return (MYSQL_BIND){.buffer_type = MYSQL_TYPE_BLOB,
			    .buffer = (void *)(uintptr_t)value->data,
			    .buffer_length = value->length,
			    .length = &value->length};
}

/* The values as Connector/C wants them, which has to be freed; NULL when out of memory. */
static MYSQL_BIND *bind_values(struct query *query, size_t *size)
{
	MYSQL_BIND *binds = calloc(query->value_count + 1, sizeof(*binds));
	*size = query->text.length;
	for (size_t i = 0; binds != NULL && i < query->value_count; i++) {
		binds[i] = bind_of(&query->values[i]);
		*size += query->values[i].length;
	}
	return binds;
}

static int execute(struct query *query, int64_t deadline, struct error *error)
{
	struct roundtrip roundtrip = {
	    .connection = query->connection,
	    .goal = ROUNDTRIP_ONCE,
	    .query = buffer_text(&query->text),
	    .bind_count = query->value_count,
	};
	roundtrip.binds = bind_values(query, &roundtrip.bind_size);
	if (roundtrip.binds == NULL)
		return out_of_memory(error);
	enum roundtrip_state state = roundtrip_run(&roundtrip, deadline);
	free(roundtrip.binds);
	query->statement = roundtrip.once;
	if (state == ROUNDTRIP_DONE)
		return 0;
	*error = roundtrip.error;
	forget_result(query);
	return -1;
}

/* Every column as bytes, in the database's words. */
static int bind_columns(struct query *query, struct error *error)
{
	size_t count = mysql_stmt_field_count(query->statement);
	query->columns = calloc(count + 1, sizeof(*query->columns));
	MYSQL_BIND *binds = calloc(count + 1, sizeof(*binds));
	if (query->columns == NULL || binds == NULL) {
		free(binds);
		return out_of_memory(error);
	}
	query->column_count = count;
	for (size_t i = 0; i < count; i++) {
		struct query_column *column = &query->columns[i];
		binds[i] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_STRING,
					.buffer = column->room,
					.buffer_length = ROOM - 1,
					.length = &column->length,
					.is_null = &column->is_null};
	}
	bool failed = count > 0 && mysql_stmt_bind_result(query->statement, binds) != 0;
	free(binds);
	return failed ? refuse(query, error) : 0;
}

int query_run(struct query *query, int64_t deadline, struct error *error)
{
	forget_result(query);
	query->rows = 0;
	query->connection->code = 0;
	if (query->failed || query->text.failed)
		return out_of_memory(error);
	if (execute(query, deadline, error) < 0)
		return -1;
	query->rows = mysql_stmt_affected_rows(query->statement);
	return bind_columns(query, error);
}

uint64_t query_changed(const struct query *query)
{
	return query->rows;
}

static int fetch_longer(struct query *query, size_t index, struct error *error)
{
	struct query_column *column = &query->columns[index];
	free(column->longer);
	column->longer = malloc(column->length + 1);
	if (column->longer == NULL)
		return out_of_memory(error);
	MYSQL_BIND bind = {.buffer_type = MYSQL_TYPE_STRING,
			   .buffer = column->longer,
			   .buffer_length = column->length,
			   .length = &column->length};
	if (mysql_stmt_fetch_column(query->statement, &bind, (unsigned)index, 0) != 0)
		return refuse(query, error);
	column->longer[column->length] = '\0';
	return 0;
}

static int complete_columns(struct query *query, struct error *error)
{
	for (size_t i = 0; i < query->column_count; i++) {
		struct query_column *column = &query->columns[i];
		if (column->is_null)
			continue;
		if (column->length < ROOM)
			column->room[column->length] = '\0';
		else if (fetch_longer(query, i, error) < 0)
			return -1;
	}
	return 0;
}

bool query_next(struct query *query, struct error *error)
{
	error->kind = ERROR_NONE;
	if (query->statement == NULL || query->column_count == 0)
		return false;
	/* Connector/C forgets the connection in its statements when that is given up, and then
	 * reads from nowhere. */
	if (query->statement->mysql == NULL) {
		error_set(error, ERROR_STORE, "the connection was given up within a result");
		forget_result(query);
		return false;
	}
	switch (mysql_stmt_fetch(query->statement)) {
	case 0:
	case MYSQL_DATA_TRUNCATED:
		return complete_columns(query, error) == 0;
	case MYSQL_NO_DATA:
		return false;
	default:
		refuse(query, error);
		return false;
	}
}

struct query_cell query_cell(const struct query *query, size_t column)
{
	const struct query_column *found = &query->columns[column];
	if (found->is_null)
		return (struct query_cell){0};
	return (struct query_cell){found->length < ROOM ? found->room : found->longer,
				   found->length};
}

int64_t query_number(const struct query *query, size_t column)
{
	struct query_cell cell = query_cell(query, column);
	return cell.data != NULL ? strtoll(cell.data, NULL, 10) : 0;
}

static int say(struct connection *connection, const char *text, int64_t deadline,
	       struct error *error)
{
	struct roundtrip roundtrip = {
	    .connection = connection, .goal = ROUNDTRIP_QUERY, .query = text};
	if (roundtrip_run(&roundtrip, deadline) == ROUNDTRIP_DONE)
		return 0;
	*error = roundtrip.error;
	return -1;
}

int query_begin(struct connection *connection, int64_t deadline, struct error *error)
{
	return say(connection, "START TRANSACTION", deadline, error);
}

int query_commit(struct connection *connection, int64_t deadline, struct error *error)
{
	return say(connection, "COMMIT", deadline, error);
}

void query_rollback(struct connection *connection, int64_t deadline)
{
	struct error ignored;
	unsigned code = connection->code;
	if (connection->open && say(connection, "ROLLBACK", deadline, &ignored) < 0)
		connection_drop(connection);
	connection->code = code;
}
