/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/report_json.h"

#include "admin/common/cell.h"
#include "admin/common/json_lines.h"
#include "cgi-bin/status/steps.h"
#include "cgi-bin/status/tally.h"

static const struct cell_style style = {.utf8 = true};

static json_t *bytes(const struct buffer *text)
{
	struct cell cell = cell_bytes(text->data, text->length);
	return cell_json(&cell, &style);
}

static json_t *text_of(const char *text)
{
	struct cell cell = cell_text(text);
	return cell_json(&cell, &style);
}

static json_t *time_of(int64_t milliseconds)
{
	struct cell cell = cell_number(CELL_TIME, milliseconds);
	return milliseconds > 0 ? cell_json(&cell, &style) : json_null();
}

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *concerns_json(const struct concerns *concerns)
{
	json_t *array = json_array();
	for (size_t i = 0; i < concerns->count; i++) {
		const struct concern *concern = &concerns->items[i];
		json_array_append_new(
		    array, json_pack("{s:s, s:s, s:o, s:o, s:o}", "code", concern->code, "level",
				     concern_level_name(concern->level), "words",
				     bytes(&concern->words), "detail", bytes(&concern->detail),
				     "command", bytes(&concern->command)));
	}
	return array;
}

/* Numbers of the database by their names here; times in milliseconds become stamps. */
static json_t *store_json(const struct snapshot *snapshot)
{
	static const struct {
		const char *name;
		enum gauge gauge;
		bool time;
	} members[] = {
	    {"in_flight", GAUGE_IN_FLIGHT, false},
	    {"complete", GAUGE_COMPLETE, false},
	    {"unknown", GAUGE_UNKNOWN, false},
	    {"released", GAUGE_RELEASED, false},
	    {"expired", GAUGE_EXPIRED, false},
	    {"stale_leases", GAUGE_STALE, false},
	    {"past_expiry", GAUGE_PAST_EXPIRY, false},
	    {"bytes", GAUGE_BYTES, false},
	    {"schema", GAUGE_SCHEMA, false},
	    {"clock_skew_us", GAUGE_SKEW, false},
	    {"purge_deleted", GAUGE_PURGED, false},
	    {"purged_at", GAUGE_PURGED_AT, true},
	    {"oldest_in_flight", GAUGE_OLDEST_IN_FLIGHT, true},
	    {"oldest_unknown", GAUGE_OLDEST_UNKNOWN, true},
	};
	const struct gauges *gauges = &snapshot->gauges;
	const struct error *error = &snapshot->store_error;
	json_t *store = json_pack("{s:b, s:o, s:I, s:I, s:I}", "up", gauges->up, "error",
				  error->kind != ERROR_NONE ? text_of(error->message) : json_null(),
				  "elapsed_us", (json_int_t)gauges->duration, "count_limit",
				  (json_int_t)SNAPSHOT_COUNT_LIMIT, "schema_expected",
				  (json_int_t)gauges_expected_schema());
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		int64_t value = gauges->values[members[i].gauge];
		json_t *member = members[i].time ? time_of(value / 1000) : json_integer(value);
		json_object_set_new(store, members[i].name,
				    gauges->known[members[i].gauge] ? member : json_null());
		if (!gauges->known[members[i].gauge])
			json_decref(member);
	}
	return store;
}

static json_t *steps_json(const struct steps *steps)
{
	json_t *array = json_array();
	for (size_t i = 0; i < steps->count; i++)
		json_array_append_new(array, json_pack("{s:s, s:o}", "what", steps->items[i].what,
						       "command", bytes(&steps->items[i].command)));
	return array;
}

static json_t *entry_json(const struct attention_entry *entry, const struct snapshot *snapshot)
{
	struct steps steps;
	char key[STEPS_KEY_LENGTH];
	struct cell id = cell_hash(entry->id, DIGEST_LENGTH);
	steps_find(&steps, entry, snapshot);
	steps_key(entry, key);
	json_t *object = json_pack(
	    "{s:o, s:s, s:o, s:o, s:s, s:i, s:o, s:I, s:o, s:I, s:s, s:o}", "id",
	    cell_json(&id, &style), "state", entry->state == RECORD_UNKNOWN ? "unknown" : "stale",
	    "route", bytes(&entry->route), "tenant", bytes(&entry->tenant), "key", key, "attempt",
	    (int)entry->attempt, "owner_host", bytes(&entry->host), "owner_pid",
	    (json_int_t)entry->pid, "created", time_of(entry->created_ms), "age_ms",
	    (json_int_t)(entry->now_ms - entry->created_ms), "note", steps.note, "steps",
	    steps_json(&steps));
	steps_free(&steps);
	return object;
}

