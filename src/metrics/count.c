/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "metrics/count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process.h"
#include "metrics/segment.h"

enum { SECONDS_OF_A_MINUTE = 60, MICROSECONDS = 1000000 };

static struct {
	struct segment_map map;
	char *directory;
	struct shared_owner owner;
	int64_t looked; /* in which minute it was last seen that the file stands */
} home;

/* The numbers that count_route has given out, and where each one's counters are in the segment as
 * it is mapped now: another file may have them elsewhere. */
static struct {
	char name[METRICS_ROUTE_NAME];
	unsigned place;
} routes[METRICS_ROUTES];
static unsigned route_count = 1; /* 0 is "other" */

/* This process on the scoreboard. */
static struct {
	bool wanted;
	struct segment_worker *worker; /* NULL: has no place */
	uint64_t owner;
	struct layout_doing doing;
	int64_t since_ms;
	uint64_t served;
} self;

static void add(counter *value, uint64_t amount)
{
	atomic_fetch_add_explicit(value, amount, memory_order_relaxed);
}

static void set(counter *value, uint64_t to)
{
	atomic_store_explicit(value, to, memory_order_relaxed);
}

static uint64_t get(const counter *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static int64_t seconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return (int64_t)now.tv_sec;
}

int64_t count_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * MICROSECONDS + now.tv_nsec / 1000;
}

/* --- routes --- */

static void write_name(struct segment_route *route, const char *name)
{
	uint64_t words[METRICS_ROUTE_NAME / sizeof(uint64_t)] = {0};
	memcpy(words, name, strlen(name));
	for (size_t i = 0; i < METRICS_ROUTE_NAME / sizeof(uint64_t); i++)
		set(&route->name[i], words[i]);
}

/* The place of a name in the segment; the first free one becomes its own. */
static unsigned find_place(const char *name)
{
	struct segment *segment = home.map.segment;
	uint64_t digest = layout_digest(name);
	if (segment == NULL)
		return METRICS_ROUTE_OTHER;
	for (unsigned i = METRICS_ROUTE_OTHER + 1; i < METRICS_ROUTES; i++) {
		struct segment_route *route = &segment->routes[i];
		uint64_t found = 0;
		if (atomic_compare_exchange_strong(&route->digest, &found, digest) ||
		    found == digest) {
			write_name(route, name);
			return i;
		}
	}
	return METRICS_ROUTE_OTHER;
}

unsigned count_route(const char *name)
{
	if (name == NULL || strcmp(name, METRICS_ROUTE_OTHER_NAME) == 0 ||
	    strlen(name) >= METRICS_ROUTE_NAME)
		return METRICS_ROUTE_OTHER;
	for (unsigned i = 1; i < route_count; i++)
		if (strcmp(routes[i].name, name) == 0)
			return i;
	if (route_count == METRICS_ROUTES)
		return METRICS_ROUTE_OTHER;
	snprintf(routes[route_count].name, METRICS_ROUTE_NAME, "%s", name);
	routes[route_count].place = find_place(name);
	return route_count++;
}

static struct segment_route *route_of(unsigned number)
{
	if (home.map.segment == NULL)
		return NULL;
	unsigned place = number < route_count ? routes[number].place : METRICS_ROUTE_OTHER;
	return &home.map.segment->routes[place];
}

/* --- the scoreboard --- */

static bool is_free(uint64_t owner)
{
	return owner == 0 ||
	       !process_lives((pid_t)layout_owner_pid(owner), layout_owner_start(owner));
}

static bool claim_worker(struct segment_worker *worker, bool of_the_dead)
{
	uint64_t owner = get(&worker->owner);
	if (owner != 0 && (!of_the_dead || !is_free(owner)))
		return false;
	return atomic_compare_exchange_strong(&worker->owner, &owner, self.owner);
}

/* The places of those that were killed are taken only when no other is left: to find out costs a
 * look at each one's process. */
static struct segment_worker *find_worker(struct segment *segment)
{
	for (int of_the_dead = 0; of_the_dead <= 1; of_the_dead++)
		for (size_t i = 0; i < METRICS_WORKERS; i++)
			if (claim_worker(&segment->workers[i], of_the_dead != 0))
				return &segment->workers[i];
	return NULL;
}

