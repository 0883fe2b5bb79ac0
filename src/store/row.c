/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/row.h"

#include <string.h>

enum column {
	COLUMN_TOKEN,
	COLUMN_STATE,
	COLUMN_ATTEMPT,
	COLUMN_FINGERPRINT,
	COLUMN_SCHEME,
	COLUMN_PARTS,
	COLUMN_EXPIRED_FOR,
	COLUMN_LAPSED,
	COLUMN_CREATED,
	COLUMN_SETTLED,
	COLUMN_STATUS,
	COLUMN_FLAGS,
	COLUMN_REFERENCE,
	COLUMN_HEADERS,
	COLUMN_BODY,
};

#define COLUMN_COUNT (COLUMN_BODY + 1)

enum { STATE_WIDTH = 16 };

/* Where Connector/C puts a record's columns. */
struct row {
	unsigned char token[TOKEN_LENGTH];
	char state[STATE_WIDTH];
	uint32_t attempt;
	unsigned char fingerprint[DIGEST_LENGTH];
	char scheme[RECORD_SCHEME_LENGTH];
	unsigned char parts[RECORD_PARTS_LENGTH];
	int64_t expired_for;
	int8_t lapsed;
	int64_t created_ms;
	int64_t settled_ms;
	int32_t status;
	uint32_t flags;
	unsigned long lengths[COLUMN_COUNT];
	my_bool nulls[COLUMN_COUNT];
};

#define BYTES(place)                                                                               \
	{                                                                                          \
		.buffer_type = MYSQL_TYPE_BLOB, .buffer = (place), .buffer_length = sizeof(place)  \
	}
#define NUMBER(type, place)                                                                        \
	{                                                                                          \
		.buffer_type = (type), .buffer = &(place), .buffer_length = sizeof(place)          \
	}

/* After each execution anew: not every server names the columns of a RETURNING before the first,
 * and Connector/C forgets the binds when it hears the names. */
static int bind_record(struct row *row, MYSQL_STMT *statement)
{
	MYSQL_BIND binds[COLUMN_COUNT] = {
	    [COLUMN_TOKEN] = BYTES(row->token),
	    [COLUMN_STATE] = BYTES(row->state),
	    [COLUMN_ATTEMPT] = NUMBER(MYSQL_TYPE_LONG, row->attempt),
	    [COLUMN_FINGERPRINT] = BYTES(row->fingerprint),
	    [COLUMN_SCHEME] = BYTES(row->scheme),
	    [COLUMN_PARTS] = BYTES(row->parts),
	    [COLUMN_EXPIRED_FOR] = NUMBER(MYSQL_TYPE_LONGLONG, row->expired_for),
	    [COLUMN_LAPSED] = NUMBER(MYSQL_TYPE_TINY, row->lapsed),
	    [COLUMN_CREATED] = NUMBER(MYSQL_TYPE_LONGLONG, row->created_ms),
	    [COLUMN_SETTLED] = NUMBER(MYSQL_TYPE_LONGLONG, row->settled_ms),
	    [COLUMN_STATUS] = NUMBER(MYSQL_TYPE_LONG, row->status),
	    [COLUMN_FLAGS] = NUMBER(MYSQL_TYPE_LONG, row->flags),
	    /* length unknown: bound to nothing, fetched by itself */
	    [COLUMN_REFERENCE] = {.buffer_type = MYSQL_TYPE_BLOB},
	    [COLUMN_HEADERS] = {.buffer_type = MYSQL_TYPE_BLOB},
	    [COLUMN_BODY] = {.buffer_type = MYSQL_TYPE_BLOB},
	};
	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		binds[i].length = &row->lengths[i];
		binds[i].is_null = &row->nulls[i];
	}
	return mysql_stmt_bind_result(statement, binds) == 0 ? 0 : -1;
}

static int damaged(struct error *error, const char *column)
{
	error_set(error, ERROR_STORE, "a record's %s is not what this version writes", column);
	return -1;
}

static enum row_result fetch(MYSQL_STMT *statement, int bound, struct error *error)
{
	switch (bound < 0 ? 1 : mysql_stmt_fetch(statement)) {
	case 0:
	case MYSQL_DATA_TRUNCATED: /* the blobs, always */
		return ROW_FETCHED;
	case MYSQL_NO_DATA:
		return ROW_NONE;
	default:
		error_set(error, ERROR_STORE, "cannot read the row: %s",
			  mysql_stmt_error(statement));
		return ROW_FAILED;
	}
}

static int fetch_blob(const struct row *row, MYSQL_STMT *statement, enum column column,
		      struct buffer *out, struct error *error)
{
	unsigned long length = row->nulls[column] ? 0 : row->lengths[column];
	if (length == 0)
		return 0;
	unsigned char *place = buffer_reserve(out, length);
	if (place == NULL) {
		error_set(error, ERROR_MEMORY, "no memory for a stored answer of %lu bytes",
			  length);
		return -1;
	}
	MYSQL_BIND bind = {
	    .buffer_type = MYSQL_TYPE_BLOB,
	    .buffer = place,
	    .buffer_length = length,
	    .length = &length,
	};
	if (mysql_stmt_fetch_column(statement, &bind, column, 0) != 0) {
		error_set(error, ERROR_STORE, "cannot read the answer: %s",
			  mysql_stmt_error(statement));
		return -1;
	}
	out->length += bind.buffer_length;
	return 0;
}

static int take_state(const char *name, unsigned long length, enum record_state *state,
		      struct error *error)
{
	int parsed = length <= STATE_WIDTH ? record_state_parse(name, length) : -1;
	if (parsed < 0)
		return damaged(error, "state");
	*state = (enum record_state)parsed;
	return 0;
}

