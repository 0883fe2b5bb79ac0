/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/lookup.h"

#include <assert.h>
#include <string.h>

#include "store/query.h"

/* In either table the condition is on the first column of an index. */
static const struct place {
	const char *table, *column;
} places[] = {{"once_record", "id"}, {"once_audit", "record_id"}};

static size_t place_count(enum lookup_where where)
{
	return where == LOOKUP_EVER ? 2 : 1;
}

static void select_from(struct query *query, size_t place)
{
	buffer_printf(&query->text, "%sSELECT %s FROM %s WHERE %s", place > 0 ? " UNION " : "",
		      places[place].column, places[place].table, places[place].column);
}

/* Of the row at hand. 0, or -1 with *error. */
static int take_id(const struct query *query, unsigned char id[DIGEST_LENGTH], struct error *error)
{
	struct query_cell cell = query_cell(query, 0);
	if (cell.data == NULL || cell.length != DIGEST_LENGTH) {
		error_set(error, ERROR_STORE, "a record is not what this version writes");
		return -1;
	}
	memcpy(id, cell.data, DIGEST_LENGTH);
	return 0;
}

int lookup_range(struct connection *connection, enum lookup_where where,
		 const unsigned char first[DIGEST_LENGTH], const unsigned char last[DIGEST_LENGTH],
		 unsigned char (*ids)[DIGEST_LENGTH], size_t most, int64_t deadline,
		 struct error *error)
{
	struct query query;
	int count = 0;
	query_init(&query, connection);
	for (size_t i = 0; i < place_count(where); i++) {
		select_from(&query, i);
		buffer_append_text(&query.text, " BETWEEN ? AND ?");
		query_add_bytes(&query, first, DIGEST_LENGTH);
		query_add_bytes(&query, last, DIGEST_LENGTH);
	}
	buffer_append_text(&query.text, " ORDER BY 1 LIMIT ?");
	query_add_number(&query, (int64_t)most);
	if (query_run(&query, deadline, error) < 0)
		goto fail;
	while (query_next(&query, error)) {
		if (take_id(&query, ids[count], error) < 0)
			goto fail;
		count++;
	}
	if (error->kind != ERROR_NONE)
		goto fail;
	query_free(&query);
	return count;
fail:
	query_free(&query);
	return -1;
}

static void mark(const unsigned char (*ids)[DIGEST_LENGTH], size_t count,
		 const unsigned char id[DIGEST_LENGTH], bool *found)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(ids[i], id, DIGEST_LENGTH) == 0)
			found[i] = true;
}

int lookup_ids(struct connection *connection, enum lookup_where where,
	       const unsigned char (*ids)[DIGEST_LENGTH], size_t count, bool *found,
	       int64_t deadline, struct error *error)
{
	assert(count > 0 && count <= LOOKUP_MOST_IDS);
	struct query query;
	unsigned char id[DIGEST_LENGTH];
	int result = -1;
	query_init(&query, connection);
	for (size_t i = 0; i < place_count(where); i++) {
		select_from(&query, i);
		for (size_t k = 0; k < count; k++) {
			buffer_append_text(&query.text, k > 0 ? ", ?" : " IN (?");
			query_add_bytes(&query, ids[k], DIGEST_LENGTH);
		}
		buffer_append_text(&query.text, ")");
	}
	for (size_t i = 0; i < count; i++)
		found[i] = false;
	if (query_run(&query, deadline, error) < 0)
		goto out;
	while (query_next(&query, error)) {
		if (take_id(&query, id, error) < 0)
			goto out;
		mark(ids, count, id, found);
	}
	result = error->kind == ERROR_NONE ? 0 : -1;
out:
	query_free(&query);
	return result;
}
