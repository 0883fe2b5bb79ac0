/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/way.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"

#define MOMENT "CAST(? AS DATETIME(6))"

static const struct kind {
	const char *index;
	struct {
		const char *name, *value;
	} columns[WAY_MOST_COLUMNS];
	size_t column_count;
	bool descending;
	enum listing_sort order;
	unsigned stretch;
} kinds[] = {
    [WAY_EXPIRY] = {"once_record_expiry",
		    {{"expires_at", MOMENT}, {"id", "?"}},
		    2,
		    true,
		    LISTING_BY_EXPIRY,
		    WAY_STRETCH},
    [WAY_TENANT] = {"once_record_tenant",
		    {{"created_at", MOMENT}, {"id", "?"}},
		    2,
		    true,
		    LISTING_BY_AGE,
		    WAY_STRETCH},
    [WAY_KEY] = {"once_record_key",
		 {{"key_text", "?"}, {"id", "?"}},
		 2,
		 false,
		 LISTING_AS_FOUND,
		 WAY_STRETCH},
    [WAY_AGE] = {"once_record_tenant",
		 {{"tenant", "?"}, {"created_at", MOMENT}, {"id", "?"}},
		 3,
		 false,
		 LISTING_AS_FOUND,
		 WAY_STRETCH},
    [WAY_TABLE] = {"PRIMARY", {{"id", "?"}}, 1, false, LISTING_AS_FOUND, WAY_STRETCH_TABLE},
};

#define BIT(state) (1u << (state))
#define ALL_STATES (BIT(RECORD_EXPIRED + 1) - 1)
/* Of these there are few, or something is wrong. */
#define FEW_STATES (BIT(RECORD_IN_FLIGHT) | BIT(RECORD_UNKNOWN) | BIT(RECORD_RELEASED))
/* What happened is not known, or a checkpoint is kept: such a record goes by no clock (case C9). */
#define EVER_STATES (BIT(RECORD_UNKNOWN) | BIT(RECORD_RELEASED))

static bool by_age(const struct listing_filter *filter)
{
	return filter->older > 0 || filter->younger > 0;
}

/* No condition but on what the way's index has in its first columns. */
static bool unconditional(const struct listing_filter *filter)
{
	return filter->states == 0 && filter->route == NULL && filter->tenant == NULL &&
	       filter->key_prefix == NULL && !by_age(filter) && !filter->stale && !filter->expired;
}

static enum way_name choose(const struct listing_filter *filter, unsigned states, bool whole)
{
	if ((states & ~FEW_STATES) == 0)
		return WAY_EXPIRY;
	if (filter->key_prefix != NULL)
		return WAY_KEY;
	if (filter->tenant != NULL)
		return WAY_TENANT;
	if (filter->expired || filter->sort == LISTING_BY_EXPIRY)
		return WAY_EXPIRY;
	if (by_age(filter) || filter->sort == LISTING_BY_AGE)
		return WAY_AGE;
	if (unconditional(filter) &&
	    (filter->sort == LISTING_BY_SIZE || (!whole && filter->limit == 0)))
		return WAY_TABLE;
	return WAY_EXPIRY;
}

/* Is there a condition that the way's index leaves to be held against each row? */
static bool leaves_rows_out(const struct way *way)
{
	const struct listing_filter *filter = way->filter;
	bool others = filter->route != NULL || filter->stale;
	switch (way->name) {
	case WAY_EXPIRY:
		return others || filter->tenant != NULL || filter->key_prefix != NULL ||
		       by_age(filter);
	case WAY_TENANT:
		return others || filter->states != 0 || filter->key_prefix != NULL ||
		       filter->expired;
	case WAY_KEY:
		return others || filter->states != 0 || filter->tenant != NULL || filter->expired ||
		       by_age(filter);
	case WAY_AGE:
		return true;
	case WAY_TABLE:
		break;
	}
	return false;
}

void way_open(struct way *way, const struct listing_filter *filter, bool whole)
{
	unsigned states = filter->states != 0 ? filter->states : ALL_STATES;
	if (filter->stale)
		states &= BIT(RECORD_IN_FLIGHT);
	if (filter->expired)
		states &= ~EVER_STATES;
	*way = (struct way){.filter = filter, .states = states};
	way->name = choose(filter, states, whole);
	way->in_stretches = leaves_rows_out(way) ||
			    (filter->sort != LISTING_AS_FOUND && filter->sort != way_order_of(way));
}

static void place_clear(struct way_place *place)
{
	place->set = false;
	for (size_t i = 0; i < WAY_MOST_COLUMNS; i++)
		buffer_clear(&place->parts[i]);
}

static void place_free(struct way_place *place)
{
	place->set = false;
	for (size_t i = 0; i < WAY_MOST_COLUMNS; i++)
		buffer_free(&place->parts[i]);
}

void way_free(struct way *way)
{
	place_free(&way->after);
	place_free(&way->upto);
}

enum listing_sort way_order_of(const struct way *way)
{
	return kinds[way->name].order;
}

size_t way_column_count(const struct way *way)
{
	return kinds[way->name].column_count;
}

