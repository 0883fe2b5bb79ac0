/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/metrics/local_scope.h"

/*
 * A family, and where its values are: at `offset` in each route, or in the reading itself. The
 * values of its label, where it has one beside the route, are named by `values`.
 */
struct local {
	struct exposition_family family;
	void (*write)(struct exposition *exposition, const struct local *local,
		      const struct reading *reading);
	size_t offset;
	const char *label;
	const char *const *values;
	size_t count;
};

#define OF_ROUTE(member)        .offset = offsetof(struct reading_route, member)
#define OF_READING(member)      .offset = offsetof(struct reading, member)
#define BY(name, names, number) .label = (name), .values = (names), .count = (number)

static const uint64_t *numbers_at(const void *base, size_t offset)
{
	return (const void *)((const char *)base + offset);
}

static void write_route_numbers(struct exposition *exposition, const struct local *local,
				const struct reading *reading)
{
	for (size_t i = 0; i < reading->route_count; i++) {
		const struct reading_route *route = &reading->routes[i];
		const uint64_t *numbers = numbers_at(route, local->offset);
		for (size_t k = 0; k < local->count; k++) {
			const struct exposition_label labels[] = {{"route", route->name},
								  {local->label, local->values[k]}};
			exposition_number(exposition, labels, 2, numbers[k]);
		}
	}
}

static void write_route_number(struct exposition *exposition, const struct local *local,
			       const struct reading *reading)
{
	for (size_t i = 0; i < reading->route_count; i++) {
		const struct reading_route *route = &reading->routes[i];
		const struct exposition_label label = {"route", route->name};
		exposition_number(exposition, &label, 1, *numbers_at(route, local->offset));
	}
}

static void write_route_histogram(struct exposition *exposition, const struct local *local,
				  const struct reading *reading)
{
	for (size_t i = 0; i < reading->route_count; i++) {
		const struct reading_route *route = &reading->routes[i];
		const struct reading_histogram *histogram =
		    (const void *)((const char *)route + local->offset);
		const struct exposition_label label = {"route", route->name};
		exposition_histogram(exposition, &label, 1, histogram->buckets,
				     metrics_request_bounds, METRICS_REQUEST_BUCKETS,
				     histogram->sum);
	}
}

static void write_store_histograms(struct exposition *exposition, const struct local *local,
				   const struct reading *reading)
{
	for (size_t i = 0; i < local->count; i++) {
		const struct exposition_label label = {local->label, local->values[i]};
		exposition_histogram(exposition, &label, 1, reading->store[i].buckets,
				     metrics_store_bounds, METRICS_STORE_BUCKETS,
				     reading->store[i].sum);
	}
}

static void write_numbers(struct exposition *exposition, const struct local *local,
			  const struct reading *reading)
{
	const uint64_t *numbers = numbers_at(reading, local->offset);
	for (size_t i = 0; i < local->count; i++) {
		const struct exposition_label label = {local->label, local->values[i]};
		exposition_number(exposition, &label, 1, numbers[i]);
	}
}

static void write_number(struct exposition *exposition, const struct local *local,
			 const struct reading *reading)
{
	exposition_number(exposition, NULL, 0, *numbers_at(reading, local->offset));
}

static uint64_t workers_in(const struct reading *reading, enum metrics_worker_state state)
{
	uint64_t workers = 0;
	for (size_t i = 0; i < reading->worker_count; i++)
		workers += reading->workers[i].state == state;
	return workers;
}

static void write_workers(struct exposition *exposition, const struct local *local,
			  const struct reading *reading)
{
	for (size_t i = 0; i < local->count; i++) {
		const struct exposition_label label = {local->label, local->values[i]};
		exposition_number(exposition, &label, 1,
				  workers_in(reading, (enum metrics_worker_state)i));
	}
}

static void write_waiters(struct exposition *exposition, const struct local *local,
			  const struct reading *reading)
{
	(void)local;
	exposition_number(exposition, NULL, 0, workers_in(reading, WORKER_WAITING));
}

static void write_memory(struct exposition *exposition, const struct local *local,
			 const struct reading *reading)
{
	uint64_t bytes = 0;
	(void)local;
	for (size_t i = 0; i < reading->worker_count; i++)
		bytes += reading->workers[i].resident;
	exposition_number(exposition, NULL, 0, bytes);
}

