/* SPDX-License-Identifier: ISC */
/* Records that want somebody. */
#include <config.h>

#include "admin/doctor/examination.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows looked at: more are told as so many and more. */
#define MOST_ROWS "1001"
enum { MOST = 1000, MOST_NAMED = 8, MOST_ROUTES = 64 };

/* Of those in flight, which are few; a renewal in once_lease prolongs, a closing does not. */
static const char stale_text[] =
    "SELECT HEX(r.id), r.route, TIMESTAMPDIFF(SECOND,"
    " GREATEST(r.lease_until, COALESCE(l.lease_until, r.lease_until)), UTC_TIMESTAMP(6))"
    " FROM once_record AS r LEFT JOIN once_lease AS l ON l.token = r.token"
    " WHERE r.state = 'in_flight' AND r.lease_until <= UTC_TIMESTAMP(6)"
    " AND (l.token IS NULL OR l.lease_until <= UTC_TIMESTAMP(6))"
    " ORDER BY r.lease_until LIMIT " MOST_ROWS;

static const char unknown_text[] =
    "SELECT HEX(id), route, TIMESTAMPDIFF(SECOND, created_at, UTC_TIMESTAMP(6))"
    " FROM once_record WHERE state = 'unknown' ORDER BY expires_at LIMIT " MOST_ROWS;

/* Those of one route. */
struct heap {
	char *route; /* owned */
	unsigned count;
	int64_t oldest;    /* seconds */
	struct buffer ids; /* of the first few, each with a blank before it */
	char first[17];    /* of the oldest, enough to name it */
};

struct heaps {
	struct heap items[MOST_ROUTES];
	size_t count, rows;
};

static struct heap *find_heap(struct heaps *heaps, const char *route)
{
	for (size_t i = 0; i < heaps->count; i++)
		if (strcmp(heaps->items[i].route, route) == 0)
			return &heaps->items[i];
	if (heaps->count == MOST_ROUTES)
		return &heaps->items[MOST_ROUTES - 1];
	struct heap *heap = &heaps->items[heaps->count];
	*heap = (struct heap){.route = strdup(route)};
	if (heap->route == NULL)
		return NULL;
	heaps->count++;
	return heap;
}

/* Sixteen digits name one record among all that there will ever be. */
static void add_row(struct heaps *heaps, const struct query *query)
{
	struct heap *heap = find_heap(heaps, query_cell(query, 1).data);
	heaps->rows++;
	if (heap == NULL)
		return;
	char id[17];
	snprintf(id, sizeof(id), "%.16s", query_cell(query, 0).data);
	for (char *digit = id; *digit != '\0'; digit++)
		*digit = *digit >= 'A' && *digit <= 'F' ? (char)(*digit - 'A' + 'a') : *digit;
	if (heap->count == 0)
		memcpy(heap->first, id, sizeof(heap->first));
	if (heap->count++ < MOST_NAMED)
		buffer_printf(&heap->ids, " %s", id);
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
}

static void forget(struct heaps *heaps)
{
	for (size_t i = 0; i < heaps->count; i++) {
		free(heaps->items[i].route);
		buffer_free(&heaps->items[i].ids);
	}
}

static const struct route *find_route(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->route_count; i++)
		if (strcmp(config->routes[i].name, name) == 0)
			return &config->routes[i];
	return NULL;
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
	const struct route *route = find_route(examination->config, heap->route);
	bool rerun = route != NULL && route->on_lapse == LAPSE_RERUN;
	char span[SPAN_LENGTH];
	span_format(heap->oldest, span);
	findings_add(findings, FINDING_WARN,
		     "route %s: %u in flight under a lease that is over, the longest for %s: %s",
		     heap->route, heap->count, span,
		     rerun ? "its worker died, and nobody has retried"
			   : "its worker died, and what its handler did is not known");
	if (!rerun)
		examination_cure_program(examination, "once-show", "%s", heap->first);
	else if (heap->count <= MOST_NAMED)
		examination_cure_program(examination, "once-release",
					 "--reason='its worker died'%s", buffer_text(&heap->ids));
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
