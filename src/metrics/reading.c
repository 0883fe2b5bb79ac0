/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "metrics/reading.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/process.h"
#include "metrics/segment.h"

enum { SECONDS_OF_A_MINUTE = 60 };

static uint64_t get(const counter *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static void take_numbers(uint64_t *to, const counter *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = get(&from[i]);
}

/* The sum is written after the bucket, and by somebody who may die between the two: it is brought
 * to where the buckets say that it must be. Both ends only ever grow, and so does what is told. */
static void take_histogram(struct reading_histogram *to, const struct segment_histogram *from,
			   const uint64_t *bounds, size_t bound_count)
{
	uint64_t least = 0, most = 0;
	to->sum = get(&from->sum);
	take_numbers(to->buckets, from->buckets, bound_count + 1);
	for (size_t i = 0; i <= bound_count; i++) {
		to->count += to->buckets[i];
		if (i > 0)
			least += to->buckets[i] * bounds[i - 1];
		if (i < bound_count)
			most += to->buckets[i] * bounds[i];
	}
	if (to->buckets[bound_count] > 0)
		most = UINT64_MAX;
	to->sum = to->sum < least ? least : to->sum > most ? most : to->sum;
}

static void take_minutes(struct reading_minute *to, const struct segment_minute *from)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	int64_t minute = (int64_t)now.tv_sec / SECONDS_OF_A_MINUTE - METRICS_MINUTES + 1;
	for (size_t i = 0; i < METRICS_MINUTES; i++, minute++) {
		const struct segment_minute *words = &from[(uint64_t)minute % METRICS_MINUTES];
		to[i] = (struct reading_minute){
		    .minute = minute,
		    .requests = layout_minute_count(get(&words->requests), minute),
		    .replayed = layout_minute_count(get(&words->replayed), minute),
		    .errors = layout_minute_count(get(&words->errors), minute),
		};
	}
}

/* False: whoever claimed the place has not written the name yet; so nothing was counted there. */
static bool take_name(char name[METRICS_ROUTE_NAME], const struct segment_route *from)
{
	uint64_t words[METRICS_ROUTE_NAME / sizeof(uint64_t)];
	take_numbers(words, from->name, METRICS_ROUTE_NAME / sizeof(uint64_t));
	memcpy(name, words, METRICS_ROUTE_NAME);
	name[METRICS_ROUTE_NAME - 1] = '\0';
	return layout_digest(name) == get(&from->digest);
}

static void take_route(struct reading_route *to, const struct segment_route *from)
{
	take_numbers(to->requests, from->requests, METRICS_OUTCOMES);
	take_numbers(to->observed, from->observed, METRICS_OUTCOMES);
	take_numbers(to->settlements, from->settlements, METRICS_SETTLEMENTS);
	to->takeovers = get(&from->takeovers);
	to->reclaims = get(&from->reclaims);
	to->conflicts = get(&from->conflicts);
	take_histogram(&to->request, &from->request, metrics_request_bounds,
		       METRICS_REQUEST_BUCKETS);
	take_histogram(&to->handler, &from->handler, metrics_request_bounds,
		       METRICS_REQUEST_BUCKETS);
	take_minutes(to->minutes, from->minutes);
}

/* `places`: which of the reading's routes is at that place of the segment. */
static int take_routes(struct reading *reading, const struct segment *segment,
		       unsigned places[METRICS_ROUTES])
{
	size_t most = METRICS_ROUTE_OTHER + 1;
	while (most < METRICS_ROUTES && get(&segment->routes[most].digest) != 0)
		most++;
	reading->routes = calloc(most, sizeof(*reading->routes));
	if (reading->routes == NULL)
		return -1;
	for (size_t i = 0; i < most; i++) {
		struct reading_route *route = &reading->routes[reading->route_count];
		if (i == METRICS_ROUTE_OTHER)
			strcpy(route->name, METRICS_ROUTE_OTHER_NAME);
		else if (!take_name(route->name, &segment->routes[i]))
			continue;
		take_route(route, &segment->routes[i]);
		places[i] = (unsigned)reading->route_count++;
	}
	return 0;
}

