/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/stale.h"

#include <stdlib.h>
#include <string.h>

#include "store/query.h"
#include "store/record.h"

#define NOW "UTC_TIMESTAMP(6)"

/* Few are in flight among many, and this index has those together; a tenant may have millions. */
static const char find_text[] =
    "SELECT id, flags FROM once_record FORCE INDEX (once_record_expiry)"
    " LEFT JOIN once_lease AS renewed ON renewed.token = once_record.token"
    " WHERE state = 'in_flight' AND once_record.lease_until <= " NOW
    " AND COALESCE(renewed.lease_until <= " NOW ", TRUE)";

static void write(struct query *query, const struct stale_filter *filter)
{
	buffer_append_text(&query->text, find_text);
	if (filter->route != NULL) {
		buffer_append_text(&query->text, " AND route = ?");
		query_add_text(query, filter->route);
	}
	if (filter->tenant != NULL) {
		buffer_append_text(&query->text, " AND tenant = ?");
		query_add_text(query, filter->tenant);
	}
	if (filter->older > 0) {
		buffer_append_text(&query->text,
				   " AND created_at <= " NOW " - INTERVAL ? MICROSECOND");
		query_add_number(query, filter->older * 1000);
	}
	buffer_append_text(&query->text, " ORDER BY once_record.lease_until, id");
}

static int add(struct stale_list *list, const struct query *query, struct error *error)
{
	struct query_cell id = query_cell(query, 0);
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
	list->unsure += (query_number(query, 1) & RECORD_LAPSE_UNKNOWN) != 0;
	return 0;
}

int stale_find(struct connection *connection, const struct stale_filter *filter,
	       struct stale_list *list, int64_t deadline, struct error *error)
{
	struct query query;
	int result = -1;
	query_init(&query, connection);
	write(&query, filter);
	if (query_run(&query, deadline, error) < 0)
		goto out;
	while (query_next(&query, error))
		if (add(list, &query, error) < 0)
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
