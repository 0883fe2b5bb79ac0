/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/show/field.h"

#include <string.h>

#include "store/inspect.h"

/* As in once-list: a UUID with a word before it is shown whole. */
enum { KEY_CUT = 48 };

static const struct cell nothing;

static struct cell of_buffer(const struct buffer *buffer)
{
	return cell_bytes(buffer->data, buffer->length);
}

static struct cell time_or_nothing(int64_t milliseconds)
{
	return milliseconds != 0 ? cell_number(CELL_TIME, milliseconds) : nothing;
}

static struct cell id_of(const void *row)
{
	const struct inspection *seen = row;
	return cell_hash(seen->id, DIGEST_LENGTH);
}

static struct cell state_of(const void *row)
{
	const struct inspection *seen = row;
	struct cell cell = cell_text(record_state_name(seen->record.state));
	if (seen->record.state == RECORD_UNKNOWN)
		cell.tone = CELL_ALARM;
	else if (seen->stale)
		cell.tone = CELL_NOTICE;
	return cell;
}

static struct cell route_of(const void *row)
{
	return of_buffer(&((const struct inspection *)row)->route);
}

static struct cell tenant_of(const void *row)
{
	return of_buffer(&((const struct inspection *)row)->tenant);
}

static struct cell key_of(const void *row)
{
	return of_buffer(&((const struct inspection *)row)->key);
}

static struct cell attempt_of(const void *row)
{
	const struct inspection *seen = row;
	return cell_number(CELL_NUMBER, seen->record.attempt);
}

static struct cell age_of(const void *row)
{
	const struct inspection *seen = row;
	return cell_number(CELL_SPAN, seen->now_ms - seen->record.created_ms);
}

/* What happened is not known, or a checkpoint is kept: such a record goes by no clock (case C9). */
static bool never_expires(const struct inspection *seen)
{
	return seen->record.state == RECORD_UNKNOWN || seen->record.state == RECORD_RELEASED;
}

static struct cell expires_of(const void *row)
{
	const struct inspection *seen = row;
	return never_expires(seen) ? nothing
				   : cell_number(CELL_SPAN, seen->expires_ms - seen->now_ms);
}

static struct cell expires_at_of(const void *row)
{
	const struct inspection *seen = row;
	return never_expires(seen) ? nothing : cell_number(CELL_TIME, seen->expires_ms);
}

static struct cell status_of(const void *row)
{
	const struct inspection *seen = row;
	return seen->record.status != 0 ? cell_number(CELL_NUMBER, seen->record.status) : nothing;
}

static struct cell size_of(const void *row)
{
	const struct inspection *seen = row;
	return cell_number(CELL_SIZE, (int64_t)(seen->headers_length + seen->body_length));
}

static struct cell created_at_of(const void *row)
{
	return time_or_nothing(((const struct inspection *)row)->record.created_ms);
}

static struct cell settled_at_of(const void *row)
{
	return time_or_nothing(((const struct inspection *)row)->record.settled_ms);
}

/* Nobody holds a settled record. */
static bool is_leased(const struct inspection *seen)
{
	return seen->record.state == RECORD_IN_FLIGHT;
}

static struct cell lease_of(const void *row)
{
	const struct inspection *seen = row;
	if (!is_leased(seen))
		return nothing;
	if (seen->renewal == RENEWAL_CLOSED)
		return cell_text("closed");
	if (seen->stale)
		return cell_text("lapsed");
	return cell_text(seen->renewal == RENEWAL_HELD ? "renewed" : "first");
}

/* A renewal prolongs the record's own lease; a closed lease is over whatever the record says. */
static struct cell lease_until_of(const void *row)
{
	const struct inspection *seen = row;
	if (!is_leased(seen) || seen->renewal == RENEWAL_CLOSED)
		return nothing;
	bool longer = seen->renewal == RENEWAL_HELD && seen->renewed_ms > seen->first_lease_ms;
	return cell_number(CELL_TIME, longer ? seen->renewed_ms : seen->first_lease_ms);
}

static struct cell first_lease_until_of(const void *row)
{
	const struct inspection *seen = row;
	return is_leased(seen) ? cell_number(CELL_TIME, seen->first_lease_ms) : nothing;
}

static struct cell stale_of(const void *row)
{
	const struct inspection *seen = row;
	return is_leased(seen) ? cell_number(CELL_FLAG, seen->stale) : nothing;
}

static struct cell host_of(const void *row)
{
	return of_buffer(&((const struct inspection *)row)->owner.host);
}

static struct cell pid_of(const void *row)
{
	return cell_number(CELL_NUMBER, ((const struct inspection *)row)->owner.pid);
}

static struct cell boot_of(const void *row)
{
	return of_buffer(&((const struct inspection *)row)->owner.boot);
}

static struct cell pid_namespace_of(const void *row)
{
	const struct inspection *seen = row;
	return cell_number(CELL_NUMBER, (int64_t)seen->owner.pidns);
}