static json_t *attention_json(const struct snapshot *snapshot)
{
	if (!snapshot->listed)
		return json_null();
	json_t *array = json_array();
	for (size_t i = 0; i < snapshot->attention.count; i++)
		json_array_append_new(array, entry_json(&snapshot->attention.entries[i], snapshot));
	return array;
}

static json_t *outcomes_json(const struct reading_route *route)
{
	json_t *outcomes = json_object();
	for (size_t i = 0; i < METRICS_OUTCOMES; i++)
		json_object_set_new(outcomes, metrics_outcomes[i], number(route->requests[i]));
	return outcomes;
}

static json_t *hour_json(const struct reading_route *route)
{
	json_t *minutes = json_array();
	for (size_t i = 0; i < METRICS_MINUTES; i++) {
		const struct reading_minute *minute = &route->minutes[i];
		json_array_append_new(minutes,
				      json_pack("[o, o, o]", number(minute->requests),
						number(minute->replayed), number(minute->errors)));
	}
	return minutes;
}

static json_t *duration(int64_t microseconds)
{
	return microseconds >= 0 ? json_integer(microseconds) : json_null();
}

static json_t *route_json(const struct reading_route *route)
{
	struct tally tally;
	tally_route(&tally, route);
	return json_pack("{s:o, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "route",
			 text_of(route->name), "requests", number(tally.requests), "first",
			 number(tally.first), "replayed", number(tally.replayed), "in_flight",
			 (int)tally.in_flight, "mismatch", number(tally.mismatch), "errors",
			 number(tally.errors), "p50_us", duration(tally.median), "p95_us",
			 duration(tally.slow), "outcomes", outcomes_json(route), "last_hour",
			 hour_json(route));
}

static json_t *routes_json(const struct reading *reading)
{
	json_t *array = json_array();
	for (size_t i = 0; i < reading->route_count; i++)
		json_array_append_new(array, route_json(&reading->routes[i]));
	return array;
}

static json_t *workers_json(const struct snapshot *snapshot)
{
	struct tally_workers workers;
	const struct config *config = snapshot->connect.config;
	json_t *states = json_object();
	tally_workers(&workers, &snapshot->reading);
	for (size_t i = 0; i < METRICS_WORKER_STATES; i++)
		json_object_set_new(states, metrics_worker_states[i], number(workers.states[i]));
	return json_pack(
	    "{s:o, s:o, s:o, s:o}", "count", number(snapshot->reading.worker_count), "configured",
	    *config->listen != '\0' ? json_integer(config->workers) : json_null(), "states", states,
	    "longest_since", time_of(workers.longest != NULL ? workers.longest->since_ms : 0));
}

static json_t *spool_json(const struct reading *reading)
{
	return json_pack("{s:o, s:o, s:o}", "entries", number(reading->spool_entries), "set_aside",
			 number(reading->spool_set_aside), "oldest",
			 time_of(reading->spool_oldest_ms));
}

static void add_host(json_t *report, const struct snapshot *snapshot)
{
	const struct reading *reading = &snapshot->reading;
	bool read = snapshot->read;
	json_object_set_new(report, "counted_since",
			    read ? time_of(reading->created_ms) : json_null());
	json_object_set_new(report, "routes", read ? routes_json(reading) : json_null());
	json_object_set_new(report, "workers", read ? workers_json(snapshot) : json_null());
	json_object_set_new(report, "spool", read ? spool_json(reading) : json_null());
}

void report_json(struct buffer *out, const struct snapshot *snapshot,
		 const struct concerns *concerns)
{
	struct buffer headline = {0};
	concerns_headline(concerns, &headline);
	json_t *report =
	    json_pack("{s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:b}", "version", PACKAGE_VERSION,
		      "host", text_of(snapshot->host), "time", time_of(snapshot->now_ms), "state",
		      concern_level_name(concerns->worst), "headline", bytes(&headline), "concerns",
		      concerns_json(concerns), "store", store_json(snapshot), "attention",
		      attention_json(snapshot), "attention_more", snapshot->attention.more);
	if (report != NULL)
		add_host(report, snapshot);
	json_lines_append(out, report);
	out->failed = out->failed || headline.failed;
	buffer_free(&headline);
}
