/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "metrics/reading.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"
#include "broker/verdict.h"
#include "metrics/count.h"
#include "metrics/segment.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

static struct segment_map map; /* to put into the segment what nobody would count */

static void take(struct reading *reading)
{
	struct error error;
	ck_assert_msg(reading_take(reading, scratch_path("run"), &error) == 0, "%s", error.message);
}

START_TEST(where_there_is_no_segment_the_error_names_it)
{
	struct reading reading;
	struct error error;
	ck_assert_int_eq(reading_take(&reading, scratch_path("absent"), &error), -1);
	ck_assert_int_eq(error.kind, ERROR_SYSTEM);
	ck_assert_msg(strstr(error.message, "absent/metrics.") != NULL, "%s", error.message);
	reading_free(&reading);
}
END_TEST

START_TEST(what_is_no_segment_is_not_read)
{
	struct reading reading;
	struct error error;
	char name[LAYOUT_FILE_NAME], path[64];
	layout_file_name(name);
	snprintf(path, sizeof(path), "run/%s", name);
	ck_assert_int_eq(truncate(scratch_path(path), sizeof(struct segment) - 1), 0);
	ck_assert_int_eq(reading_take(&reading, scratch_path("run"), &error), -1);
	ck_assert_msg(strstr(error.message, "no metrics file") != NULL, "%s", error.message);
	reading_free(&reading);
}
END_TEST

/* --- histograms --- */

