/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "store/query.h"
#include "store/way.h"

/* Rows fetched at once. */
enum { PAGE = 1000 };

/* Renewals prolong the record's own lease; a closed lease is over whatever the record says. */
#define LEASE                                                                                      \
	"CASE WHEN renewed.lease_until IS NULL THEN once_record.lease_until"                       \
	" WHEN renewed.lease_until = '1970-01-01' THEN renewed.lease_until"                        \
	" ELSE GREATEST(once_record.lease_until, renewed.lease_until) END"

/* Behind the columns of the way. */
static const char columns_text[] =
    ", state, route, tenant, key_text, attempt, " WAY_MS(WAY_NOW) ", " WAY_MS(
	"created_at") ", " WAY_MS("expires_at") ", " WAY_MS("settled_at") ", " WAY_MS(LEASE) ","
											     " " WAY_STALE
											     ", "
											     "owner"
											     "_host"
											     ", "
											     "owner"
											     "_pid,"
											     " stat"
											     "us, "
											     "flags"
											     ", ";

enum column {
	COLUMN_STATE,
	COLUMN_ROUTE,
	COLUMN_TENANT,
	COLUMN_KEY,
	COLUMN_ATTEMPT,
	COLUMN_NOW,
	COLUMN_CREATED,
	COLUMN_EXPIRES,
	COLUMN_SETTLED,
	COLUMN_LEASE,
	COLUMN_STALE,
	COLUMN_HOST,
	COLUMN_PID,
	COLUMN_STATUS,
	COLUMN_FLAGS,
	COLUMN_SIZE,
};

/* What a record is ranked by; bigger comes first. */
static const char *const values[] = {
    [LISTING_BY_AGE] = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', created_at)",
    [LISTING_BY_SIZE] = WAY_SIZE,
    [LISTING_BY_EXPIRY] = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', expires_at)",
};

struct rank {
	int64_t value;
	unsigned char id[DIGEST_LENGTH];
};

/* What a whole listing is at. */
struct listing {
	struct connection *connection;
	const struct listing_filter *filter;
	const struct listing_reader *reader;
	struct way way;
	enum listing_sort sort; /* what they are ranked by; LISTING_AS_FOUND: as they are met */
	uint64_t count;         /* handed on so far */
	bool ended;             /* none wanted, or none left */
	bool more;
	struct rank *ranks; /* the first ones so far, in no order */
	size_t rank_count, rank_capacity;
	struct rank after; /* where filter->after stands */
};

static void fill(const struct query *query, size_t first, struct listing_record *record, int state)
{
	struct query_cell id = query_cell(query, first - 1);
	struct query_cell route = query_cell(query, first + COLUMN_ROUTE);
	struct query_cell tenant = query_cell(query, first + COLUMN_TENANT);
	struct query_cell key = query_cell(query, first + COLUMN_KEY);
	struct query_cell host = query_cell(query, first + COLUMN_HOST);
	*record = (struct listing_record){
	    .state = (enum record_state)state,
	    .route = route.data,
	    .route_length = route.length,
	    .tenant = tenant.data,
	    .tenant_length = tenant.length,
	    .key = key.data,
	    .key_length = key.length,
	    .host = host.data,
	    .host_length = host.length,
	    .attempt = (uint32_t)query_number(query, first + COLUMN_ATTEMPT),
	    .now_ms = query_number(query, first + COLUMN_NOW),
	    .created_ms = query_number(query, first + COLUMN_CREATED),
	    .expires_ms = query_number(query, first + COLUMN_EXPIRES),
	    .settled_ms = query_number(query, first + COLUMN_SETTLED),
	    .lease_ms = query_number(query, first + COLUMN_LEASE),
	    .stale = query_number(query, first + COLUMN_STALE) != 0,
	    .pid = query_number(query, first + COLUMN_PID),
	    .status = (int)query_number(query, first + COLUMN_STATUS),
	    .flags = (unsigned)query_number(query, first + COLUMN_FLAGS),
	    .size = (uint64_t)query_number(query, first + COLUMN_SIZE),
	};
	memcpy(record->id, id.data, DIGEST_LENGTH);
}

