/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/list/columns.h"

#include "store/census.h"
#include "store/listing.h"

/* A UUID with a word before it is shown whole. */
enum { KEY_CUT = 48 };

static struct cell id_of(const void *row)
{
	const struct listing_record *record = row;
	return cell_hash(record->id, DIGEST_LENGTH);
}

static struct cell state_of(const void *row)
{
	const struct listing_record *record = row;
	struct cell cell = cell_text(record_state_name(record->state));
	if (record->state == RECORD_UNKNOWN)
		cell.tone = CELL_ALARM;
	else if (record->stale)
		cell.tone = CELL_NOTICE;
	return cell;
}

static struct cell route_of(const void *row)
{
	const struct listing_record *record = row;
	return cell_bytes(record->route, record->route_length);
}

static struct cell tenant_of(const void *row)
{
	const struct listing_record *record = row;
	return cell_bytes(record->tenant, record->tenant_length);
}

static struct cell key_of(const void *row)
{
	const struct listing_record *record = row;
	return cell_bytes(record->key, record->key_length);
}

static struct cell attempt_of(const void *row)
{
	const struct listing_record *record = row;
	return cell_number(CELL_NUMBER, record->attempt);
}

static struct cell age_of(const void *row)
{
	const struct listing_record *record = row;
	return cell_number(CELL_SPAN, record->now_ms - record->created_ms);
}

/* What happened is not known, or a checkpoint is kept: such a record goes by no clock (case C9). */
static bool never_expires(const struct listing_record *record)
{
	return record->state == RECORD_UNKNOWN || record->state == RECORD_RELEASED;
}

static struct cell expires_of(const void *row)
{
	const struct listing_record *record = row;
	if (never_expires(record))
		return (struct cell){0};
	return cell_number(CELL_SPAN, record->expires_ms - record->now_ms);
}

static struct cell expires_at_of(const void *row)
{
	const struct listing_record *record = row;
	if (never_expires(record))
		return (struct cell){0};
	return cell_number(CELL_TIME, record->expires_ms);
}

static struct cell status_of(const void *row)
{
	const struct listing_record *record = row;
	if (record->status == 0)
		return (struct cell){0};
	return cell_number(CELL_NUMBER, record->status);
}

static struct cell size_of(const void *row)
{
	const struct listing_record *record = row;
	return cell_number(CELL_SIZE, (int64_t)record->size);
}

static struct cell created_at_of(const void *row)
{
	const struct listing_record *record = row;
	return cell_number(CELL_TIME, record->created_ms);
}

static struct cell settled_at_of(const void *row)
{
	const struct listing_record *record = row;
	if (record->settled_ms == 0)
		return (struct cell){0};
	return cell_number(CELL_TIME, record->settled_ms);
}

/* Nobody holds a settled record, and nobody can renew a closed lease. */
static struct cell lease_until_of(const void *row)
{
	const struct listing_record *record = row;
	if (record->state != RECORD_IN_FLIGHT || record->lease_ms == 0)
		return (struct cell){0};
	return cell_number(CELL_TIME, record->lease_ms);
}

static struct cell host_of(const void *row)
{
	const struct listing_record *record = row;
	return cell_bytes(record->host, record->host_length);
}

static struct cell pid_of(const void *row)
{
	const struct listing_record *record = row;
	return cell_number(CELL_NUMBER, record->pid);
}

static struct cell kept_of(const void *row)
{
	const struct listing_record *record = row;
	if (record->state != RECORD_COMPLETE)
		return (struct cell){0};
	return cell_number(CELL_FLAG, (record->flags & RECORD_NOT_KEPT) == 0);
}

static struct cell stale_of(const void *row)
{
	const struct listing_record *record = row;
	if (record->state != RECORD_IN_FLIGHT)
		return (struct cell){0};
	return cell_number(CELL_FLAG, record->stale);
}

#define WIDE (COLUMN_WIDE | COLUMN_DATA)

