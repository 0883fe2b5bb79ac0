/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/attention.h"

#include <stdlib.h>
#include <string.h>

#include "store/query.h"
#include "store/way.h"

#define ENTRIES_OF(state)                                                                          \
	"(SELECT id FROM once_record FORCE INDEX (once_record_expiry) WHERE state = '" state       \
	"' ORDER BY expires_at LIMIT ?)"

/* Both states are few, unless something is wrong; the first to expire are the oldest. */
static const char take_text[] =
    "SELECT id, state, flags, attempt, route, tenant, owner_host, key_text, owner_pid,"
    " " WAY_MS(WAY_NOW) ", " WAY_MS("created_at") " FROM (" ENTRIES_OF(
	"unknown") " UNION ALL " ENTRIES_OF("in_flight") ") AS some"
							 " STRAIGHT_JOIN once_record"
							 " USING (id)" WAY_LEASE
							 " WHERE state = 'unknown' OR " WAY_STALE
							 " ORDER BY created_at, id LIMIT ?";

enum column {
	COLUMN_ID,
	COLUMN_STATE,
	COLUMN_FLAGS,
	COLUMN_ATTEMPT,
	COLUMN_ROUTE,
	COLUMN_TENANT,
	COLUMN_HOST,
	COLUMN_KEY,
	COLUMN_PID,
	COLUMN_NOW,
	COLUMN_CREATED,
};

static int out_of_memory(struct error *error)
{
	error_set(error, ERROR_MEMORY, "out of memory");
	return -1;
}

static struct attention_entry *grow(struct attention *attention)
{
	if (attention->count == attention->capacity) {
		size_t capacity = attention->capacity == 0 ? 32 : attention->capacity * 2;
		struct attention_entry *entries =
		    reallocarray(attention->entries, capacity, sizeof(*entries));
		if (entries == NULL)
			return NULL;
		attention->entries = entries;
		attention->capacity = capacity;
	}
	return &attention->entries[attention->count++];
}

static int copy(struct buffer *to, const struct query *query, enum column column)
{
	struct query_cell cell = query_cell(query, column);
	return buffer_append(to, cell.data, cell.length);
}

static int add(struct attention *attention, const struct query *query, struct error *error)
{
	struct query_cell id = query_cell(query, COLUMN_ID);
	struct query_cell state = query_cell(query, COLUMN_STATE);
	struct query_cell key = query_cell(query, COLUMN_KEY);
	int found = record_state_parse(state.data, state.length);
	if (id.length != DIGEST_LENGTH || found < 0) {
		error_set(error, ERROR_STORE, "a record is not what this version writes");
		return -1;
	}
	struct attention_entry *entry = grow(attention);
	if (entry == NULL)
		return out_of_memory(error);
	*entry = (struct attention_entry){
	    .state = (enum record_state)found,
	    .flags = (unsigned)query_number(query, COLUMN_FLAGS),
	    .attempt = (uint32_t)query_number(query, COLUMN_ATTEMPT),
	    .pid = query_number(query, COLUMN_PID),
	    .now_ms = query_number(query, COLUMN_NOW),
	    .created_ms = query_number(query, COLUMN_CREATED),
	};
	memcpy(entry->id, id.data, DIGEST_LENGTH);
	digest_of(key.data, key.length, entry->key_digest);
	if (copy(&entry->route, query, COLUMN_ROUTE) < 0 ||
	    copy(&entry->tenant, query, COLUMN_TENANT) < 0 ||
	    copy(&entry->host, query, COLUMN_HOST) < 0)
		return out_of_memory(error);
	return 0;
}

int attention_take(struct connection *connection, size_t most, int64_t bound, int64_t deadline,
		   struct attention *attention, struct error *error)
{
	struct query query;
	int result = -1;
	query_init(&query, connection);
	if (query_limit_time(&query, deadline, error) < 0)
		goto out;
	buffer_append_text(&query.text, take_text);
	query_add_number(&query, bound);
	query_add_number(&query, bound);
	query_add_number(&query, (int64_t)most + 1);
	if (query_run(&query, deadline, error) < 0)
		goto out;
	while (query_next(&query, error)) {
		attention->more = attention->count == most;
		if (!attention->more && add(attention, &query, error) < 0)
			goto out;
	}
	result = error->kind == ERROR_NONE ? 0 : -1;
out:
	query_free(&query);
	return result;
}

void attention_free(struct attention *attention)
{
	for (size_t i = 0; i < attention->count; i++) {
		buffer_free(&attention->entries[i].route);
		buffer_free(&attention->entries[i].tenant);
		buffer_free(&attention->entries[i].host);
	}
	free(attention->entries);
	*attention = (struct attention){0};
}