static int refuse_row(struct error *error)
{
	error_set(error, ERROR_STORE, "a record is not what this version writes");
	return -1;
}

/* Hand on the row that `query` is at; its columns begin behind `first` others, the last of which is
 * the id. */
static int take_row(struct listing *listing, const struct query *query, size_t first,
		    struct error *error)
{
	struct listing_record record;
	struct query_cell id = query_cell(query, first - 1);
	struct query_cell state = query_cell(query, first + COLUMN_STATE);
	int found = record_state_parse(state.data, state.length);
	if (id.length != DIGEST_LENGTH || found < 0)
		return refuse_row(error);
	fill(query, first, &record, found);
	listing->count++;
	listing->ended = !listing->reader->take(listing->reader->context, &record);
	return 0;
}

static void tell_looked(const struct listing *listing)
{
	if (listing->reader->looked != NULL && listing->way.looked > 0)
		listing->reader->looked(listing->reader->context, listing->way.looked);
}

static void append_columns(const struct listing *listing, struct query *query)
{
	buffer_append_text(&query->text, columns_text);
	buffer_append_text(&query->text, listing->filter->sizes ? WAY_SIZE : "0");
}

/* A page in the way's own order, merged from the parts of the way. The rows' places are found
 * first, from the index alone where that has what the conditions ask for: the server reads the row
 * of each entry that it meets in descending order as soon as anything else is asked of it. */
static void write_page(const struct listing *listing, struct query *query, uint64_t rows)
{
	const struct way *way = &listing->way;
	size_t columns = way_column_count(way);
	const char *separator = " FROM ((SELECT ";
	buffer_append_text(&query->text, "SELECT way_1");
	for (size_t i = 2; i <= columns; i++)
		buffer_printf(&query->text, ", way_%zu", i);
	append_columns(listing, query);
	for (unsigned part = 0; part <= RECORD_EXPIRED; part++) {
		if (!way_has_part(way, (enum record_state)part))
			continue;
		buffer_append_text(&query->text, separator);
		way_append_columns(way, query);
		way_append_from(way, query, (enum record_state)part, false);
		way_append_order(way, query);
		buffer_printf(&query->text, " LIMIT %" PRIu64 ")", rows);
		separator = " UNION ALL (SELECT ";
	}
	way_append_order(way, query);
	buffer_printf(&query->text,
		      " LIMIT %" PRIu64 ") AS page STRAIGHT_JOIN once_record FORCE INDEX (PRIMARY)"
		      " ON once_record.id = way_%zu" WAY_LEASE,
		      rows, columns);
	way_append_order(way, query);
}

static bool is_full(const struct listing *listing)
{
	return listing->filter->limit > 0 && listing->count == listing->filter->limit;
}

static int take_page(struct listing *listing, struct query *query, uint64_t *rows,
		     struct error *error)
{
	if (query_run(query, CLOCK_NEVER, error) < 0)
		return -1;
	for (*rows = 0; !listing->ended && query_next(query, error); (*rows)++) {
		if (is_full(listing)) {
			listing->more = listing->ended = true;
			return 0;
		}
		if (way_place_take(&listing->way, &listing->way.after, query, error) < 0 ||
		    take_row(listing, query, way_column_count(&listing->way), error) < 0)
			return -1;
	}
	return error->kind == ERROR_NONE ? 0 : -1;
}

/* One more than is left to show tells whether there are more. */
static uint64_t page_rows(const struct listing *listing)
{
	uint64_t limit = listing->filter->limit;
	return limit > 0 && limit - listing->count < PAGE ? limit - listing->count + 1 : PAGE;
}

