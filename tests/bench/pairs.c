/* SPDX-License-Identifier: ISC */
/*
 * Pairs of durable steps in a closed loop: so many processes, each with one connection, for so many
 * seconds. Prints pairs a second, the 50th and 99th percentile of a pair's time in µs, how many
 * pairs were made (those that warm up counted in), and the processor time of a pair in µs: the
 * clients' and, where a PID is given, the server's.
 */
#include <config.h>

#include "pair.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"

#define LANE_PAIRS  (1u << 21) /* most pairs a lane can note */
#define WARM_UP     32
#define CONNECTIONS 256

/* What one process measures, in memory shared with its parent. */
struct lane {
	uint32_t count;
	uint64_t end;               /* when its last pair ended, ns */
	uint64_t processor;         /* its processor time, ns */
	uint32_t times[LANE_PAIRS]; /* µs */
};

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec now = {0};
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int measure(const struct pair_way *way, void *connection, uint64_t number, uint64_t length,
		   struct lane *lane)
{
	uint64_t before = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t start = nanoseconds(CLOCK_MONOTONIC), now = start;
	while (now - start < length && lane->count < LANE_PAIRS) {
		if (way->run(connection, number++) != 0)
			return -1;
		uint64_t after = nanoseconds(CLOCK_MONOTONIC);
		lane->times[lane->count++] = (uint32_t)((after - now) / 1000);
		now = after;
	}
	lane->end = now;
	lane->processor = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - before;
	return 0;
}

/* A child: connect, warm up, say so on `ready`, and begin when `gate` is closed. */
static int run_lane(const struct pair_way *way, const struct pair_database *database, int ready,
		    int gate, uint64_t length, struct lane *lane)
{
	uint64_t number;
	void *connection = way->open(way, database);
	int result = -1;
	char byte = 0;
	if (connection == NULL)
		return -1;
	if (random_bytes(&number, sizeof(number)) != 0)
		goto out;
	for (int i = 0; i < WARM_UP; i++)
		if (way->run(connection, number++) != 0)
			goto out;
	if (write(ready, &byte, 1) == 1 && read(gate, &byte, 1) == 0)
		result = measure(way, connection, number, length, lane);
out:
	way->close(connection);
	return result;
}

static int by_size(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return (a > b) - (a < b);
}

static int report(struct lane *const lanes[], int count, uint64_t start, uint64_t server)
{
	size_t total = 0;
	uint64_t end = start + 1, client = 0;
	for (int i = 0; i < count; i++) {
		total += lanes[i]->count;
		client += lanes[i]->processor;
		if (lanes[i]->end > end)
			end = lanes[i]->end;
	}
	uint32_t *times = total == 0 ? NULL : malloc(total * sizeof(*times));
	if (times == NULL) {
		fputs("pairs: no pair was done, or out of memory\n", stderr);
		return -1;
	}
	for (size_t i = 0, at = 0; i < (size_t)count; at += lanes[i]->count, i++)
		memcpy(times + at, lanes[i]->times, lanes[i]->count * sizeof(*times));
	qsort(times, total, sizeof(*times), by_size);
	printf("%.1f %u %u %zu %.2f %.2f\n", (double)total * 1e9 / (double)(end - start),
	       times[total / 2], times[total * 99 / 100], total + (size_t)count * WARM_UP,
	       (double)client / 1e3 / (double)total, (double)server / 1e3 / (double)total);
	free(times);
	return 0;
}

static bool all_succeeded(int children)
{
	bool all = true;
	for (int i = 0; i < children; i++) {
		int status = 0;
		if (wait(&status) < 0 || status != 0)
			all = false;
	}
	return all;
}

/* `server` is the clock of the server's processor time. */
static int run_lanes(const struct pair_way *way, const struct pair_database *database, int count,
		     uint64_t length, clockid_t server)
{
	struct lane *lanes[CONNECTIONS];
	int ready[2], gate[2], begun;
	if (pipe(ready) != 0 || pipe(gate) != 0) {
		perror("pairs: pipe");
		return -1;
	}
	for (begun = 0; begun < count; begun++) {
		lanes[begun] = mmap(NULL, sizeof(struct lane), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		pid_t child = lanes[begun] == MAP_FAILED ? -1 : fork();
		if (child < 0) {
			perror("pairs: cannot start a lane");
			break;
		}
		if (child == 0) {
			close(gate[1]);
			_exit(run_lane(way, database, ready[1], gate[0], length, lanes[begun]) == 0
				  ? EXIT_SUCCESS
				  : EXIT_FAILURE);
		}
	}
	close(ready[1]);
	char byte;
	for (int i = 0; i < begun && read(ready[0], &byte, 1) == 1; i++)
		;
	uint64_t before = nanoseconds(server), start = nanoseconds(CLOCK_MONOTONIC);
	close(gate[1]);
	if (!all_succeeded(begun) || begun < count)
		return -1;
	return report(lanes, count, start, nanoseconds(server) - before);
}

static const struct pair_way *way_of(const char *name)
{
	static const struct pair_way *const ways[] = {
	    &pair_raw, &pair_narrow_bare, &pair_narrow, &pair_wide, &pair_store,
	};
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(name, ways[i]->name) == 0)
			return ways[i];
	return NULL;
}

int main(int argc, char *argv[])
{
	const struct pair_way *way = argc > 1 ? way_of(argv[1]) : NULL;
	int connections = argc > 2 ? atoi(argv[2]) : 0;
	double seconds = argc > 3 ? atof(argv[3]) : 0;
	if (way == NULL || connections < 1 || connections > CONNECTIONS || seconds <= 0 ||
	    argc < 6) {
		fputs("usage: pairs raw|narrow-bare|narrow|wide|store CONNECTIONS SECONDS"
		      " SOCKET DATABASE [OPTION-FILE [SERVER-PID]]\n",
		      stderr);
		return EXIT_FAILURE;
	}
	static char none[] = "";
	const struct pair_database database = {
	    .socket = argv[4], .name = argv[5], .option_file = argc > 6 ? argv[6] : none};
	clockid_t server = CLOCK_THREAD_CPUTIME_ID; /* a parent that waits uses none */
	if (argc > 7 && clock_getcpuclockid(atoi(argv[7]), &server) != 0) {
		fprintf(stderr, "pairs: no process %s\n", argv[7]);
		return EXIT_FAILURE;
	}
	if (way->prepare(way, &database) != 0 ||
	    run_lanes(way, &database, connections, (uint64_t)(seconds * 1e9), server) != 0)
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
