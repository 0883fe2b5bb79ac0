/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/stale.h"

#include <stdlib.h>
#include <string.h>

#include "store/query.h"

#define NOW "UTC_TIMESTAMP(6)"

/* Few are in flight among many, and an index has those together. */
static const char find_text[] = "SELECT id FROM once_record LEFT JOIN once_lease AS renewed"
				" ON renewed.token = once_record.token"
				" WHERE state = 'in_flight' AND once_record.lease_until <= " NOW
				" AND COALESCE(renewed.lease_until <= " NOW ", TRUE)"
				" AND created_at <= " NOW " - INTERVAL ? MICROSECOND"
				" ORDER BY once_record.lease_until, id";

static int add(struct stale_list *list, struct query_cell id, struct error *error)
{
	if (id.length != DIGEST_LENGTH) {
		error_set(error, ERROR_STORE, "a record is not what this version writes");
		return -1;
	}
	if (list->count == list->capacity) {
		size_t capacity = list->capacity == 0 ? 64 : list->capacity * 2;
		void *ids = reallocarray(list->ids, capacity, DIGEST_LENGTH);
		if (ids == NULL) {
			error_set(error, ERROR_MEMORY, "out of memory");
			return -1;
		}
		list->ids = ids;
		list->capacity = capacity;
	}
	memcpy(list->ids[list->count++], id.data, DIGEST_LENGTH);
	return 0;
}

int stale_find(struct connection *connection, int64_t older, struct stale_list *list,
	       int64_t deadline, struct error *error)
{
	struct query query;
	int result = -1;
	query_init(&query, connection);
	buffer_append_text(&query.text, find_text);
	query_add_number(&query, older * 1000);
	if (query_run(&query, deadline, error) < 0)
		goto out;
	while (query_next(&query, error))
		if (add(list, query_cell(&query, 0), error) < 0)
			goto out;
	result = error->kind == ERROR_NONE ? 0 : -1;
out:
	query_free(&query);
	return result;
}

void stale_free(struct stale_list *list)
{
	free(list->ids);
	*list = (struct stale_list){0};
}