/* Pages up to the end of the stretch. */
static int read_stretch(struct listing *listing, struct query *query, struct error *error)
{
	for (uint64_t rows, wanted; !listing->ended;) {
		wanted = page_rows(listing);
		query_clear(query);
		write_page(listing, query, wanted);
		if (take_page(listing, query, &rows, error) < 0)
			return -1;
		if (rows < wanted)
			break;
	}
	return 0;
}

static int list_as_found(struct listing *listing, struct error *error)
{
	struct way *way = &listing->way;
	struct query query;
	int result = -1;
	query_init(&query, listing->connection);
	if (listing->filter->after != NULL &&
	    way_start_after(way, listing->connection, listing->filter->after, error) < 0)
		goto out;
	do {
		if (way_find_stretch(way, listing->connection, way->states, error) < 0 ||
		    read_stretch(listing, &query, error) < 0)
			goto out;
		tell_looked(listing);
	} while (!listing->ended && way_go_on(way));
	result = 0;
out:
	query_free(&query);
	return result;
}

static int compare_ranks(const void *one, const void *other)
{
	const struct rank *a = one, *b = other;
	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return -memcmp(a->id, b->id, DIGEST_LENGTH);
}

static void sort_ranks(struct listing *listing)
{
	uint64_t limit = listing->filter->limit;
	if (listing->rank_count > 0)
		qsort(listing->ranks, listing->rank_count, sizeof(*listing->ranks), compare_ranks);
	if (limit > 0 && listing->rank_count > limit) {
		listing->rank_count = limit;
		listing->more = true;
	}
}

static int grow_ranks(struct listing *listing, struct error *error)
{
	size_t capacity = listing->rank_capacity == 0 ? PAGE : listing->rank_capacity * 2;
	struct rank *ranks = reallocarray(listing->ranks, capacity, sizeof(*ranks));
	if (ranks == NULL) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return -1;
	}
	listing->ranks = ranks;
	listing->rank_capacity = capacity;
	return 0;
}

static int add_rank(struct listing *listing, const struct query *query, struct error *error)
{
	struct query_cell id = query_cell(query, 0);
	if (id.length != DIGEST_LENGTH)
		return refuse_row(error);
	/* What cannot come among the first ones any more goes when there is no room left. */
	if (listing->rank_count == listing->rank_capacity) {
		sort_ranks(listing);
		if (listing->rank_count * 2 >= listing->rank_capacity &&
		    grow_ranks(listing, error) < 0)
			return -1;
	}
	struct rank *rank = &listing->ranks[listing->rank_count++];
	rank->value = query_number(query, 1);
	memcpy(rank->id, id.data, DIGEST_LENGTH);
	return 0;
}

/* The first ones of a stretch by their rank. */
static void write_ranks(const struct listing *listing, struct query *query, enum record_state part)
{
	const char *value = values[listing->sort];
	uint64_t limit = listing->filter->limit;
	buffer_printf(&query->text, "SELECT id, %s AS value", value);
	way_append_from(&listing->way, query, part, false);
	if (listing->filter->after != NULL) {
		buffer_printf(&query->text, " AND (%s < ? OR (%s = ? AND id < ?))", value, value);
		query_add_number(query, listing->after.value);
		query_add_number(query, listing->after.value);
		query_add_bytes(query, listing->after.id, DIGEST_LENGTH);
	}
	if (limit > 0 && limit < PAGE)
		buffer_printf(&query->text, " ORDER BY value DESC, id DESC LIMIT %" PRIu64,
			      limit + 1);
}

static int rank_stretch(struct listing *listing, struct query *query, enum record_state part,
			struct error *error)
{
	query_clear(query);
	write_ranks(listing, query, part);
	if (query_run(query, CLOCK_NEVER, error) < 0)
		return -1;
	while (query_next(query, error))
		if (add_rank(listing, query, error) < 0)
			return -1;
	return error->kind == ERROR_NONE ? 0 : -1;
}