const struct column list_columns[] = {
    {.name = "id", .kind = CELL_HASH, .value = id_of, .shown = COLUMN_ALL},
    {.name = "state", .kind = CELL_TEXT, .value = state_of, .shown = COLUMN_ALL},
    {.name = "route", .kind = CELL_TEXT, .value = route_of, .shown = COLUMN_ALL, .shrinks = true},
    {.name = "tenant", .kind = CELL_TEXT, .value = tenant_of, .shown = COLUMN_ALL, .shrinks = true},
    {.name = "key",
     .kind = CELL_TEXT,
     .value = key_of,
     .shown = COLUMN_ALL,
     .cut = KEY_CUT,
     .shrinks = true},
    {.name = "attempt",
     .kind = CELL_NUMBER,
     .value = attempt_of,
     .shown = COLUMN_ALL,
     .right = true},
    {.name = "age", .kind = CELL_SPAN, .value = age_of, .shown = COLUMN_ALL, .right = true},
    {.name = "expires", .kind = CELL_SPAN, .value = expires_of, .shown = COLUMN_ALL, .right = true},
    {.name = "status", .kind = CELL_NUMBER, .value = status_of, .shown = COLUMN_ALL, .right = true},
    {.name = "size", .kind = CELL_SIZE, .value = size_of, .shown = COLUMN_ALL, .right = true},
    {.name = "created_at", .kind = CELL_TIME, .value = created_at_of, .shown = WIDE},
    {.name = "settled_at", .kind = CELL_TIME, .value = settled_at_of, .shown = WIDE},
    {.name = "expires_at", .kind = CELL_TIME, .value = expires_at_of, .shown = WIDE},
    {.name = "lease_until", .kind = CELL_TIME, .value = lease_until_of, .shown = WIDE},
    {.name = "host", .kind = CELL_TEXT, .value = host_of, .shown = WIDE},
    {.name = "pid", .kind = CELL_NUMBER, .value = pid_of, .shown = WIDE, .right = true},
    {.name = "kept", .kind = CELL_FLAG, .value = kept_of, .shown = WIDE},
    {.name = "stale", .kind = CELL_FLAG, .value = stale_of, .shown = WIDE},
};
const size_t list_column_count = sizeof(list_columns) / sizeof(list_columns[0]);

static struct cell group_route_of(const void *row)
{
	const struct census_entry *entry = row;
	return cell_bytes(entry->route, entry->route_length);
}

static struct cell group_state_of(const void *row)
{
	const struct census_entry *entry = row;
	struct cell cell = cell_text(record_state_name(entry->state));
	if (entry->state == RECORD_UNKNOWN)
		cell.tone = CELL_ALARM;
	return cell;
}

static struct cell group_records_of(const void *row)
{
	const struct census_entry *entry = row;
	return cell_number(CELL_NUMBER, (int64_t)entry->records);
}

static struct cell group_expired_of(const void *row)
{
	const struct census_entry *entry = row;
	if (entry->state == RECORD_UNKNOWN || entry->state == RECORD_RELEASED)
		return (struct cell){0};
	return cell_number(CELL_NUMBER, (int64_t)entry->expired);
}

static struct cell group_stale_of(const void *row)
{
	const struct census_entry *entry = row;
	if (entry->state != RECORD_IN_FLIGHT)
		return (struct cell){0};
	struct cell cell = cell_number(CELL_NUMBER, (int64_t)entry->stale);
	if (entry->stale > 0)
		cell.tone = CELL_NOTICE;
	return cell;
}

#define NUMBER(title, from)                                                                        \
	{                                                                                          \
		.name = (title), .kind = CELL_NUMBER, .value = (from), .shown = COLUMN_ALL,        \
		.right = true                                                                      \
	}

const struct column summary_columns[] = {
    {.name = "route",
     .kind = CELL_TEXT,
     .value = group_route_of,
     .shown = COLUMN_ALL,
     .shrinks = true},
    {.name = "state", .kind = CELL_TEXT, .value = group_state_of, .shown = COLUMN_ALL},
    NUMBER("records", group_records_of),
    NUMBER("expired", group_expired_of),
    NUMBER("stale", group_stale_of),
};
const size_t summary_column_count = sizeof(summary_columns) / sizeof(summary_columns[0]);

static struct cell count_of(const void *row)
{
	const struct census *census = row;
	return cell_number(CELL_NUMBER, (int64_t)census->records);
}

const struct column count_columns[] = {
    {.name = "records", .kind = CELL_NUMBER, .value = count_of, .shown = COLUMN_ALL},
};
const size_t count_column_count = 1;
