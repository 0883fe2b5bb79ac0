/* SPDX-License-Identifier: ISC */
/*
 * What the counters of one replayed request cost: counts DIRECTORY TIMES prints nanoseconds of
 * processor time for all that a worker counts on that path, with a segment in DIRECTORY.
 */
#include <config.h>

#include "metrics/count.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "broker/verdict.h"

/* As worker.c, broker/, and store/issue.c call them. */
static void count_replay(unsigned route)
{
	count_worker_state(WORKER_READING);
	int64_t started = count_now();
	count_worker_request(route, true);
	count_worker_state(WORKER_CLAIMING);
	int64_t asked = count_now();
	count_store(STORE_OP_CLAIM, count_now() - asked);
	count_worker_state(WORKER_SENDING);
	count_replay_bytes(500);
	count_request(route, VERDICT_REPLAYED, count_now() - started);
	count_log(1);
	count_worker_request(METRICS_ROUTE_OTHER, false);
	count_worker_state(WORKER_IDLE);
}

static double processor_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	struct error error;
	long times = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	if (times <= 0) {
		fputs("usage: counts DIRECTORY TIMES\n", stderr);
		return 64;
	}
	if (count_open(argv[1], geteuid(), getegid(), &error) == COUNT_FAILED) {
		fprintf(stderr, "counts: %s\n", error.message);
		return 1;
	}
	unsigned route = count_route("bench");
	count_worker_begin();
	double from = processor_ns();
	for (long i = 0; i < times; i++)
		count_replay(route);
	printf("%.0f\n", (processor_ns() - from) / (double)times);
	count_worker_end();
	return 0;
}