static const struct local families[] = {
    {.family = {"oncewrap_requests_total", EXPOSITION_COUNTER, NULL,
		"Requests by what was decided for them."},
     .write = write_route_numbers,
     OF_ROUTE(requests),
     BY("outcome", metrics_outcomes, METRICS_OUTCOMES)},
    {.family = {"oncewrap_observed_total", EXPOSITION_COUNTER, NULL,
		"Requests of routes in mode observe by what enforce would have decided."},
     .write = write_route_numbers,
     OF_ROUTE(observed),
     BY("outcome", metrics_outcomes, METRICS_OUTCOMES)},
    {.family = {"oncewrap_settlements_total", EXPOSITION_COUNTER, NULL,
		"Claims that have ended, by how."},
     .write = write_route_numbers,
     OF_ROUTE(settlements),
     BY("outcome", metrics_settlements, METRICS_SETTLEMENTS)},
    {.family = {"oncewrap_request_duration_seconds", EXPOSITION_HISTOGRAM, "seconds",
		"Time from a request's start to the end of its answer."},
     .write = write_route_histogram,
     OF_ROUTE(request)},
    {.family = {"oncewrap_handler_duration_seconds", EXPOSITION_HISTOGRAM, "seconds",
		"Time that handlers ran."},
     .write = write_route_histogram,
     OF_ROUTE(handler)},
    {.family = {"oncewrap_store_duration_seconds", EXPOSITION_HISTOGRAM, "seconds",
		"Time that the database took, by what it was asked."},
     .write = write_store_histograms,
     BY("op", metrics_ops, METRICS_OPS)},
    {.family = {"oncewrap_store_errors_total", EXPOSITION_COUNTER, NULL,
		"Statements that failed, by why; a claim that met a locked row is none."},
     .write = write_numbers,
     OF_READING(store_errors),
     BY("reason", metrics_reasons, METRICS_REASONS)},
    {.family = {"oncewrap_takeovers_total", EXPOSITION_COUNTER, NULL,
		"Claims on records whose owner had died."},
     .write = write_route_number,
     OF_ROUTE(takeovers)},
    {.family = {"oncewrap_reclaims_total", EXPOSITION_COUNTER, NULL,
		"Keys that came back after they had expired, and began a new life."},
     .write = write_route_number,
     OF_ROUTE(reclaims)},
    {.family =
	 {"oncewrap_conflicts_total", EXPOSITION_COUNTER, NULL,
	  "Requests that met another one of their key in flight, those that then waited too."},
     .write = write_route_number,
     OF_ROUTE(conflicts)},
    {.family = {"oncewrap_lease_renewals_total", EXPOSITION_COUNTER, NULL,
		"Leases renewed while a handler ran."},
     .write = write_number,
     OF_READING(renewals)},
    {.family = {"oncewrap_waiters", EXPOSITION_GAUGE, NULL,
		"Workers that wait for another request's answer."},
     .write = write_waiters},
    {.family = {"oncewrap_replay_bytes_total", EXPOSITION_COUNTER, "bytes",
		"Bytes of answers sent from the store."},
     .write = write_number,
     OF_READING(replay_bytes)},
    {.family = {"oncewrap_spool_entries", EXPOSITION_GAUGE, NULL,
		"Settlements kept on this host until the database is back."},
     .write = write_number,
     OF_READING(spool_entries)},
    {.family = {"oncewrap_log_messages_total", EXPOSITION_COUNTER, NULL, "Log lines by level."},
     .write = write_numbers,
     OF_READING(log_messages),
     BY("level", metrics_levels, METRICS_LEVELS)},
    {.family = {"oncewrap_workers", EXPOSITION_GAUGE, NULL, "Workers by what they do."},
     .write = write_workers,
     BY("state", metrics_worker_states, METRICS_WORKER_STATES)},
    {.family = {"oncewrap_worker_resident_memory_bytes", EXPOSITION_GAUGE, "bytes",
		"Resident memory of all workers; pages that they share count for each."},
     .write = write_memory},
};

static const struct exposition_family build_family = {"oncewrap_build_info", EXPOSITION_INFO, NULL,
						      "The version of once-metrics; always 1."};
static const struct exposition_family segment_family = {
    "oncewrap_segment_up", EXPOSITION_GAUGE, NULL,
    "1: the counters of this host's workers could be read; 0: no worker of this version has run, "
    "or "
    "they may not be read."};

void local_scope_write(struct exposition *exposition, const struct reading *reading)
{
	const struct exposition_label version = {"version", PACKAGE_VERSION};
	exposition_family(exposition, &build_family);
	exposition_number(exposition, &version, 1, 1);
	exposition_family(exposition, &segment_family);
	exposition_number(exposition, NULL, 0, reading != NULL);
	if (reading == NULL)
		return;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		exposition_family(exposition, &families[i].family);
		families[i].write(exposition, &families[i], reading);
	}
}