static void show_self(void)
{
	struct segment_worker *worker = self.worker;
	if (worker == NULL)
		return;
	/* Whoever took us for dead, from within a container that does not see us, has it now. */
	if (get(&worker->owner) != self.owner) {
		self.worker = NULL;
		return;
	}
	struct layout_doing doing = self.doing;
	doing.route = doing.route < route_count ? routes[doing.route].place : METRICS_ROUTE_OTHER;
	set(&worker->since_ms, (uint64_t)self.since_ms);
	set(&worker->served, self.served);
	set(&worker->doing, layout_doing(doing));
}

static void take_place(void)
{
	self.worker = home.map.segment == NULL ? NULL : find_worker(home.map.segment);
	show_self();
}

void count_worker_begin(void)
{
	uint64_t start = 0;
	if (process_start(getpid(), &start) != 0)
		start = 0; /* known by its number alone */
	self.wanted = true;
	self.owner = layout_owner(getpid(), start);
	self.served = 0;
	self.since_ms = 0;
	self.doing = (struct layout_doing){.route = METRICS_ROUTE_OTHER, .state = WORKER_IDLE};
	take_place();
}

void count_worker_end(void)
{
	uint64_t owner = self.owner;
	if (self.worker != NULL)
		atomic_compare_exchange_strong(&self.worker->owner, &owner, 0);
	self.worker = NULL;
	self.wanted = false;
}

void count_worker_state(enum metrics_worker_state state)
{
	if (self.worker == NULL)
		return;
	self.doing.state = (uint16_t)state;
	show_self();
}

/* --- the file again, between two requests --- */

static void find_places(void)
{
	for (unsigned i = 1; i < route_count; i++)
		routes[i].place = find_place(routes[i].name);
	if (self.wanted)
		take_place();
}

static enum count_opening open_home(struct error *error)
{
	switch (segment_open(&home.map, home.directory, &home.owner, error)) {
	case SHARED_FAILED:
		return COUNT_FAILED;
	case SHARED_REPLACED:
		find_places();
		return COUNT_REPLACED;
	default:
		find_places();
		return COUNT_OPENED;
	}
}

enum count_opening count_refresh(struct error *error)
{
	if (home.map.segment != NULL && segment_stands(&home.map, home.directory))
		return COUNT_OPENED;
	return open_home(error);
}

/* A file that was removed or cut short is counted into by nobody else, and read by nobody. */
static void look_after_file(void)
{
	struct error error;
	int64_t minute = seconds_now() / SECONDS_OF_A_MINUTE;
	if (home.map.segment == NULL || (minute == home.looked && !segment_was_cut(&home.map)))
		return;
	home.looked = minute;
	enum count_opening opening = count_refresh(&error);
	if (opening == COUNT_FAILED)
		count_close();
	count_tell(opening, &error);
}

enum count_opening count_open(const char *directory, uid_t user, gid_t group, struct error *error)
{
	char *copy = strdup(directory);
	if (copy == NULL) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return COUNT_FAILED;
	}
	free(home.directory);
	home.directory = copy;
	home.owner = (struct shared_owner){.user = user, .group = group};
	home.looked = seconds_now() / SECONDS_OF_A_MINUTE;
	return open_home(error);
}

void count_tell(enum count_opening opening, const struct error *error)
{
	if (opening == COUNT_REPLACED)
		log_message(
		    LOG_LEVEL_WARNING, "metrics",
		    "counters begin at 0 in a new file, in the place of one that is none: %s",
		    error->message);
	else if (opening == COUNT_FAILED)
		log_message(LOG_LEVEL_WARNING, "metrics",
			    "nothing is counted: run_directory: %s; run: once-doctor",
			    error->message);
}

void count_close(void)
{
	segment_close(&home.map);
	self.worker = NULL;
}

void count_worker_request(unsigned route, bool busy)
{
	struct timespec now;
	self.doing.route = route;
	self.doing.busy = busy;
	if (busy) {
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
		self.since_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	} else {
		self.doing.state = WORKER_IDLE;
		self.since_ms = 0;
		self.served++;
	}
	show_self();
	if (!busy)
		look_after_file();
}

