/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/inspect.h"

#include <string.h>

#include "store/query.h"
#include "store/way.h"

enum column {
	COLUMN_STATE,
	COLUMN_TOKEN,
	COLUMN_ATTEMPT,
	COLUMN_FINGERPRINT,
	COLUMN_SCHEME,
	COLUMN_PARTS,
	COLUMN_TENANT,
	COLUMN_ROUTE,
	COLUMN_KEY,
	COLUMN_NOW,
	COLUMN_CREATED,
	COLUMN_SETTLED,
	COLUMN_EXPIRES,
	COLUMN_EXPIRED,
	COLUMN_FIRST_LEASE,
	COLUMN_RENEWED,
	COLUMN_STALE,
	COLUMN_HOST,
	COLUMN_BOOT,
	COLUMN_PIDNS,
	COLUMN_PID,
	COLUMN_START,
	COLUMN_STATUS,
	COLUMN_FLAGS,
	COLUMN_REFERENCE,
	COLUMN_HEADERS_LENGTH,
	COLUMN_BODY_LENGTH,
	COLUMN_CHECKPOINT,
	COLUMN_CHECKPOINT_LENGTH,
	COLUMN_CHECKPOINT_NUMBER,
	COLUMN_CHANGES,
	COLUMN_HEADERS,
	COLUMN_BODY,
	COLUMNS,
};

static const struct {
	const char *expression;
	unsigned wanted; /* only then; else NULL stands in its place */
} columns[COLUMNS] = {
    [COLUMN_STATE] = {.expression = "state"},
    [COLUMN_TOKEN] = {.expression = "once_record.token"},
    [COLUMN_ATTEMPT] = {.expression = "attempt"},
    [COLUMN_FINGERPRINT] = {.expression = "fingerprint"},
    [COLUMN_SCHEME] = {.expression = "fingerprint_scheme"},
    [COLUMN_PARTS] = {.expression = "part_digests"},
    [COLUMN_TENANT] = {.expression = "tenant"},
    [COLUMN_ROUTE] = {.expression = "route"},
    [COLUMN_KEY] = {.expression = "key_text"},
    [COLUMN_NOW] = {.expression = WAY_MS(WAY_NOW)},
    [COLUMN_CREATED] = {.expression = WAY_MS("created_at")},
    [COLUMN_SETTLED] = {.expression = WAY_MS("settled_at")},
    [COLUMN_EXPIRES] = {.expression = WAY_MS("expires_at")},
    [COLUMN_EXPIRED] = {.expression =
			    "state NOT IN ('unknown', 'released') AND expires_at <= " WAY_NOW},
    [COLUMN_FIRST_LEASE] = {.expression = WAY_MS("once_record.lease_until")},
    [COLUMN_RENEWED] = {.expression = WAY_MS("renewed.lease_until")},
    [COLUMN_STALE] = {.expression = WAY_STALE},
    [COLUMN_HOST] = {.expression = "owner_host"},
    [COLUMN_BOOT] = {.expression = "owner_boot"},
    [COLUMN_PIDNS] = {.expression = "owner_pidns"},
    [COLUMN_PID] = {.expression = "owner_pid"},
    [COLUMN_START] = {.expression = "owner_start"},
    [COLUMN_STATUS] = {.expression = "status"},
    [COLUMN_FLAGS] = {.expression = "flags"},
    [COLUMN_REFERENCE] = {.expression = "reference"},
    [COLUMN_HEADERS_LENGTH] = {.expression = "OCTET_LENGTH(headers)"},
    [COLUMN_BODY_LENGTH] = {.expression = "OCTET_LENGTH(body)"},
    [COLUMN_CHECKPOINT] = {.expression = "checkpoint"},
    [COLUMN_CHECKPOINT_LENGTH] = {.expression = "OCTET_LENGTH(checkpoint_data)"},
    [COLUMN_CHECKPOINT_NUMBER] = {.expression = "checkpoint_seq"},
    [COLUMN_CHANGES] = {.expression =
			    "(SELECT COUNT(*) FROM once_audit WHERE record_id = once_record.id)"},
    [COLUMN_HEADERS] = {.expression = "headers", .wanted = INSPECT_HEADERS},
    [COLUMN_BODY] = {.expression = "body", .wanted = INSPECT_BODY},
};

void inspection_init(struct inspection *inspection)
{
	*inspection = (struct inspection){0};
}

void inspection_free(struct inspection *inspection)
{
	record_free(&inspection->record);
	buffer_free(&inspection->tenant);
	buffer_free(&inspection->route);
	buffer_free(&inspection->key);
	buffer_free(&inspection->scheme);
	buffer_free(&inspection->owner.host);
	buffer_free(&inspection->owner.boot);
	buffer_free(&inspection->checkpoint);
	inspection_init(inspection);
}

