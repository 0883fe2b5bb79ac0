/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/encode.h"
#include "store/roundtrip.h"

/* Rows fetched at once. */
enum { PAGE = 1000 };

/* Milliseconds since the epoch; by arithmetic, as in statements.c: UNIX_TIMESTAMP ends in 2038. */
#define SINCE_1970 "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', "
#define IN_MS      ") DIV 1000"

/* Renewals prolong the record's own lease; a closed lease is over whatever the record says. */
#define LEASE                                                                                      \
	"CASE WHEN renewed.lease_until IS NULL THEN once_record.lease_until"                       \
	" WHEN renewed.lease_until = '1970-01-01' THEN renewed.lease_until"                        \
	" ELSE GREATEST(once_record.lease_until, renewed.lease_until) END"

static const char select_text[] =
    "SELECT once_record.id, state, route, tenant, key_text, attempt,"
    " " SINCE_1970 "UTC_TIMESTAMP(6)" IN_MS ", " SINCE_1970 "created_at" IN_MS ", " SINCE_1970
    "expires_at" IN_MS ","
    " " SINCE_1970 "settled_at" IN_MS ", " SINCE_1970 LEASE IN_MS
    ", owner_host, owner_pid, status, flags,"
    " COALESCE(OCTET_LENGTH(headers), 0) + COALESCE(OCTET_LENGTH(body), 0), expires_at"
    " FROM once_record LEFT JOIN once_lease AS renewed ON renewed.token = once_record.token"
    " WHERE TRUE";

/* Where the page before ended; the first so written that the index gives it a start, which it would
 * not for a comparison of pairs. */
static const char after_expiry_text[] =
    " AND expires_at <= '%s' AND (expires_at < '%s' OR once_record.id < x'%s')";
static const char after_id_text[] = " AND once_record.id > x'%s'";

static const char by_expiry_text[] =
    " ORDER BY expires_at DESC, once_record.id DESC LIMIT %" PRIu64;
static const char by_id_text[] = " ORDER BY once_record.id LIMIT %" PRIu64;

enum column {
	COLUMN_ID,
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
	COLUMN_HOST,
	COLUMN_PID,
	COLUMN_STATUS,
	COLUMN_FLAGS,
	COLUMN_SIZE,
	COLUMN_PLACE, /* expires_at as the database writes it */
};

/* Where a page ended. */
struct place {
	char expires_at[32];
	char id[2 * DIGEST_LENGTH + 1]; /* "": before the first page */
};

static void append_states(struct buffer *query, unsigned states)
{
	const char *separator = " AND state IN ('";
	for (unsigned state = RECORD_IN_FLIGHT; state <= RECORD_EXPIRED; state++) {
		if ((states & 1u << state) == 0)
			continue;
		buffer_printf(query, "%s%s", separator,
			      record_state_name((enum record_state)state));
		separator = "', '";
	}
	if (states != 0)
		buffer_append_text(query, "')");
}

static void write_query(struct buffer *query, const struct listing_filter *filter,
			const struct place *place, uint64_t rows)
{
	buffer_clear(query);
	buffer_append_text(query, select_text);
	append_states(query, filter->states);
	if (filter->route != NULL) {
		/* Bytes as hex: nothing to quote. */
		buffer_append_text(query, " AND route = x'");
		for (const char *byte = filter->route; *byte != '\0'; byte++)
			buffer_printf(query, "%02x", (unsigned char)*byte);
		buffer_append_text(query, "'");
	}
	bool by_expiry = filter->limit > 0;
	if (*place->id != '\0' && by_expiry)
		buffer_printf(query, after_expiry_text, place->expires_at, place->expires_at,
			      place->id);
	else if (*place->id != '\0')
		buffer_printf(query, after_id_text, place->id);
	buffer_printf(query, by_expiry ? by_expiry_text : by_id_text, rows);
}

static int64_t number(const char *text)
{
	return text != NULL ? strtoll(text, NULL, 10) : 0;
}

