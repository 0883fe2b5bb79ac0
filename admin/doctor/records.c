/* SPDX-License-Identifier: ISC */
/* Records that want somebody. */
#include <config.h>

#include "admin/doctor/examination.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shell.h"
#include "store/record.h"

/* Rows looked at: more are told as so many and more. */
#define MOST_ROWS "1001"
enum { MOST = 1000, MOST_NAMED = 8 };

/* Of those in flight, which are few; a renewal in once_lease prolongs, a closing does not. */
static const char stale_text[] =
    "SELECT LOWER(HEX(r.id)), r.route, TIMESTAMPDIFF(SECOND,"
    " GREATEST(r.lease_until, COALESCE(l.lease_until, r.lease_until)), UTC_TIMESTAMP(6)), r.flags"
    " FROM once_record AS r LEFT JOIN once_lease AS l ON l.token = r.token"
    " WHERE r.state = 'in_flight' AND r.lease_until <= UTC_TIMESTAMP(6)"
    " AND (l.token IS NULL OR l.lease_until <= UTC_TIMESTAMP(6))"
    " ORDER BY r.lease_until LIMIT " MOST_ROWS;

static const char unknown_text[] =
    "SELECT LOWER(HEX(id)), route, TIMESTAMPDIFF(SECOND, created_at, UTC_TIMESTAMP(6)), 0"
    " FROM once_record WHERE state = 'unknown' ORDER BY expires_at LIMIT " MOST_ROWS;

/* Sixteen digits name one record among all that there will ever be. */
#define ID_DIGITS 16

/* Those of one route that want the same. */
struct heap {
	char *route; /* owned */
	bool rerun;  /* a retry would run the handler again */
	unsigned count;
	int64_t oldest;            /* seconds */
	struct buffer ids;         /* of the first few, each with a blank before it */
	char first[ID_DIGITS + 1]; /* of the oldest */
};

struct heaps {
	struct heap *items; /* owned */
	size_t count, capacity, rows;
	bool failed; /* out of memory */
};

static struct heap *add_heap(struct heaps *heaps, const char *route, bool rerun)
{
	if (heaps->count == heaps->capacity) {
		size_t capacity = heaps->capacity == 0 ? 16 : heaps->capacity * 2;
		struct heap *items = reallocarray(heaps->items, capacity, sizeof(*items));
		if (items == NULL)
			return NULL;
		heaps->items = items;
		heaps->capacity = capacity;
	}
	struct heap *heap = &heaps->items[heaps->count];
	*heap = (struct heap){.route = strdup(route), .rerun = rerun};
	if (heap->route == NULL)
		return NULL;
	heaps->count++;
	return heap;
}

static struct heap *find_heap(struct heaps *heaps, const char *route, bool rerun)
{
	for (size_t i = 0; i < heaps->count; i++)
		if (heaps->items[i].rerun == rerun && strcmp(heaps->items[i].route, route) == 0)
			return &heaps->items[i];
	return add_heap(heaps, route, rerun);
}

/* The record says what becomes of it, and not its route as it is configured now. */
static void add_row(struct heaps *heaps, const struct query *query)
{
	bool rerun = (query_number(query, 3) & RECORD_LAPSE_UNKNOWN) == 0;
	struct heap *heap = find_heap(heaps, query_cell(query, 1).data, rerun);
	const char *id = query_cell(query, 0).data;
	heaps->rows++;
	if (heap == NULL) {
		heaps->failed = true;
		return;
	}
	if (heap->count == 0)
		snprintf(heap->first, sizeof(heap->first), "%.*s", ID_DIGITS, id);
	if (heap->count++ < MOST_NAMED)
		buffer_printf(&heap->ids, " %.*s", ID_DIGITS, id);
	int64_t age = query_number(query, 2);
	heap->oldest = age > heap->oldest ? age : heap->oldest;
}

static void gather(struct examination *examination, const char *text, struct heaps *heaps)
{
	struct query query;
	*heaps = (struct heaps){0};
	if (!examination_login(examination, &examination->admin))
		return;
	query_init(&query, &examination->admin.connection);
	buffer_append_text(&query.text, text);
	if (examination_ask(examination, &examination->admin, &query))
		while (examination_next(examination, &query))
			add_row(heaps, &query);
	query_free(&query);
	examination->findings.failed = examination->findings.failed || heaps->failed;
}

static void forget(struct heaps *heaps)
{
	for (size_t i = 0; i < heaps->count; i++) {
		free(heaps->items[i].route);
		buffer_free(&heaps->items[i].ids);
	}
	free(heaps->items);
}

/* Those of that route alone: others may have to be looked at first. */
static void cure_many(struct examination *examination, const char *route)
{
	struct buffer options = {0}, word = {0};
	examination_write_options(examination, &options);
	shell_append(&word, route);
	findings_cure(&examination->findings,
		      "once-list%s --stale --limit=0 --output=id --route=%s |"
		      " once-release%s --yes --reason='their worker died' -",
		      buffer_text(&options), buffer_text(&word), buffer_text(&options));
	buffer_free(&options);
	buffer_free(&word);
}

/* What a retry would do by itself, a person may do now; where it would not, somebody has to look
 * what has come of it. */
static void tell_stale(struct examination *examination, struct heap *heap)
{
	struct findings *findings = &examination->findings;
	char span[SPAN_LENGTH];
	span_format(heap->oldest, span);
	findings_add(findings, FINDING_WARN,
		     "route %s: %u in flight under a lease that is over, the longest for %s: %s",
		     heap->route, heap->count, span,
		     heap->rerun ? "its worker died, and nobody has retried"
				 : "its worker died, and what its handler did is not known");
	if (!heap->rerun)
		examination_cure_program(examination, "once-show", "%s", heap->first);
	else if (heap->count <= MOST_NAMED)
		examination_cure_program(examination, "once-release",
					 "--reason='its worker died'%s%s",
					 heap->count > 1 ? " --yes" : "", buffer_text(&heap->ids));
	else
		cure_many(examination, heap->route);
}

static void tell_limit(struct examination *examination, const struct heaps *heaps)
{
	if (heaps->rows > MOST)
		findings_add(&examination->findings, FINDING_WARN, "there are more than %d", MOST);
}

void records_check_stale(struct examination *examination)
{
	struct heaps heaps;
	gather(examination, stale_text, &heaps);
	for (size_t i = 0; i < heaps.count; i++)
		tell_stale(examination, &heaps.items[i]);
	tell_limit(examination, &heaps);
	forget(&heaps);
}

void records_check_unknown(struct examination *examination)
{
	struct heaps heaps;
	gather(examination, unknown_text, &heaps);
	for (size_t i = 0; i < heaps.count; i++) {
		struct heap *heap = &heaps.items[i];
		char span[SPAN_LENGTH];
		span_format(heap->oldest, span);
		findings_add(&examination->findings, FINDING_WARN,
			     "route %s: %u of unknown outcome, the oldest for %s: somebody has to "
			     "find out whether it was done",
			     heap->route, heap->count, span);
		examination_cure_program(examination, "once-show", "%s", heap->first);
	}
	tell_limit(examination, &heaps);
	forget(&heaps);
}