/* Of exactly `size` bytes. */
static bool take_bytes(const struct query *query, enum column column, void *place, size_t size)
{
	struct query_cell cell = query_cell(query, column);
	if (cell.data == NULL || cell.length != size)
		return false;
	memcpy(place, cell.data, size);
	return true;
}

/* A text that fits into `size` with its NUL. */
static bool take_text(const struct query *query, enum column column, char *place, size_t size)
{
	struct query_cell cell = query_cell(query, column);
	if (cell.length >= size)
		return false;
	memcpy(place, cell.data != NULL ? cell.data : "", cell.length + 1);
	return true;
}

static bool take_buffer(const struct query *query, enum column column, struct buffer *place)
{
	struct query_cell cell = query_cell(query, column);
	return buffer_append(place, cell.data, cell.length) == 0;
}

static bool fill_record(const struct query *query, struct record *record)
{
	struct query_cell state = query_cell(query, COLUMN_STATE);
	struct query_cell parts = query_cell(query, COLUMN_PARTS);
	int parsed = record_state_parse(state.data != NULL ? state.data : "", state.length);
	if (parsed < 0 || parts.length > RECORD_PARTS_LENGTH ||
	    !take_bytes(query, COLUMN_TOKEN, record->token, TOKEN_LENGTH) ||
	    !take_bytes(query, COLUMN_FINGERPRINT, record->fingerprint, DIGEST_LENGTH) ||
	    !take_text(query, COLUMN_SCHEME, record->scheme, sizeof(record->scheme)))
		return false;
	record->state = (enum record_state)parsed;
	if (parts.length > 0)
		memcpy(record->parts, parts.data, parts.length);
	record->parts_length = parts.length;
	record->attempt = (uint32_t)query_number(query, COLUMN_ATTEMPT);
	record->expired = query_number(query, COLUMN_EXPIRED) != 0;
	record->created_ms = query_number(query, COLUMN_CREATED);
	record->settled_ms = query_number(query, COLUMN_SETTLED);
	record->status = (int)query_number(query, COLUMN_STATUS);
	record->flags = (unsigned)query_number(query, COLUMN_FLAGS);
	return true;
}

static void fill_lease(const struct query *query, struct inspection *inspection)
{
	inspection->first_lease_ms = query_number(query, COLUMN_FIRST_LEASE);
	inspection->renewed_ms = query_number(query, COLUMN_RENEWED);
	inspection->stale = query_number(query, COLUMN_STALE) != 0;
	if (query_cell(query, COLUMN_RENEWED).data == NULL)
		inspection->renewal = RENEWAL_NONE;
	else /* a closed lease holds the epoch */
		inspection->renewal = inspection->renewed_ms == 0 ? RENEWAL_CLOSED : RENEWAL_HELD;
}

static bool fill_owner(const struct query *query, struct inspect_owner *owner)
{
	owner->pidns = (uint64_t)query_number(query, COLUMN_PIDNS);
	owner->pid = query_number(query, COLUMN_PID);
	owner->start = (uint64_t)query_number(query, COLUMN_START);
	return take_buffer(query, COLUMN_HOST, &owner->host) &&
	       take_buffer(query, COLUMN_BOOT, &owner->boot);
}

static int fill(const struct query *query, unsigned wanted, struct inspection *inspection,
		struct error *error)
{
	struct record *record = &inspection->record;
	if (!fill_record(query, record)) {
		error_set(error, ERROR_STORE, "the record is not what this version writes");
		return -1;
	}
	fill_lease(query, inspection);
	record->lapsed = inspection->stale;
	inspection->now_ms = query_number(query, COLUMN_NOW);
	inspection->expires_ms = query_number(query, COLUMN_EXPIRES);
	inspection->headers_length = (uint64_t)query_number(query, COLUMN_HEADERS_LENGTH);
	inspection->body_length = (uint64_t)query_number(query, COLUMN_BODY_LENGTH);
	inspection->has_checkpoint = query_cell(query, COLUMN_CHECKPOINT).data != NULL;
	inspection->checkpoint_length = (uint64_t)query_number(query, COLUMN_CHECKPOINT_LENGTH);
	inspection->checkpoint_number = (uint32_t)query_number(query, COLUMN_CHECKPOINT_NUMBER);
	inspection->changes = (uint64_t)query_number(query, COLUMN_CHANGES);
	if (fill_owner(query, &inspection->owner) &&
	    take_buffer(query, COLUMN_TENANT, &inspection->tenant) &&
	    take_buffer(query, COLUMN_SCHEME, &inspection->scheme) &&
	    take_buffer(query, COLUMN_ROUTE, &inspection->route) &&
	    take_buffer(query, COLUMN_KEY, &inspection->key) &&
	    take_buffer(query, COLUMN_CHECKPOINT, &inspection->checkpoint) &&
	    take_buffer(query, COLUMN_REFERENCE, &record->reference) &&
	    ((wanted & INSPECT_HEADERS) == 0 ||
	     take_buffer(query, COLUMN_HEADERS, &record->headers)) &&
	    ((wanted & INSPECT_BODY) == 0 || take_buffer(query, COLUMN_BODY, &record->body)))
		return 0;
	error_set(error, ERROR_MEMORY, "out of memory");
	return -1;
}

