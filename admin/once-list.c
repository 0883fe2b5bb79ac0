/* SPDX-License-Identifier: ISC */
/* once-list(8): the records that the store holds. Reads only. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "admin/common/connect.h"
#include "admin/common/options.h"
#include "admin/common/output.h"
#include "store/listing.h"

#define NAME "once-list"

enum { DEFAULT_LIMIT = 100 };

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
	return cell_text(record_state_name(record->state));
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

#define WIDE (COLUMN_WIDE | COLUMN_DATA)

static const struct column columns[] = {
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
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static int take_states(void *target, const char *argument, struct error *error)
{
	struct listing_filter *filter = target;
	for (const char *name = argument;; name++) {
		size_t length = strcspn(name, ",");
		int state = record_state_parse(name, length);
		if (state < 0) {
			error_set(
			    error, ERROR_INPUT,
			    "\"%.*s\" is none of in_flight, complete, unknown, released, expired",
			    (int)length, name);
			return -1;
		}
		filter->states |= 1u << state;
		name += length;
		if (*name == '\0')
			return 0;
	}
}

static int take_route(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct listing_filter *)target)->route = argument;
	return 0;
}

static int take_limit(void *target, const char *argument, struct error *error)
{
	int64_t limit;
	if (options_number(argument, 0, INT64_MAX, &limit, error) < 0)
		return -1;
	((struct listing_filter *)target)->limit = (uint64_t)limit;
	return 0;
}

static const struct option_entry entries[] = {
    {.name = "state",
     .argument = "STATE,...",
     .help = "only records in these states",
     .take = take_states},
    {.name = "route", .argument = "NAME", .help = "only records of this route", .take = take_route},
    {.name = "limit",
     .argument = "N",
     .help = "no more than N records (100); 0: all",
     .take = take_limit},
};

/* The rows on their way, and the exit status once there is one. */
struct list {
	struct output output;
	bool begun; /* there was a row */
	int status;
};

static bool take_record(void *context, const struct listing_record *record)
{
	struct list *list = context;
	list->begun = true;
	list->status = output_row(&list->output, record);
	return list->status == GO_ON;
}

static int list_records(struct connect *connect, const struct listing_filter *filter,
			struct list *list)
{
	struct error error;
	bool more;
	int failed = listing_run(&connect->connection, filter, take_record, list, &more, &error);
	if (list->status != GO_ON)
		return list->status;
	/* Rows that came before a failure hold; without any it must not look like an empty list. */
	int status = failed < 0 && !list->begun ? GO_ON : output_end(&list->output);
	if (failed < 0)
		return connect_failed(connect, NAME, &error);
	if (status == GO_ON && more)
		fprintf(stderr,
			NAME ": there are more than the %" PRIu64 " listed; --limit=0 lists all\n",
			filter->limit);
	return status == GO_ON ? EX_OK : status;
}

int main(int argc, char **argv)
{
	options_begin();
	struct connect connect;
	struct output_settings settings = {0};
	struct listing_filter filter = {.limit = DEFAULT_LIMIT};
	connect_init(&connect);
	const struct option_group groups[] = {
	    OPTION_GROUP(entries, &filter),
	    output_options(&settings),
	    connect_options(&connect),
	};
	const struct program program = {
	    .name = NAME,
	    .arguments = "",
	    .summary = "List the records of idempotency keys, those that expire last first.",
	    .see = "once-list(8)",
	    .groups = groups,
	    .group_count = sizeof(groups) / sizeof(groups[0]),
	};
	int first;
	int status = options_parse(&program, argc, argv, &first);
	if (status != GO_ON)
		return status;
	if (first < argc)
		return options_refuse(&program, "\"%s\": takes no arguments", argv[first]);
	struct error error;
	struct list list = {.status = GO_ON};
	if (output_open(&list.output, NAME, &settings, columns, COLUMNS, &error) < 0)
		return options_refuse(&program, "%s", error.message);
	status = connect_open(&connect, NAME, CONNECTION_ADMIN, "oncewrap-admin");
	if (status == GO_ON)
		status = list_records(&connect, &filter, &list);
	output_free(&list.output);
	connect_close(&connect);
	return status;
}