void way_append_columns(const struct way *way, struct query *query)
{
	const struct kind *kind = &kinds[way->name];
	for (size_t i = 0; i < kind->column_count; i++)
		buffer_printf(&query->text, "%s%s AS way_%zu", i > 0 ? ", " : "",
			      kind->columns[i].name, i + 1);
}

void way_append_order(const struct way *way, struct query *query)
{
	const struct kind *kind = &kinds[way->name];
	for (size_t i = 0; i < kind->column_count; i++)
		buffer_printf(&query->text, "%s%zu%s", i > 0 ? ", " : " ORDER BY ", i + 1,
			      kind->descending ? " DESC" : "");
}

/*
 * Rows before or behind a place: a = ? AND b > ? OR a > ?, for as many columns as there are; the
 * form from which the optimizer finds the stretch of the index, which it does not from a comparison
 * of pairs.
 */
static void append_side(const struct way *way, struct query *query, const struct way_place *place,
			char side, bool inclusive)
{
	const struct kind *kind = &kinds[way->name];
	for (size_t last = kind->column_count; last-- > 0;) {
		buffer_append_text(&query->text,
				   last + 1 == kind->column_count ? " AND ((" : " OR (");
		for (size_t i = 0; i <= last; i++) {
			bool equal = inclusive && last + 1 == kind->column_count;
			if (i < last)
				buffer_printf(&query->text, "%s = %s AND ", kind->columns[i].name,
					      kind->columns[i].value);
			else
				buffer_printf(&query->text, "%s %c%s %s)", kind->columns[i].name,
					      side, equal ? "=" : "", kind->columns[i].value);
			query_add_bytes(query, place->parts[i].data, place->parts[i].length);
		}
	}
	buffer_append_byte(&query->text, ')');
}

/* The least text that no longer begins with the prefix: its last byte that can be counted up is,
 * and what follows that goes. Its length; 0: there is none. */
static size_t append_end_of_prefix(struct buffer *end, const char *prefix)
{
	buffer_append_text(end, prefix);
	while (end->length > 0 && end->data[end->length - 1] == 0xff)
		end->length--;
	if (end->length > 0)
		end->data[end->length - 1]++;
	return end->length;
}

/* Values are borrowed until the statement runs: the end of the prefix is put into the text, as
 * digits, so that there is nothing to quote. */
static void append_key_prefix(struct query *query, const char *prefix)
{
	struct buffer end = {0};
	buffer_append_text(&query->text, " AND key_text >= ?");
	query_add_text(query, prefix);
	if (append_end_of_prefix(&end, prefix) > 0) {
		buffer_append_text(&query->text, " AND key_text < x'");
		for (size_t i = 0; i < end.length; i++)
			buffer_printf(&query->text, "%02x", end.data[i]);
		buffer_append_text(&query->text, "'");
	}
	query->text.failed = query->text.failed || end.failed;
	buffer_free(&end);
}

static void append_span(struct query *query, const char *comparison, int64_t milliseconds)
{
	if (milliseconds == 0)
		return;
	buffer_printf(&query->text, " AND created_at %s " WAY_NOW " - INTERVAL ? MICROSECOND",
		      comparison);
	query_add_number(query, milliseconds * 1000);
}

static void append_age(struct query *query, const struct listing_filter *filter)
{
	append_span(query, "<=", filter->older);
	append_span(query, ">", filter->younger);
}

/* What is in the index's first columns, and so makes it shorter. */
static void append_bounds(const struct way *way, struct query *query, enum record_state part)
{
	const struct listing_filter *filter = way->filter;
	switch (way->name) {
	case WAY_EXPIRY:
		buffer_printf(&query->text, "state = '%s'", record_state_name(part));
		if (filter->expired)
			buffer_append_text(&query->text, " AND expires_at <= " WAY_NOW);
		return;
	case WAY_TENANT:
		buffer_append_text(&query->text, "tenant = ?");
		query_add_text(query, filter->tenant);
		append_age(query, filter);
		return;
	case WAY_KEY:
		buffer_append_text(&query->text, "TRUE");
		append_key_prefix(query, filter->key_prefix);
		return;
	case WAY_AGE:
	case WAY_TABLE:
		buffer_append_text(&query->text, "TRUE");
		return;
	}
}

static void append_states(struct query *query, unsigned states)
{
	const char *separator = " AND state IN ('";
	for (unsigned state = RECORD_IN_FLIGHT; state <= RECORD_EXPIRED; state++) {
		if ((states & BIT(state)) == 0)
			continue;
		buffer_printf(&query->text, "%s%s", separator,
			      record_state_name((enum record_state)state));
		separator = "', '";
	}
	buffer_append_text(&query->text, "')");
}

static void append_text(struct query *query, const char *condition, const char *value)
{
	if (value == NULL)
		return;
	buffer_append_text(&query->text, condition);
	query_add_text(query, value);
}