/* The columns of fixed size. */
static int fill(const struct row *row, struct record *record, struct error *error)
{
	if (row->lengths[COLUMN_TOKEN] != TOKEN_LENGTH)
		return damaged(error, "token");
	if (row->lengths[COLUMN_FINGERPRINT] != DIGEST_LENGTH)
		return damaged(error, "fingerprint");
	if (row->lengths[COLUMN_SCHEME] >= RECORD_SCHEME_LENGTH)
		return damaged(error, "fingerprint_scheme");
	if (row->lengths[COLUMN_PARTS] > RECORD_PARTS_LENGTH)
		return damaged(error, "part_digests");
	if (take_state(row->state, row->lengths[COLUMN_STATE], &record->state, error) < 0)
		return -1;
	memcpy(record->token, row->token, TOKEN_LENGTH);
	memcpy(record->fingerprint, row->fingerprint, DIGEST_LENGTH);
	memcpy(record->scheme, row->scheme, row->lengths[COLUMN_SCHEME]);
	record->scheme[row->lengths[COLUMN_SCHEME]] = '\0';
	memcpy(record->parts, row->parts, row->lengths[COLUMN_PARTS]);
	record->parts_length = row->lengths[COLUMN_PARTS];
	record->attempt = row->attempt;
	record->expired = !row->nulls[COLUMN_EXPIRED_FOR];
	record->expired_for = record->expired ? row->expired_for : 0;
	record->lapsed = row->lapsed != 0;
	record->created_ms = row->created_ms;
	record->settled_ms = row->nulls[COLUMN_SETTLED] ? 0 : row->settled_ms;
	record->status = row->nulls[COLUMN_STATUS] ? 0 : row->status;
	record->flags = row->flags;
	return 0;
}

enum row_result row_fetch_record(MYSQL_STMT *statement, struct record *record, struct error *error)
{
	struct row row;
	record_free(record);
	enum row_result result = fetch(statement, bind_record(&row, statement), error);
	if (result == ROW_FETCHED &&
	    (fill(&row, record, error) < 0 ||
	     fetch_blob(&row, statement, COLUMN_REFERENCE, &record->reference, error) < 0 ||
	     fetch_blob(&row, statement, COLUMN_HEADERS, &record->headers, error) < 0 ||
	     fetch_blob(&row, statement, COLUMN_BODY, &record->body, error) < 0)) {
		record_free(record);
		result = ROW_FAILED;
	}
	mysql_stmt_free_result(statement);
	return result;
}

/* Of fixed sizes all of them: `count` binds of a few columns, fetched at once. */
static enum row_result fetch_few(MYSQL_STMT *statement, MYSQL_BIND *binds, unsigned long *lengths,
				 my_bool *nulls, size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		binds[i].length = &lengths[i];
		binds[i].is_null = &nulls[i];
	}
	int bound = mysql_stmt_bind_result(statement, binds) == 0 ? 0 : -1;
	enum row_result result = fetch(statement, bound, error);
	mysql_stmt_free_result(statement);
	return result;
}

enum row_result row_fetch_glance(MYSQL_STMT *statement, struct store_glance *glance,
				 struct error *error)
{
	char state[STATE_WIDTH];
	int8_t lapsed = 0, here = 0;
	MYSQL_BIND binds[] = {
	    BYTES(glance->token),
	    BYTES(state),
	    NUMBER(MYSQL_TYPE_TINY, lapsed),
	    NUMBER(MYSQL_TYPE_TINY, here),
	};
	unsigned long lengths[4];
	my_bool nulls[4];
	enum row_result result = fetch_few(statement, binds, lengths, nulls, 4, error);
	if (result == ROW_FETCHED && take_state(state, lengths[1], &glance->state, error) < 0)
		return ROW_FAILED;
	glance->lapsed = lapsed != 0;
	glance->here = here != 0;
	return result;
}

enum row_result row_fetch_lease(MYSQL_STMT *statement, bool *closed, struct error *error)
{
	int8_t value = 0;
	MYSQL_BIND bind = NUMBER(MYSQL_TYPE_TINY, value);
	int bound = mysql_stmt_bind_result(statement, &bind) == 0 ? 0 : -1;
	enum row_result result = fetch(statement, bound, error);
	*closed = value != 0;
	mysql_stmt_free_result(statement);
	return result;
}

enum row_result row_fetch_holder(MYSQL_STMT *statement, struct store_natural_holder *holder,
				 struct error *error)
{
	*holder = (struct store_natural_holder){0};
	char location[STORE_LOCATION_LENGTH];
	int8_t over = 0;
	int64_t settled_ms = 0;
	MYSQL_BIND binds[] = {
	    BYTES(holder->record),
	    BYTES(holder->token),
	    NUMBER(MYSQL_TYPE_TINY, over),
	    NUMBER(MYSQL_TYPE_LONGLONG, settled_ms),
	    BYTES(location),
	};
	unsigned long lengths[5];
	my_bool nulls[5];
	enum row_result result = fetch_few(statement, binds, lengths, nulls, 5, error);
	if (result != ROW_FETCHED)
		return result;
	holder->over = over != 0;
	holder->settled_ms = nulls[3] ? 0 : settled_ms;
	size_t length = nulls[4] ? 0 : lengths[4];
	if (length > sizeof(location)) {
		(void)damaged(error, "location");
		return ROW_FAILED;
	}
	if (buffer_append(&holder->location, location, length) < 0) {
		error_set(error, ERROR_MEMORY, "no memory for a stored location");
		return ROW_FAILED;
	}
	return ROW_FETCHED;
}
