/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/census.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/query.h"
#include "store/way.h"

struct count {
	struct connection *connection;
	const struct listing_filter *filter;
	void (*looked)(void *context, uint64_t count);
	void *context;
	struct way way;
	struct census *census;
	bool groups; /* by route and state; else in all */
	bool past;   /* only what is past its retention, and only as that */
	/* Write the statement for a stretch, and take a row of it. */
	void (*write)(const struct count *count, struct query *query, enum record_state part);
	int (*take)(struct census *census, const struct query *query, struct error *error);
};

static void write_total(const struct count *count, struct query *query, enum record_state part)
{
	buffer_append_text(&query->text, "SELECT COUNT(*)");
	way_append_from(&count->way, query, part, false);
}

static int take_total(struct census *census, const struct query *query, struct error *error)
{
	(void)error;
	census->records += (uint64_t)query_number(query, 0);
	return 0;
}

/* What is unknown or released goes by no clock (case C9). */
static bool goes_by_clock(enum record_state state)
{
	return state != RECORD_UNKNOWN && state != RECORD_RELEASED;
}

/* How many of them are past their retention. Along the index by expiry those are a stretch of their
 * own, counted by itself: to ask it of each entry took the server half as long again. */
static const char *expired_of(const struct count *count, enum record_state part)
{
	if (count->way.name != WAY_EXPIRY)
		return "SUM(state NOT IN ('unknown', 'released') AND expires_at <= " WAY_NOW ")";
	if (count->past || (count->filter->expired && goes_by_clock(part)))
		return "COUNT(*)";
	return "0";
}

/* Whether a record is stale is not in the index; only those in flight are looked up for it. */
static void write_groups(const struct count *count, struct query *query, enum record_state part)
{
	bool known = count->way.name == WAY_EXPIRY;
	bool may_be_stale = !known || (part == RECORD_IN_FLIGHT && !count->past);
	buffer_printf(&query->text, "SELECT route, state, %s, %s, %s",
		      count->past ? "0" : "COUNT(*)", expired_of(count, part),
		      may_be_stale ? "SUM" WAY_STALE : "0");
	way_append_from(&count->way, query, part, may_be_stale);
	if (count->past)
		buffer_append_text(&query->text, " AND expires_at <= " WAY_NOW);
	buffer_append_text(&query->text, known ? " GROUP BY route" : " GROUP BY route, state");
}

static int compare(const struct census_entry *one, const struct census_entry *other)
{
	size_t shorter =
	    one->route_length < other->route_length ? one->route_length : other->route_length;
	int order = shorter > 0 ? memcmp(one->route, other->route, shorter) : 0;
	if (order == 0 && one->route_length != other->route_length)
		order = one->route_length < other->route_length ? -1 : 1;
	return order != 0 ? order : (int)one->state - (int)other->state;
}

static int add(struct census *census, const struct census_entry *new, size_t place,
	       struct error *error)
{
	char *route = malloc(new->route_length + 1);
	if (census->count == census->capacity) {
		size_t capacity = census->capacity == 0 ? 32 : census->capacity * 2;
		struct census_entry *entries =
		    reallocarray(census->entries, capacity, sizeof(*entries));
		if (entries != NULL) {
			census->entries = entries;
			census->capacity = capacity;
		}
	}
	if (route == NULL || census->count == census->capacity) {
		free(route);
		error_set(error, ERROR_MEMORY, "out of memory");
		return -1;
	}
	memcpy(route, new->route, new->route_length);
	struct census_entry *entry = &census->entries[place];
	memmove(entry + 1, entry, (census->count - place) * sizeof(*entry));
	*entry = *new;
	entry->route = route;
	census->count++;
	return 0;
}

static int take_group(struct census *census, const struct query *query, struct error *error)
{
	struct query_cell route = query_cell(query, 0), state = query_cell(query, 1);
	int known = record_state_parse(state.data, state.length);
	if (known < 0) {
		error_set(error, ERROR_STORE, "a record is not what this version writes");
		return -1;
	}
	const struct census_entry new = {
	    .route = route.data,
	    .route_length = route.length,
	    .state = (enum record_state)known,
	    .records = (uint64_t)query_number(query, 2),
	    .expired = (uint64_t)query_number(query, 3),
	    .stale = (uint64_t)query_number(query, 4),
	};
	size_t place = 0, end = census->count;
	while (place < end) {
		size_t middle = place + (end - place) / 2;
		if (compare(&census->entries[middle], &new) < 0)
			place = middle + 1;
		else
			end = middle;
	}
	census->records += new.records;
	struct census_entry *entry = &census->entries[place];
	if (place == census->count || compare(entry, &new) != 0)
		return add(census, &new, place, error);
	entry->records += new.records;
	entry->expired += new.expired;
	entry->stale += new.stale;
	return 0;
}

static int count_stretch(struct count *count, struct query *query, enum record_state part,
			 struct error *error)
{
	query_clear(query);
	count->write(count, query, part);
	if (query_run(query, CLOCK_NEVER, error) < 0)
		return -1;
	while (query_next(query, error))
		if (count->take(count->census, query, error) < 0)
			return -1;
	return error->kind == ERROR_NONE ? 0 : -1;
}

static int count_part(struct count *count, struct query *query, enum record_state part,
		      struct error *error)
{
	struct way *way = &count->way;
	way_restart(way);
	do {
		if (way_find_stretch(way, count->connection, 1u << part, error) < 0 ||
		    count_stretch(count, query, part, error) < 0)
			return -1;
		if (count->looked != NULL && way->looked > 0)
			count->looked(count->context, way->looked);
	} while (way_go_on(way));
	return 0;
}

static int count_twice(struct count *count, struct query *query, enum record_state part,
		       struct error *error)
{
	count->past = false;
	int result = count_part(count, query, part, error);
	count->past = count->groups && count->way.name == WAY_EXPIRY && !count->filter->expired &&
		      goes_by_clock(part);
	if (count->past && result == 0)
		result = count_part(count, query, part, error);
	return result;
}

static int run(struct count *count, struct error *error)
{
	struct query query;
	int result = 0;
	*count->census = (struct census){0};
	way_open(&count->way, count->filter, true);
	query_init(&query, count->connection);
	for (unsigned part = 0; part <= RECORD_EXPIRED && result == 0; part++)
		if (way_has_part(&count->way, (enum record_state)part))
			result = count_twice(count, &query, (enum record_state)part, error);
	query_free(&query);
	way_free(&count->way);
	return result;
}

int census_count(struct connection *connection, const struct listing_filter *filter,
		 void (*looked)(void *context, uint64_t count), void *context,
		 struct census *census, struct error *error)
{
	struct count count = {.connection = connection,
			      .filter = filter,
			      .looked = looked,
			      .context = context,
			      .census = census,
			      .write = write_total,
			      .take = take_total};
	return run(&count, error);
}

int census_take(struct connection *connection, const struct listing_filter *filter,
		void (*looked)(void *context, uint64_t count), void *context, struct census *census,
		struct error *error)
{
	struct count count = {.connection = connection,
			      .filter = filter,
			      .looked = looked,
			      .context = context,
			      .census = census,
			      .groups = true,
			      .write = write_groups,
			      .take = take_group};
	return run(&count, error);
}

void census_free(struct census *census)
{
	/* Each is a copy of its own (add). */
	for (size_t i = 0; i < census->count; i++)
		free((char *)(uintptr_t)census->entries[i].route);
	free(census->entries);
	*census = (struct census){0};
}