static bool take_worker(struct reading_worker *to, const struct segment_worker *from,
			const unsigned places[METRICS_ROUTES])
{
	uint64_t owner = get(&from->owner);
	pid_t pid = (pid_t)layout_owner_pid(owner);
	if (owner == 0 || !process_lives(pid, layout_owner_start(owner)))
		return false;
	struct layout_doing doing = layout_doing_of(get(&from->doing));
	*to = (struct reading_worker){
	    .pid = pid,
	    .state = doing.state < METRICS_WORKER_STATES ? doing.state : WORKER_IDLE,
	    .route = doing.route < METRICS_ROUTES ? places[doing.route] : METRICS_ROUTE_OTHER,
	    .busy = doing.busy != 0,
	    .since_ms = (int64_t)get(&from->since_ms),
	    .served = get(&from->served),
	    .resident = process_resident(pid),
	};
	return true;
}

static int take_workers(struct reading *reading, const struct segment *segment,
			const unsigned places[METRICS_ROUTES])
{
	reading->workers = calloc(METRICS_WORKERS, sizeof(*reading->workers));
	if (reading->workers == NULL)
		return -1;
	for (size_t i = 0; i < METRICS_WORKERS; i++) {
		struct reading_worker *worker = &reading->workers[reading->worker_count];
		if (!take_worker(worker, &segment->workers[i], places))
			continue;
		if (worker->busy)
			reading->routes[worker->route].in_flight++;
		reading->worker_count++;
	}
	return 0;
}

static void take_common(struct reading *reading, const struct segment *segment)
{
	for (size_t i = 0; i < METRICS_OPS; i++)
		take_histogram(&reading->store[i], &segment->store[i], metrics_store_bounds,
			       METRICS_STORE_BUCKETS);
	take_numbers(reading->store_errors, segment->store_errors, METRICS_REASONS);
	take_numbers(reading->log_messages, segment->log_messages, METRICS_LEVELS);
	reading->renewals = get(&segment->renewals);
	reading->replay_bytes = get(&segment->replay_bytes);
	reading->spool_entries = get(&segment->spool_entries);
	reading->spool_oldest_ms = (int64_t)get(&segment->spool_oldest_ms);
	reading->spool_set_aside = get(&segment->spool_set_aside);
	reading->created_ms = segment->header.created_ms;
}

int reading_take(struct reading *reading, const char *directory, struct error *error)
{
	struct segment_map map;
	unsigned places[METRICS_ROUTES] = {0};
	int result = -1;
	*reading = (struct reading){0};
	if (segment_open_to_read(&map, directory, error) != 0)
		return -1;
	if (take_routes(reading, map.segment, places) != 0 ||
	    take_workers(reading, map.segment, places) != 0) {
		error_set(error, ERROR_MEMORY, "out of memory");
		goto out;
	}
	take_common(reading, map.segment);
	if (segment_was_cut(&map)) {
		error_set(error, ERROR_SYSTEM, "%s: the metrics file was cut short meanwhile",
			  directory);
		goto out;
	}
	result = 0;
out:
	segment_close(&map);
	return result;
}

void reading_free(struct reading *reading)
{
	free(reading->routes);
	free(reading->workers);
	*reading = (struct reading){0};
}

int64_t reading_quantile(const struct reading_histogram *histogram, const uint64_t *bounds,
			 size_t bound_count, double q)
{
	if (histogram->count == 0)
		return -1;
	double rank = q * (double)histogram->count;
	uint64_t below = 0;
	size_t i = 0;
	while (i < bound_count && (double)(below + histogram->buckets[i]) < rank)
		below += histogram->buckets[i++];
	/* Nothing is known of what lies over the last bound but that it does. */
	if (i == bound_count)
		return (int64_t)bounds[bound_count - 1];
	uint64_t from = i == 0 ? 0 : bounds[i - 1];
	if (histogram->buckets[i] == 0)
		return (int64_t)from;
	double share = (rank - (double)below) / (double)histogram->buckets[i];
	return (int64_t)from + (int64_t)((double)(bounds[i] - from) * share);
}