/* --- counters --- */

static void observe(struct segment_histogram *histogram, const uint64_t *bounds, size_t count,
		    int64_t microseconds)
{
	uint64_t value = microseconds > 0 ? (uint64_t)microseconds : 0;
	size_t bucket = 0;
	while (bucket < count && value > bounds[bucket])
		bucket++;
	add(&histogram->buckets[bucket], 1);
	add(&histogram->sum, value);
}

/* A minute's first one starts it anew by the same step that counts, so that a worker that dies here
 * leaves either all of it or nothing. */
static void count_minute(counter *value, int64_t minute)
{
	uint64_t seen = get(value);
	uint64_t next;
	do
		next = layout_minute(minute, layout_minute_count(seen, minute) + 1);
	while (!atomic_compare_exchange_weak_explicit(value, &seen, next, memory_order_relaxed,
						      memory_order_relaxed));
}

static void count_in_hour(struct segment_route *route, enum metrics_nature nature)
{
	int64_t minute = seconds_now() / SECONDS_OF_A_MINUTE;
	struct segment_minute *now = &route->minutes[(uint64_t)minute % METRICS_MINUTES];
	count_minute(&now->requests, minute);
	if (nature == OUTCOME_IS_REPLAY)
		count_minute(&now->replayed, minute);
	if (nature == OUTCOME_IS_ERROR)
		count_minute(&now->errors, minute);
}

void count_request(unsigned route, unsigned outcome, int64_t microseconds)
{
	struct segment_route *counters = route_of(route);
	if (counters == NULL || outcome >= METRICS_OUTCOMES)
		return;
	add(&counters->requests[outcome], 1);
	observe(&counters->request, metrics_request_bounds, METRICS_REQUEST_BUCKETS, microseconds);
	count_in_hour(counters, metrics_natures[outcome]);
}

void count_observed(unsigned route, unsigned outcome)
{
	struct segment_route *counters = route_of(route);
	if (counters != NULL && outcome < METRICS_OUTCOMES)
		add(&counters->observed[outcome], 1);
}

void count_handler(unsigned route, int64_t microseconds)
{
	struct segment_route *counters = route_of(route);
	if (counters != NULL)
		observe(&counters->handler, metrics_request_bounds, METRICS_REQUEST_BUCKETS,
			microseconds);
}

void count_settlement(unsigned route, enum metrics_settlement outcome)
{
	struct segment_route *counters = route_of(route);
	if (counters != NULL)
		add(&counters->settlements[outcome], 1);
}

void count_takeover(unsigned route)
{
	struct segment_route *counters = route_of(route);
	if (counters != NULL)
		add(&counters->takeovers, 1);
}

void count_reclaim(unsigned route)
{
	struct segment_route *counters = route_of(route);
	if (counters != NULL)
		add(&counters->reclaims, 1);
}

void count_conflict(unsigned route)
{
	struct segment_route *counters = route_of(route);
	if (counters != NULL)
		add(&counters->conflicts, 1);
}

void count_replay_bytes(uint64_t bytes)
{
	if (home.map.segment != NULL)
		add(&home.map.segment->replay_bytes, bytes);
}

void count_renewal(void)
{
	if (home.map.segment != NULL)
		add(&home.map.segment->renewals, 1);
}

void count_store(enum metrics_op op, int64_t microseconds)
{
	if (home.map.segment != NULL)
		observe(&home.map.segment->store[op], metrics_store_bounds, METRICS_STORE_BUCKETS,
			microseconds);
}

void count_store_error(enum metrics_reason reason)
{
	if (home.map.segment != NULL)
		add(&home.map.segment->store_errors[reason], 1);
}

void count_log(unsigned level)
{
	if (home.map.segment != NULL && level < METRICS_LEVELS)
		add(&home.map.segment->log_messages[level], 1);
}

void count_spool(uint64_t entries, int64_t oldest_ms, uint64_t set_aside)
{
	struct segment *segment = home.map.segment;
	if (segment == NULL)
		return;
	set(&segment->spool_entries, entries);
	set(&segment->spool_oldest_ms, (uint64_t)oldest_ms);
	set(&segment->spool_set_aside, set_aside);
}
