/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/show/naturals.h"

static struct cell id_of(const void *row)
{
	const struct inspect_natural *natural = row;
	return cell_hash(natural->id.data, natural->id.length);
}

static struct cell holds_of(const void *row)
{
	const struct inspect_natural *natural = row;
	return cell_number(CELL_FLAG, natural->holds);
}

static struct cell window_until_of(const void *row)
{
	const struct inspect_natural *natural = row;
	return cell_number(CELL_TIME, natural->window_ms);
}

static struct cell settled_at_of(const void *row)
{
	const struct inspect_natural *natural = row;
	if (natural->settled_ms == 0)
		return (struct cell){0};
	return cell_number(CELL_TIME, natural->settled_ms);
}

static struct cell location_of(const void *row)
{
	const struct inspect_natural *natural = row;
	if (natural->location.data == NULL)
		return (struct cell){0};
	return cell_bytes(natural->location.data, natural->location.length);
}

static const struct column id = {.name = "natural_id", .kind = CELL_HASH, .value = id_of};
static const struct column holds = {.name = "holds", .kind = CELL_FLAG, .value = holds_of};
static const struct column window_until = {
    .name = "window_until", .kind = CELL_TIME, .value = window_until_of};
static const struct column settled_at = {
    .name = "settled_at", .kind = CELL_TIME, .value = settled_at_of};
static const struct column location = {.name = "location", .kind = CELL_TEXT, .value = location_of};

/* The last one is left out where it was not asked for. */
static const struct column *const columns[] = {&id, &holds, &window_until, &settled_at, &location};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void take(void *context, const struct inspect_natural *natural)
{
	sublist_add(context, natural);
}

int naturals_read(struct sublist *list, struct connection *connection,
		  const unsigned char record[DIGEST_LENGTH], bool json, bool locations,
		  const struct cell_style *style, int64_t deadline, struct error *error)
{
	if (sublist_begin(list, columns, locations ? COLUMNS : COLUMNS - 1, json, style, error) < 0)
		return -1;
	int result = inspect_naturals(connection, record, take, list, deadline, error);
	sublist_end(list);
	return result;
}
