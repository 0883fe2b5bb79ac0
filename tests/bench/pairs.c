/* SPDX-License-Identifier: ISC */
/*
 * Pairs of durable steps in a closed loop: so many processes, each with one connection, for so many
 * seconds. Prints pairs a second and the 50th and 99th percentile of a pair's time in microseconds.
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
	uint32_t times[LANE_PAIRS]; /* µs */
};

static uint64_t nanoseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int measure(const struct pair_way *way, void *connection, uint64_t number, uint64_t length,
		   struct lane *lane)
{
	uint64_t start = nanoseconds(), now = start;
	while (now - start < length && lane->count < LANE_PAIRS) {
		if (way->run(connection, number++) != 0)
			return -1;
		uint64_t after = nanoseconds();
		lane->times[lane->count++] = (uint32_t)((after - now) / 1000);
		now = after;
	}
	lane->end = now;
	return 0;
}

/* A child: connect, warm up, say so on `ready`, and begin when `gate` is closed. */
static int run_lane(const struct pair_way *way, const struct pair_database *database, int ready,
		    int gate, uint64_t length, struct lane *lane)
{
	uint64_t number;
	void *connection = way->open(database);
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

static int report(struct lane *const lanes[], int count, uint64_t start)
{
	size_t total = 0;
	uint64_t end = start + 1;
	for (int i = 0; i < count; i++) {
		total += lanes[i]->count;
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
	printf("%.1f %u %u\n", (double)total * 1e9 / (double)(end - start), times[total / 2],
	       times[total * 99 / 100]);
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

static int run_lanes(const struct pair_way *way, const struct pair_database *database, int count,
		     uint64_t length)
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
	uint64_t start = nanoseconds();
	close(gate[1]);
	return all_succeeded(begun) && begun == count ? report(lanes, count, start) : -1;
}

int main(int argc, char *argv[])
{
	static const struct pair_way *const ways[] = {&pair_raw, &pair_store};
	const struct pair_way *way = NULL;
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(argv[1], ways[i]->name) == 0)
			way = ways[i];
	int connections = argc > 2 ? atoi(argv[2]) : 0;
	double seconds = argc > 3 ? atof(argv[3]) : 0;
	if (way == NULL || connections < 1 || connections > CONNECTIONS || seconds <= 0 ||
	    argc < 6) {
		fputs("usage: pairs raw|store CONNECTIONS SECONDS SOCKET DATABASE [OPTION-FILE]\n",
		      stderr);
		return EXIT_FAILURE;
	}
	static char none[] = "";
	const struct pair_database database = {
	    .socket = argv[4], .name = argv[5], .option_file = argc > 6 ? argv[6] : none};
	if (way->prepare(&database) != 0 ||
	    run_lanes(way, &database, connections, (uint64_t)(seconds * 1e9)) != 0)
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