static int fill(MYSQL_ROW row, const unsigned long *lengths, struct listing_record *record,
		struct error *error)
{
	int state = record_state_parse(row[COLUMN_STATE], lengths[COLUMN_STATE]);
	if (lengths[COLUMN_ID] != DIGEST_LENGTH || state < 0) {
		error_set(error, ERROR_STORE, "a record is not what this version writes");
		return -1;
	}
	*record = (struct listing_record){
	    .state = (enum record_state)state,
	    .route = row[COLUMN_ROUTE],
	    .route_length = lengths[COLUMN_ROUTE],
	    .tenant = row[COLUMN_TENANT],
	    .tenant_length = lengths[COLUMN_TENANT],
	    .key = row[COLUMN_KEY],
	    .key_length = lengths[COLUMN_KEY],
	    .host = row[COLUMN_HOST],
	    .host_length = lengths[COLUMN_HOST],
	    .attempt = (uint32_t)number(row[COLUMN_ATTEMPT]),
	    .now_ms = number(row[COLUMN_NOW]),
	    .created_ms = number(row[COLUMN_CREATED]),
	    .expires_ms = number(row[COLUMN_EXPIRES]),
	    .settled_ms = number(row[COLUMN_SETTLED]),
	    .lease_ms = number(row[COLUMN_LEASE]),
	    .pid = number(row[COLUMN_PID]),
	    .status = (int)number(row[COLUMN_STATUS]),
	    .flags = (unsigned)number(row[COLUMN_FLAGS]),
	    .size = (uint64_t)number(row[COLUMN_SIZE]),
	};
	memcpy(record->id, row[COLUMN_ID], DIGEST_LENGTH);
	return 0;
}

/* One query, all of its rows on this side; NULL with *error. */
static MYSQL_RES *fetch(struct connection *connection, struct buffer *query, struct error *error)
{
	if (query->failed) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	struct roundtrip roundtrip = {
	    .connection = connection,
	    .goal = ROUNDTRIP_QUERY,
	    .query = buffer_text(query),
	};
	if (roundtrip_run(&roundtrip, CLOCK_NEVER) != ROUNDTRIP_DONE)
		*error = roundtrip.error;
	return roundtrip.result;
}

/* What a whole listing is at. */
struct listing {
	const struct listing_filter *filter;
	bool (*take)(void *context, const struct listing_record *record);
	void *context;
	uint64_t count; /* handed on so far */
	bool ended;     /* no rows left, or none wanted */
	bool more;
	struct place place;
};

static int take_page(struct listing *listing, MYSQL_RES *rows, struct error *error)
{
	for (MYSQL_ROW row; !listing->ended && (row = mysql_fetch_row(rows)) != NULL;) {
		struct listing_record record;
		if (listing->filter->limit > 0 && listing->count == listing->filter->limit) {
			listing->more = listing->ended = true;
			return 0;
		}
		if (fill(row, mysql_fetch_lengths(rows), &record, error) < 0)
			return -1;
		snprintf(listing->place.expires_at, sizeof(listing->place.expires_at), "%s",
			 row[COLUMN_PLACE]);
		encode_hex(listing->place.id, record.id, DIGEST_LENGTH);
		listing->count++;
		listing->ended = !listing->take(listing->context, &record);
	}
	return 0;
}

/* One more than is left to show tells whether there are more. */
static uint64_t page_rows(const struct listing *listing)
{
	uint64_t limit = listing->filter->limit;
	return limit > 0 && limit - listing->count < PAGE ? limit - listing->count + 1 : PAGE;
}

int listing_run(struct connection *connection, const struct listing_filter *filter,
		bool (*take)(void *context, const struct listing_record *record), void *context,
		bool *more, struct error *error)
{
	struct listing listing = {.filter = filter, .take = take, .context = context};
	struct buffer query = {0};
	int result = 0;
	while (result == 0 && !listing.ended) {
		uint64_t wanted = page_rows(&listing);
		write_query(&query, filter, &listing.place, wanted);
		MYSQL_RES *rows = fetch(connection, &query, error);
		if (rows == NULL) {
			result = -1;
			break;
		}
		bool last = mysql_num_rows(rows) < wanted;
		result = take_page(&listing, rows, error);
		listing.ended = listing.ended || last;
		mysql_free_result(rows);
	}
	*more = listing.more;
	buffer_free(&query);
	return result;
}