static void append_conditions(const struct way *way, struct query *query)
{
	const struct listing_filter *filter = way->filter;
	if (way->states != ALL_STATES)
		append_states(query, way->states);
	append_text(query, " AND route = ?", filter->route);
	append_text(query, " AND tenant = ?", filter->tenant);
	if (filter->key_prefix != NULL)
		append_key_prefix(query, filter->key_prefix);
	append_age(query, filter);
}

/* In flight and past its retention is expired once it is stale, as the purge has it. */
#define AND_IS_OVER " AND (state <> 'in_flight' OR " WAY_STALE ")"

void way_append_filter(const struct way *way, struct query *query)
{
	append_conditions(way, query);
	if (way->filter->stale)
		buffer_append_text(&query->text, " AND " WAY_STALE);
	if (way->filter->expired)
		buffer_append_text(&query->text, " AND expires_at <= " WAY_NOW AND_IS_OVER);
}

bool way_has_part(const struct way *way, enum record_state part)
{
	return way->name == WAY_EXPIRY ? (way->states & BIT(part)) != 0 : part == 0;
}

static void append_start(const struct way *way, struct query *query, enum record_state part,
			 bool with_lease)
{
	buffer_printf(&query->text, " FROM once_record FORCE INDEX (%s)%s WHERE ",
		      kinds[way->name].index, with_lease ? WAY_LEASE : "");
	append_bounds(way, query, part);
	if (way->after.set)
		append_side(way, query, &way->after, kinds[way->name].descending ? '<' : '>',
			    false);
}

/* Whether anybody holds a record is asked of those in flight only: with that question the rows of
 * all others would have to be read too, which stand in no index. */
void way_append_from(const struct way *way, struct query *query, enum record_state part,
		     bool with_lease)
{
	const struct listing_filter *filter = way->filter;
	bool asked = (filter->stale || filter->expired) &&
		     (way->name != WAY_EXPIRY || part == RECORD_IN_FLIGHT);
	append_start(way, query, part, with_lease || asked);
	if (way->upto.set)
		append_side(way, query, &way->upto, kinds[way->name].descending ? '>' : '<', true);
	if (asked)
		way_append_filter(way, query);
	else
		append_conditions(way, query);
}

int way_place_take(const struct way *way, struct way_place *place, const struct query *query,
		   struct error *error)
{
	bool failed = false;
	place_clear(place);
	for (size_t i = 0; i < way_column_count(way); i++) {
		struct query_cell cell = query_cell(query, i);
		buffer_append(&place->parts[i], cell.data, cell.length);
		failed = failed || place->parts[i].failed;
	}
	place->set = true;
	if (failed)
		error_set(error, ERROR_MEMORY, "out of memory");
	return failed ? -1 : 0;
}

/* Of several parts the one whose stretch ends first, so that none has more than its stretch. */
static void write_stretch(const struct way *way, struct query *query, unsigned parts)
{
	const char *separator = "(SELECT ";
	for (unsigned part = 0; part <= RECORD_EXPIRED; part++) {
		if ((parts & BIT(part)) == 0 || !way_has_part(way, (enum record_state)part))
			continue;
		buffer_append_text(&query->text, separator);
		way_append_columns(way, query);
		append_start(way, query, (enum record_state)part, false);
		way_append_order(way, query);
		buffer_printf(&query->text, " LIMIT 1 OFFSET %u)", kinds[way->name].stretch - 1);
		separator = " UNION ALL (SELECT ";
	}
	way_append_order(way, query);
	buffer_append_text(&query->text, " LIMIT 1");
}

int way_find_stretch(struct way *way, struct connection *connection, unsigned parts,
		     struct error *error)
{
	struct query query;
	int result = 0;
	place_clear(&way->upto);
	if (!way->in_stretches)
		return 0;
	query_init(&query, connection);
	write_stretch(way, &query, parts);
	if (query_run(&query, CLOCK_NEVER, error) < 0)
		result = -1;
	else if (query_next(&query, error))
		result = way_place_take(way, &way->upto, &query, error);
	else if (error->kind != ERROR_NONE)
		result = -1;
	if (way->upto.set)
		way->looked += kinds[way->name].stretch;
	query_free(&query);
	return result;
}

bool way_go_on(struct way *way)
{
	if (!way->upto.set)
		return false;
	struct way_place spare = way->after;
	way->after = way->upto;
	way->upto = spare;
	place_clear(&way->upto);
	return true;
}

void way_restart(struct way *way)
{
	place_clear(&way->after);
	place_clear(&way->upto);
}

int way_start_after(struct way *way, struct connection *connection, const unsigned char *id,
		    struct error *error)
{
	struct query query;
	int result = -1;
	query_init(&query, connection);
	buffer_append_text(&query.text, "SELECT ");
	way_append_columns(way, &query);
	buffer_append_text(&query.text, " FROM once_record WHERE id = ?");
	query_add_bytes(&query, id, DIGEST_LENGTH);
	if (query_run(&query, CLOCK_NEVER, error) < 0)
		goto out;
	if (query_next(&query, error))
		result = way_place_take(way, &way->after, &query, error);
	else if (error->kind == ERROR_NONE)
		error_set(error, ERROR_INPUT, "the record to start after has gone");
out:
	query_free(&query);
	return result;
}