static struct cell pid_start_of(const void *row)
{
	const struct inspection *seen = row;
	return cell_number(CELL_NUMBER, (int64_t)seen->owner.start);
}

static struct cell token_of(const void *row)
{
	return cell_hash(((const struct inspection *)row)->record.token, TOKEN_LENGTH);
}

static struct cell kept_of(const void *row)
{
	const struct inspection *seen = row;
	if (seen->record.state != RECORD_COMPLETE)
		return nothing;
	return cell_number(CELL_FLAG, (seen->record.flags & RECORD_NOT_KEPT) == 0);
}

static struct cell flags_of(const void *row)
{
	const struct inspection *seen = row;
	return cell_number(CELL_NUMBER, seen->record.flags);
}

static struct cell headers_size_of(const void *row)
{
	const struct inspection *seen = row;
	return cell_number(CELL_SIZE, (int64_t)seen->headers_length);
}

static struct cell body_size_of(const void *row)
{
	const struct inspection *seen = row;
	return cell_number(CELL_SIZE, (int64_t)seen->body_length);
}

static struct cell reference_of(const void *row)
{
	const struct inspection *seen = row;
	return seen->record.reference.length > 0 ? of_buffer(&seen->record.reference) : nothing;
}

static struct cell checkpoint_of(const void *row)
{
	const struct inspection *seen = row;
	return seen->has_checkpoint ? of_buffer(&seen->checkpoint) : nothing;
}

static struct cell checkpoint_number_of(const void *row)
{
	const struct inspection *seen = row;
	return seen->has_checkpoint ? cell_number(CELL_NUMBER, seen->checkpoint_number) : nothing;
}

static struct cell checkpoint_size_of(const void *row)
{
	const struct inspection *seen = row;
	return seen->has_checkpoint ? cell_number(CELL_SIZE, (int64_t)seen->checkpoint_length)
				    : nothing;
}

static struct cell fingerprint_of(const void *row)
{
	return cell_hash(((const struct inspection *)row)->record.fingerprint, DIGEST_LENGTH);
}

static struct cell scheme_of(const void *row)
{
	return of_buffer(&((const struct inspection *)row)->scheme);
}

static struct cell changes_of(const void *row)
{
	const struct inspection *seen = row;
	return cell_number(CELL_NUMBER, (int64_t)seen->changes);
}

#define WIDE (COLUMN_WIDE | COLUMN_DATA)

/* What once-list prints too has the same name and meaning. */
const struct column field_columns[] = {
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
    {.name = "lease", .kind = CELL_TEXT, .value = lease_of, .shown = WIDE},
    {.name = "lease_until", .kind = CELL_TIME, .value = lease_until_of, .shown = WIDE},
    {.name = "first_lease_until", .kind = CELL_TIME, .value = first_lease_until_of, .shown = WIDE},
    {.name = "stale", .kind = CELL_FLAG, .value = stale_of, .shown = WIDE},
    {.name = "host", .kind = CELL_TEXT, .value = host_of, .shown = WIDE},
    {.name = "pid", .kind = CELL_NUMBER, .value = pid_of, .shown = WIDE, .right = true},
    {.name = "boot", .kind = CELL_TEXT, .value = boot_of, .shown = WIDE},
    {.name = "pid_namespace", .kind = CELL_NUMBER, .value = pid_namespace_of, .shown = WIDE},
    {.name = "pid_start", .kind = CELL_NUMBER, .value = pid_start_of, .shown = WIDE},
    {.name = "token", .kind = CELL_HASH, .value = token_of, .shown = WIDE},
    {.name = "kept", .kind = CELL_FLAG, .value = kept_of, .shown = WIDE},
    {.name = "flags", .kind = CELL_NUMBER, .value = flags_of, .shown = WIDE},
    {.name = "headers_size", .kind = CELL_SIZE, .value = headers_size_of, .shown = WIDE},
    {.name = "body_size", .kind = CELL_SIZE, .value = body_size_of, .shown = WIDE},
    {.name = "reference", .kind = CELL_TEXT, .value = reference_of, .shown = WIDE},
    {.name = "checkpoint", .kind = CELL_TEXT, .value = checkpoint_of, .shown = WIDE},
    {.name = "checkpoint_number",
     .kind = CELL_NUMBER,
     .value = checkpoint_number_of,
     .shown = WIDE},
    {.name = "checkpoint_size", .kind = CELL_SIZE, .value = checkpoint_size_of, .shown = WIDE},
    {.name = "fingerprint", .kind = CELL_HASH, .value = fingerprint_of, .shown = WIDE},
    {.name = "scheme", .kind = CELL_TEXT, .value = scheme_of, .shown = WIDE},
    {.name = "changes", .kind = CELL_NUMBER, .value = changes_of, .shown = WIDE},
};
const size_t field_count = sizeof(field_columns) / sizeof(field_columns[0]);

struct cell field_of_gone(const struct column *column, const void *inspection)
{
	if (column->value == id_of)
		return id_of(inspection);
	return column->value == state_of ? cell_text("gone") : nothing;
}