START_TEST(a_sum_is_within_what_the_buckets_allow)
{
	static const struct {
		size_t bucket;
		uint64_t sum, expected;
		const char *why;
	} cases[] = {
	    {0, 0, 0, "a first bucket may hold zeros"},
	    {0, 3000, 3000, "as it was counted"},
	    {2, 0, 10000, "killed before its sum: the bucket's lower end"},
	    {2, 99999, 25000, "a sum whose bucket was not seen yet: its upper end"},
	    {METRICS_REQUEST_BUCKETS, 7000000000, 7000000000, "+Inf has no upper end"},
	    {METRICS_REQUEST_BUCKETS, 1, 60000000, "but a lower one"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reading reading;
		struct segment_histogram *histogram = &map.segment->routes[0].request;
		memset(histogram, 0, sizeof(*histogram));
		histogram->buckets[cases[i].bucket] = 1;
		histogram->sum = cases[i].sum;
		take(&reading);
		ck_assert_uint_eq(reading.routes[0].request.count, 1);
		ck_assert_msg(reading.routes[0].request.sum == cases[i].expected, "%s",
			      cases[i].why);
		reading_free(&reading);
	}
}
END_TEST

START_TEST(a_quantile_is_interpolated_within_its_bucket)
{
	static const struct {
		struct reading_histogram histogram;
		double q;
		int64_t expected;
		const char *why;
	} cases[] = {
	    {{{0}, 0, 0}, 0.5, -1, "nothing counted"},
	    {{{10}, 10, 0}, 0.5, 2500, "half of the first bucket"},
	    {{{10, 10}, 20, 0}, 0.5, 5000, "a bucket's end"},
	    {{{10, 10}, 20, 0}, 0.95, 9500, "nine tenths of the second"},
	    {{{0, 0, 4}, 4, 0}, 0.25, 13750, "empty ones below"},
	    {{{[METRICS_REQUEST_BUCKETS] = 5}, 5, 0}, 0.5, 60000000, "+Inf: its lower end"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(reading_quantile(&cases[i].histogram, metrics_request_bounds,
					       METRICS_REQUEST_BUCKETS,
					       cases[i].q) == cases[i].expected,
			      "%s", cases[i].why);
}
END_TEST

/* --- the last hour --- */

static int64_t this_minute(void)
{
	return (int64_t)time(NULL) / 60;
}

static struct segment_minute *minute_at(int64_t minute)
{
	return &map.segment->routes[0].minutes[minute % METRICS_MINUTES];
}

START_TEST(a_minute_tells_its_own_count_and_no_other_hours)
{
	static const struct {
		int64_t age;
		uint64_t expected;
		const char *why;
	} cases[] = {
	    {0, 9, "now"},
	    {59, 9, "the oldest one that is told"},
	    {60, 0, "the same place, an hour ago: silent since"},
	    {60 * 24, 0, "a day ago"},
	    {-60, 0, "in the future: the clock has jumped back"},
	    {-60 * 24 * 365, 0, "far in the future"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct reading reading;
		int64_t now = this_minute();
		int64_t then = now - cases[i].age;
		memset(map.segment->routes[0].minutes, 0, sizeof(map.segment->routes[0].minutes));
		minute_at(then)->requests = layout_minute(then, 9);
		take(&reading);
		const struct reading_minute *minutes = reading.routes[0].minutes;
		uint64_t sum = 0;
		for (size_t k = 0; k < METRICS_MINUTES; k++) {
			sum += minutes[k].requests;
			ck_assert_int_eq(minutes[k].minute, minutes[0].minute + (int64_t)k);
			if (minutes[k].requests > 0)
				ck_assert_int_eq(minutes[k].minute, then);
		}
		/* The minute may have turned within this test. */
		if (minutes[METRICS_MINUTES - 1].minute == now)
			ck_assert_msg(sum == cases[i].expected, "%s", cases[i].why);
		reading_free(&reading);
	}
}
END_TEST

START_TEST(a_minute_begins_at_one_whatever_its_place_held)
{
	static const int64_t ages[] = {60, 61 * 60, -60, -60 * 24 * 365};
	for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
		struct reading reading;
		uint64_t sum = 0;
		memset(map.segment->routes[0].minutes, 0, sizeof(map.segment->routes[0].minutes));
		/* every place, so that it does not matter which minute it is by then */
		for (int64_t k = this_minute(); k < this_minute() + METRICS_MINUTES; k++)
			minute_at(k)->requests = layout_minute(k - ages[i], UINT32_MAX);
		count_request(METRICS_ROUTE_OTHER, VERDICT_FIRST, 1);
		take(&reading);
		for (size_t k = METRICS_MINUTES - 2; k < METRICS_MINUTES; k++)
			sum += reading.routes[0].minutes[k].requests % UINT32_MAX;
		ck_assert_uint_eq(sum, 1);
		reading_free(&reading);
	}
}
END_TEST

/* --- the scoreboard --- */

START_TEST(a_worker_is_seen_with_what_it_does_until_it_ends)
{
	struct reading reading;
	unsigned route = count_route("payments");
	count_worker_begin();
	take(&reading);
	ck_assert_uint_eq(reading.worker_count, 1);
	ck_assert_int_eq(reading.workers[0].pid, getpid());
	ck_assert_int_eq(reading.workers[0].state, WORKER_IDLE);
	ck_assert(!reading.workers[0].busy);
	ck_assert_int_eq(reading.workers[0].since_ms, 0);
	ck_assert_uint_gt(reading.workers[0].resident, 100 * 1024);
	reading_free(&reading);

	count_worker_request(route, true);
	count_worker_state(WORKER_RUNNING);
	take(&reading);
	ck_assert(reading.workers[0].busy);
	ck_assert_int_eq(reading.workers[0].state, WORKER_RUNNING);
	ck_assert_str_eq(reading.routes[reading.workers[0].route].name, "payments");
	ck_assert_int_le(llabs(reading.workers[0].since_ms - (int64_t)time(NULL) * 1000), 10000);
	ck_assert_uint_eq(reading.routes[reading.workers[0].route].in_flight, 1);
	reading_free(&reading);

	count_worker_request(METRICS_ROUTE_OTHER, false);
	take(&reading);
	ck_assert(!reading.workers[0].busy);
	ck_assert_int_eq(reading.workers[0].state, WORKER_IDLE);
	ck_assert_uint_eq(reading.workers[0].served, 1);
	reading_free(&reading);

	count_worker_end();
	take(&reading);
	ck_assert_uint_eq(reading.worker_count, 0);
	reading_free(&reading);
}
END_TEST

START_TEST(whoever_was_killed_is_not_seen_nor_who_has_its_number_now)
{
	struct reading reading;
	int ready[2];
	char byte;
	ck_assert_int_eq(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		count_worker_begin();
		count_worker_request(METRICS_ROUTE_OTHER, true);
		ck_assert_int_eq(write(ready[1], "", 1), 1);
		pause();
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	take(&reading);
	ck_assert_uint_eq(reading.worker_count, 1);
	reading_free(&reading);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	take(&reading);
	ck_assert_uint_eq(reading.worker_count, 0);
	ck_assert_uint_eq(reading.routes[0].in_flight, 0);
	reading_free(&reading);
	/* The same number, given to a process that started later. */
	uint64_t start;
	ck_assert_int_eq(process_start(getpid(), &start), 0);
	map.segment->workers[0].owner = layout_owner(getpid(), start - 1);
	take(&reading);
	ck_assert_uint_eq(reading.worker_count, 0);
	reading_free(&reading);
}
END_TEST

START_TEST(the_places_of_the_dead_are_used_again_and_those_of_the_living_are_not)
{
	struct reading reading;
	uint64_t start;
	ck_assert_int_eq(process_start(getpid(), &start), 0);
	/* full, of processes that have gone but for one */
	for (size_t i = 0; i < METRICS_WORKERS; i++)
		map.segment->workers[i].owner = layout_owner(getpid(), start - 1 - i);
	map.segment->workers[0].owner = layout_owner(getppid(), 0);
	count_worker_begin();
	take(&reading);
	ck_assert_uint_eq(reading.worker_count, 2);
	ck_assert_int_eq(reading.workers[0].pid, getppid());
	ck_assert_int_eq(reading.workers[1].pid, getpid());
	reading_free(&reading);
	count_worker_end();
	/* full of the living: one more is not seen, and counts all the same */
	for (size_t i = 0; i < METRICS_WORKERS; i++)
		map.segment->workers[i].owner = layout_owner(getppid(), 0);
	count_worker_begin();
	count_worker_state(WORKER_RUNNING);
	count_worker_request(METRICS_ROUTE_OTHER, false);
	count_renewal();
	take(&reading);
	ck_assert_uint_eq(reading.worker_count, METRICS_WORKERS);
	ck_assert_uint_eq(reading.renewals, 1);
	reading_free(&reading);
	count_worker_end();
}
END_TEST

/* --- under fire --- */

enum { WRITERS = 16, KILLS = 60 };

/* What each writer has counted by its own account, raised after the segment was. */
static void write_until_killed(_Atomic uint64_t *own)
{
	unsigned route = count_route("payments");
	count_worker_begin();
	for (unsigned i = 0;; i++) {
		count_worker_request(route, true);
		count_request(route, i % 2 == 0 ? VERDICT_FIRST : VERDICT_REPLAYED,
			      (int64_t)(i * 7919 % 200000));
		atomic_fetch_add(own, 1);
		count_worker_request(route, false);
	}
}

static pid_t start_writer(_Atomic uint64_t *own)
{
	pid_t pid = fork();
	if (pid == 0)
		write_until_killed(own);
	ck_assert_int_gt(pid, 0);
	return pid;
}

static uint64_t requests_of(const struct reading_route *route)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < METRICS_OUTCOMES; i++)
		sum += route->requests[i];
	return sum;
}

static void check_forward(const struct reading *before, const struct reading *after)
{
	if (before->route_count < 2)
		return;
	const struct reading_route *one = &before->routes[1], *two = &after->routes[1];
	for (size_t i = 0; i < METRICS_OUTCOMES; i++)
		ck_assert_uint_le(one->requests[i], two->requests[i]);
	for (size_t i = 0; i <= METRICS_REQUEST_BUCKETS; i++)
		ck_assert_uint_le(one->request.buckets[i], two->request.buckets[i]);
	ck_assert_uint_le(one->request.sum, two->request.sum);
	ck_assert_uint_le(one->request.count, two->request.count);
	ck_assert_uint_le(after->worker_count, WRITERS);
}

START_TEST(sixteen_writers_killed_at_random_leave_right_sums_that_never_run_backwards)
{
	_Atomic uint64_t *own =
	    mmap(NULL, sizeof(*own), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct reading before, after;
	pid_t writers[WRITERS];
	for (size_t i = 0; i < WRITERS; i++)
		writers[i] = start_writer(own);
	take(&before);
	for (unsigned i = 0; i < KILLS; i++) {
		/* when it has got somewhere since the last one */
		uint64_t seen = atomic_load(own);
		while (atomic_load(own) < seen + 100)
			clock_pause(1);
		size_t victim = (size_t)rand() % WRITERS;
		kill(writers[victim], SIGKILL);
		ck_assert_int_eq(waitpid(writers[victim], NULL, 0), writers[victim]);
		writers[victim] = start_writer(own);
		take(&after);
		check_forward(&before, &after);
		reading_free(&before);
		before = after;
	}
	for (size_t i = 0; i < WRITERS; i++) {
		kill(writers[i], SIGKILL);
		ck_assert_int_eq(waitpid(writers[i], NULL, 0), writers[i]);
	}
	take(&after);
	check_forward(&before, &after);
	const struct reading_route *route = &after.routes[1];
	uint64_t counted = requests_of(route), told = atomic_load(own);
	ck_assert_uint_ge(counted, told);
	ck_assert_uint_le(counted, told + KILLS + WRITERS);
	ck_assert_uint_le(route->request.count, counted);
	ck_assert_uint_ge(route->request.count + KILLS + WRITERS, counted);
	uint64_t minutes = 0;
	for (size_t i = 0; i < METRICS_MINUTES; i++)
		minutes += route->minutes[i].requests;
	ck_assert_uint_le(minutes, counted);
	ck_assert_uint_ge(minutes + KILLS + WRITERS, counted);
	ck_assert_uint_eq(after.worker_count, 0);
	reading_free(&before);
	reading_free(&after);
}
END_TEST

static void set_up(void)
{
	const struct shared_owner me = {geteuid(), getegid()};
	struct error error;
	scratch_set_up();
	ck_assert_int_eq(count_open(scratch_path("run"), geteuid(), getegid(), &error),
			 COUNT_OPENED);
	ck_assert_int_eq(segment_open(&map, scratch_path("run"), &me, &error), SHARED_OPENED);
}

static void tear_down(void)
{
	count_close();
	segment_close(&map);
	scratch_tear_down();
}

static Suite *reading_suite(void)
{
	Suite *suite = suite_create("reading");
	TCase *reading = tcase_create("reading");
	tcase_add_checked_fixture(reading, set_up, tear_down);
	tcase_set_timeout(reading, 60);
	tcase_add_test(reading, where_there_is_no_segment_the_error_names_it);
	tcase_add_test(reading, what_is_no_segment_is_not_read);
	tcase_add_test(reading, a_sum_is_within_what_the_buckets_allow);
	tcase_add_test(reading, a_quantile_is_interpolated_within_its_bucket);
	tcase_add_test(reading, a_minute_tells_its_own_count_and_no_other_hours);
	tcase_add_test(reading, a_minute_begins_at_one_whatever_its_place_held);
	tcase_add_test(reading, a_worker_is_seen_with_what_it_does_until_it_ends);
	tcase_add_test(reading, whoever_was_killed_is_not_seen_nor_who_has_its_number_now);
	tcase_add_test(reading,
		       the_places_of_the_dead_are_used_again_and_those_of_the_living_are_not);
	tcase_add_test(reading,
		       sixteen_writers_killed_at_random_leave_right_sums_that_never_run_backwards);
	suite_add_tcase(suite, reading);
	return suite;
}

int main(void)
{
	return suite_run(reading_suite());
}