static void write_query(struct query *query, const unsigned char id[DIGEST_LENGTH], unsigned wanted)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		bool left_out = columns[i].wanted != 0 && (columns[i].wanted & wanted) == 0;
		buffer_printf(&query->text, "%s%s", i == 0 ? "SELECT " : ", ",
			      left_out ? "NULL" : columns[i].expression);
	}
	buffer_append_text(&query->text, " FROM once_record" WAY_LEASE " WHERE id = ?");
	query_add_bytes(query, id, DIGEST_LENGTH);
}

enum inspect_result inspect_read(struct connection *connection,
				 const unsigned char id[DIGEST_LENGTH], unsigned wanted,
				 struct inspection *inspection, int64_t deadline,
				 struct error *error)
{
	struct query query;
	enum inspect_result result = INSPECT_FAILED;
	inspection_free(inspection);
	memcpy(inspection->id, id, DIGEST_LENGTH);
	query_init(&query, connection);
	write_query(&query, id, wanted);
	if (query_run(&query, deadline, error) < 0)
		goto out;
	if (query_next(&query, error))
		result =
		    fill(&query, wanted, inspection, error) < 0 ? INSPECT_FAILED : INSPECT_FOUND;
	else if (error->kind == ERROR_NONE)
		result = INSPECT_GONE;
out:
	query_free(&query);
	return result;
}

static const char history_text[] =
    "SELECT " WAY_MS("done_at") ", token, state_before, state_after, who, host, program, reason"
				" FROM once_audit WHERE record_id = ? ORDER BY done_at, entry";

static struct inspect_text text_of(const struct query *query, size_t column)
{
	struct query_cell cell = query_cell(query, column);
	return (struct inspect_text){cell.data, cell.length};
}

int inspect_history(struct connection *connection, const unsigned char id[DIGEST_LENGTH],
		    void (*take)(void *context, const struct inspect_entry *entry), void *context,
		    int64_t deadline, struct error *error)
{
	struct query query;
	int result = -1;
	query_init(&query, connection);
	buffer_append_text(&query.text, history_text);
	query_add_bytes(&query, id, DIGEST_LENGTH);
	if (query_run(&query, deadline, error) < 0)
		goto out;
	while (query_next(&query, error)) {
		const struct inspect_entry entry = {
		    .done_ms = query_number(&query, 0),
		    .token = text_of(&query, 1),
		    .before = text_of(&query, 2),
		    .after = text_of(&query, 3),
		    .who = text_of(&query, 4),
		    .host = text_of(&query, 5),
		    .program = text_of(&query, 6),
		    .reason = text_of(&query, 7),
		};
		take(context, &entry);
	}
	result = error->kind == ERROR_NONE ? 0 : -1;
out:
	query_free(&query);
	return result;
}

/* One that is not settled stands for nothing once its record has gone or lives another life; a
 * released record's window is over. */
static const char natural_text[] =
    "SELECT natural_id, window_until > " WAY_NOW " AND (held.settled_at IS NOT NULL"
    " OR COALESCE(held.token = once_record.token, FALSE)), " WAY_MS("window_until") ", " WAY_MS(
	"held.settled_at") ", location FROM once_natural_key AS held LEFT JOIN once_record"
			   " ON once_record.id = record_id WHERE record_id = ?"
			   " ORDER BY window_until, natural_id";

int inspect_naturals(struct connection *connection, const unsigned char id[DIGEST_LENGTH],
		     void (*take)(void *context, const struct inspect_natural *natural),
		     void *context, int64_t deadline, struct error *error)
{
	struct query query;
	int result = -1;
	query_init(&query, connection);
	buffer_append_text(&query.text, natural_text);
	query_add_bytes(&query, id, DIGEST_LENGTH);
	if (query_run(&query, deadline, error) < 0)
		goto out;
	while (query_next(&query, error)) {
		const struct inspect_natural natural = {
		    .id = text_of(&query, 0),
		    .holds = query_number(&query, 1) != 0,
		    .window_ms = query_number(&query, 2),
		    .settled_ms = query_number(&query, 3),
		    .location = text_of(&query, 4),
		};
		take(context, &natural);
	}
	result = error->kind == ERROR_NONE ? 0 : -1;
out:
	query_free(&query);
	return result;
}
