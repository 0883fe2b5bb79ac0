/* SPDX-License-Identifier: ISC */
/*
 * A statement that an admin program puts together: text with placeholders and the values for them,
 * prepared, run once, its rows handed on one by one. Values and rows are bytes, numbers and times
 * in the words of the database. Hides Connector/C; knows no table.
 *
 * The statements of the protocol are not made so: statements.h.
 */
#ifndef ONCEWRAP_STORE_QUERY_H
#define ONCEWRAP_STORE_QUERY_H

#include "base/buffer.h"
#include "base/error.h"
#include "store/connection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query {
	struct buffer text; /* to be written by the caller, with a `?` for each value */
	/* private from here */
	struct connection *connection;
	struct query_value *values;
	size_t value_count, value_capacity;
	struct query_column *columns;
	size_t column_count;
	MYSQL_STMT *statement;
	uint64_t rows;
	bool failed; /* out of memory */
};

/* Fit for use as it stands; freed by query_free in any case. Several may be open on one connection:
 * the rows of one are all on this side when the next is run. */
void query_init(struct query *query, struct connection *connection);
void query_free(struct query *query);

/* Empty text and values and forget the result, for the next statement. */
void query_clear(struct query *query);

/* The value of the next `?`. Bytes are borrowed until query_run returns. */
void query_add_bytes(struct query *query, const void *data, size_t length);
void query_add_text(struct query *query, const char *text);
void query_add_number(struct query *query, int64_t number);
void query_add_null(struct query *query);

/* Before anything else is in the text: the server itself is to give up shortly before `deadline`
 * (clock_now milliseconds), for it goes on with what nobody waits for any more. 0, or -1 with
 * *error where no time is left. */
int query_limit_time(struct query *query, int64_t deadline, struct error *error)
    __attribute__((warn_unused_result));

/*
 * Prepare, run, and read the result to its end. 0, or -1 with *error (connection->code has the
 * number). Opens the connection where it is not. Ends by `deadline` (clock_now milliseconds;
 * CLOCK_NEVER: no answer of the server takes longer than the connection's patience), then without
 * the connection: what was under way may have been done all the same. There must be as many values
 * as placeholders.
 */
int query_run(struct query *query, int64_t deadline, struct error *error)
    __attribute__((warn_unused_result));

/* Rows changed by a statement that returns none. */
uint64_t query_changed(const struct query *query);

/* The next row; false after the last, and of a statement that returns none. *error is set where it
 * cannot be read (error->kind not ERROR_NONE then). */
bool query_next(struct query *query, struct error *error);

struct query_cell {
	const char *data; /* NULL: NULL; else with a NUL behind it; valid until the next row */
	size_t length;
};

/* The columns of the row, from 0. */
struct query_cell query_cell(const struct query *query, size_t column);
int64_t query_number(const struct query *query, size_t column); /* 0 for NULL */

/* Begin and end a transaction around several; a rollback that fails has dropped the connection. It
 * leaves connection->code at what it is for. */
int query_begin(struct connection *connection, int64_t deadline, struct error *error)
    __attribute__((warn_unused_result));
int query_commit(struct connection *connection, int64_t deadline, struct error *error)
    __attribute__((warn_unused_result));
void query_rollback(struct connection *connection, int64_t deadline);

#endif
