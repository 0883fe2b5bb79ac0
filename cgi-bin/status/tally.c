/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/tally.h"

#include <string.h>

static uint64_t of(const struct reading_route *route, const char *outcome)
{
	for (size_t i = 0; i < METRICS_OUTCOMES; i++)
		if (strcmp(metrics_outcomes[i], outcome) == 0)
			return route->requests[i];
	return 0;
}

static uint64_t errors_of(const struct reading_route *route)
{
	uint64_t errors = 0;
	for (size_t i = 0; i < METRICS_OUTCOMES; i++)
		if (metrics_natures[i] == OUTCOME_IS_ERROR)
			errors += route->requests[i];
	return errors;
}

static void add_minutes(struct tally *tally, const struct reading_route *route)
{
	for (size_t i = 0; i < METRICS_MINUTES; i++) {
		const struct reading_minute *minute = &route->minutes[i];
		tally->hour.requests += minute->requests;
		tally->hour.replayed += minute->replayed;
		tally->hour.errors += minute->errors;
		if (minute->requests > tally->hour.most) {
			tally->hour.most = minute->requests;
			tally->hour.when = minute->minute;
		}
	}
}

void tally_route(struct tally *tally, const struct reading_route *route)
{
	const struct reading_histogram *times = &route->request;
	*tally = (struct tally){
	    .first = of(route, "first"),
	    .replayed = of(route, "replayed"),
	    .mismatch = of(route, "mismatch"),
	    .errors = errors_of(route),
	    .in_flight = route->in_flight,
	    .median = reading_quantile(times, metrics_request_bounds, METRICS_REQUEST_BUCKETS, 0.5),
	    .slow = reading_quantile(times, metrics_request_bounds, METRICS_REQUEST_BUCKETS, 0.95),
	};
	for (size_t i = 0; i < METRICS_OUTCOMES; i++)
		tally->requests += route->requests[i];
	add_minutes(tally, route);
}

bool tally_shows_other(const struct reading *reading)
{
	struct tally tally;
	tally_route(&tally, &reading->routes[METRICS_ROUTE_OTHER]);
	return tally.requests > 0 || tally.in_flight > 0 || reading->route_count == 1;
}

void tally_workers(struct tally_workers *workers, const struct reading *reading)
{
	*workers = (struct tally_workers){0};
	for (size_t i = 0; i < reading->worker_count; i++) {
		const struct reading_worker *worker = &reading->workers[i];
		workers->states[worker->state]++;
		if (worker->busy &&
		    (workers->longest == NULL || worker->since_ms < workers->longest->since_ms))
			workers->longest = worker;
	}
}