static int rank_all(struct listing *listing, struct query *query, struct error *error)
{
	struct way *way = &listing->way;
	for (unsigned part = 0; part <= RECORD_EXPIRED; part++) {
		if (!way_has_part(way, (enum record_state)part))
			continue;
		way_restart(way);
		do {
			if (way_find_stretch(way, listing->connection, 1u << part, error) < 0 ||
			    rank_stretch(listing, query, (enum record_state)part, error) < 0)
				return -1;
			tell_looked(listing);
		} while (way_go_on(way));
	}
	sort_ranks(listing);
	return 0;
}

/* Where the record stands that the list is to start after. */
static int find_rank(struct listing *listing, struct query *query, struct error *error)
{
	query_clear(query);
	buffer_printf(&query->text, "SELECT %s FROM once_record WHERE id = ?",
		      values[listing->sort]);
	query_add_bytes(query, listing->filter->after, DIGEST_LENGTH);
	if (query_run(query, CLOCK_NEVER, error) < 0)
		return -1;
	if (!query_next(query, error)) {
		if (error->kind == ERROR_NONE)
			error_set(error, ERROR_INPUT, "the record to start after has gone");
		return -1;
	}
	listing->after.value = query_number(query, 0);
	memcpy(listing->after.id, listing->filter->after, DIGEST_LENGTH);
	return 0;
}

/* The rows of some ranks that follow each other. What no longer meets the conditions is left out.
 */
static void write_ranked(const struct listing *listing, struct query *query, size_t first,
			 size_t count)
{
	buffer_append_text(&query->text, "SELECT id");
	append_columns(listing, query);
	buffer_append_text(&query->text,
			   " FROM once_record FORCE INDEX (PRIMARY)" WAY_LEASE " WHERE id IN (");
	for (size_t i = 0; i < count; i++) {
		buffer_append_text(&query->text, i > 0 ? ", ?" : "?");
		query_add_bytes(query, listing->ranks[first + i].id, DIGEST_LENGTH);
	}
	buffer_append_text(&query->text, ")");
	way_append_filter(&listing->way, query);
	buffer_printf(&query->text, " ORDER BY %s DESC, id DESC", values[listing->sort]);
}

static int list_ranks(struct listing *listing, struct query *query, struct error *error)
{
	for (size_t first = 0; first < listing->rank_count && !listing->ended; first += PAGE) {
		size_t left = listing->rank_count - first;
		query_clear(query);
		write_ranked(listing, query, first, left < PAGE ? left : PAGE);
		if (query_run(query, CLOCK_NEVER, error) < 0)
			return -1;
		while (!listing->ended && query_next(query, error))
			if (take_row(listing, query, 1, error) < 0)
				return -1;
		if (error->kind != ERROR_NONE)
			return -1;
	}
	return 0;
}

static int list_by_rank(struct listing *listing, struct error *error)
{
	struct query query;
	int result = -1;
	query_init(&query, listing->connection);
	if ((listing->filter->after == NULL || find_rank(listing, &query, error) == 0) &&
	    rank_all(listing, &query, error) == 0)
		result = list_ranks(listing, &query, error);
	query_free(&query);
	free(listing->ranks);
	return result;
}

int listing_run(struct connection *connection, const struct listing_filter *filter,
		const struct listing_reader *reader, bool *more, struct error *error)
{
	struct listing listing = {.connection = connection, .filter = filter, .reader = reader};
	way_open(&listing.way, filter, false);
	error->kind = ERROR_NONE;
	/* What this way meets first is no order that anybody wants. */
	listing.sort = listing.way.name == WAY_AGE && filter->sort == LISTING_AS_FOUND
			   ? LISTING_BY_AGE
			   : filter->sort;
	if (listing.sort == way_order_of(&listing.way) && listing.way.name != WAY_AGE)
		listing.sort = LISTING_AS_FOUND;
	int result = listing.sort == LISTING_AS_FOUND ? list_as_found(&listing, error)
						      : list_by_rank(&listing, error);
	*more = listing.more;
	way_free(&listing.way);
	return result;
}
