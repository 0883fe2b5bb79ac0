/* SPDX-License-Identifier: ISC */
/*
 * history RUN-DIRECTORY: an hour that never was, for tests and pictures of the status page. Lines
 *on standard input:
 *
 *	requests ROUTE OUTCOME MINUTES-AGO COUNT MICROSECONDS    so many, each of which took so long
 *	worker ROUTE STATE SECONDS                               at that for so long; a process of
 *its own
 *
 * ROUTE may have any bytes but blanks. Says "ready" when all is there, and stays until it is
 *killed; the workers end with it.
 */
#include <config.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "metrics/count.h"
#include "metrics/segment.h"

static struct segment *segment;

static void fail(const char *what)
{
	fprintf(stderr, "history: %s\n", what);
	exit(1);
}

static unsigned place_of(const char *const names[], size_t count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	fail(name);
	return 0;
}

static struct segment_route *route_of(const char *name)
{
	(void)count_route(name);
	for (size_t i = 0; i < METRICS_ROUTES; i++)
		if (segment->routes[i].digest == layout_digest(name))
			return &segment->routes[i];
	return &segment->routes[METRICS_ROUTE_OTHER];
}

static void raise_minute(counter *word, int64_t minute, uint64_t count)
{
	*word = layout_minute(minute, layout_minute_count(*word, minute) + count);
}

static void add_requests(const char *name, const char *word, int64_t ago, uint64_t count,
			 uint64_t microseconds)
{
	struct segment_route *route = route_of(name);
	unsigned outcome = place_of(metrics_outcomes, METRICS_OUTCOMES, word);
	int64_t minute = (int64_t)time(NULL) / 60 - ago;
	struct segment_minute *at = &route->minutes[(uint64_t)minute % METRICS_MINUTES];
	size_t bucket = 0;
	while (bucket < METRICS_REQUEST_BUCKETS && microseconds > metrics_request_bounds[bucket])
		bucket++;
	route->requests[outcome] += count;
	route->request.buckets[bucket] += count;
	route->request.sum += count * microseconds;
	raise_minute(&at->requests, minute, count);
	if (metrics_natures[outcome] == OUTCOME_IS_REPLAY)
		raise_minute(&at->replayed, minute, count);
	if (metrics_natures[outcome] == OUTCOME_IS_ERROR)
		raise_minute(&at->errors, minute, count);
}

/* A worker, seen once the pipe is closed; until it is killed. */
static void work(const char *name, enum metrics_worker_state state, int64_t seconds, int ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	count_worker_begin();
	if (state != WORKER_IDLE) {
		count_worker_request(count_route(name), true);
		count_worker_state(state);
	}
	for (size_t i = 0; i < METRICS_WORKERS; i++)
		if (layout_owner_pid(segment->workers[i].owner) == getpid() && state != WORKER_IDLE)
			segment->workers[i].since_ms =
			    (uint64_t)((int64_t)time(NULL) - seconds) * 1000;
	close(ready);
	close(STDOUT_FILENO);
	for (;;)
		pause();
}

static void add_worker(const char *name, const char *word, int64_t seconds)
{
	int ready[2];
	char byte;
	unsigned state = place_of(metrics_worker_states, METRICS_WORKER_STATES, word);
	(void)count_route(name);
	if (pipe(ready) < 0)
		fail("pipe");
	pid_t pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0)
		work(name, (enum metrics_worker_state)state, seconds, ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 0)
		fail("a worker");
	close(ready[0]);
}

static void take_line(const char *line)
{
	char route[METRICS_ROUTE_NAME], word[32];
	int64_t when;
	uint64_t count, microseconds;
	if (sscanf(line, "requests %63s %31s %" SCNd64 " %" SCNu64 " %" SCNu64, route, word, &when,
		   &count, &microseconds) == 5)
		add_requests(route, word, when, count, microseconds);
	else if (sscanf(line, "worker %63s %31s %" SCNd64, route, word, &when) == 3)
		add_worker(route, word, when);
	else
		fail(line);
}

int main(int argc, char **argv)
{
	struct segment_map map = {0};
	struct error error;
	struct stat status;
	char line[256];
	if (argc != 2 || stat(argv[1], &status) < 0)
		fail("usage: history RUN-DIRECTORY");
	/* As the pool's account, or its file would be taken for somebody else's. */
	const struct shared_owner owner = {.user = status.st_uid, .group = status.st_gid};
	if (count_open(argv[1], owner.user, owner.group, &error) == COUNT_FAILED ||
	    segment_open(&map, argv[1], &owner, &error) == SHARED_FAILED)
		fail(error.message);
	segment = map.segment;
	while (fgets(line, sizeof(line), stdin) != NULL)
		take_line(line);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
