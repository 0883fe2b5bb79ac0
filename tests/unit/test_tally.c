/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/tally.h"

#include "cgi-bin/status/picture.h"
#include "tests/unit/suite.h"

static unsigned outcome(const char *name)
{
	unsigned i = 0;
	while (strcmp(metrics_outcomes[i], name) != 0)
		i++;
	return i;
}

START_TEST(a_route_comes_to_the_sums_of_its_counters)
{
	struct reading_route route = {.name = "orders", .in_flight = 3};
	struct tally tally;
	for (unsigned i = 0; i < METRICS_OUTCOMES; i++)
		route.requests[i] = 1;
	route.requests[outcome("first")] = 100;
	route.requests[outcome("replayed")] = 20;
	route.requests[outcome("mismatch")] = 5;
	route.minutes[10] = (struct reading_minute){1000, 7, 3, 1};
	route.minutes[59] = (struct reading_minute){1049, 9, 2, 0};
	route.request.count = 4;
	route.request.buckets[0] = 4;
	tally_route(&tally, &route);
	ck_assert_uint_eq(tally.first, 100);
	ck_assert_uint_eq(tally.replayed, 20);
	ck_assert_uint_eq(tally.mismatch, 5);
	ck_assert_uint_eq(tally.requests, 125 + METRICS_OUTCOMES - 3);
	/* store_down, body_unspooled, handler_failed, handler_timeout, rebuild_failed, unsettled,
	 * internal_error */
	ck_assert_uint_eq(tally.errors, 7);
	ck_assert_uint_eq(tally.in_flight, 3);
	ck_assert_int_eq(tally.median, (int64_t)metrics_request_bounds[0] / 2);
	ck_assert_uint_eq(tally.hour.requests, 16);
	ck_assert_uint_eq(tally.hour.replayed, 5);
	ck_assert_uint_eq(tally.hour.errors, 1);
	ck_assert_uint_eq(tally.hour.most, 9);
	ck_assert_int_eq(tally.hour.when, 1049);
}
END_TEST

START_TEST(the_picture_is_told_in_words)
{
	struct tally tally = {
	    .hour = {.requests = 16, .replayed = 5, .errors = 1, .most = 9, .when = 29455384}};
	struct buffer words = {0};
	picture_tell(&words, &tally);
	ck_assert_str_eq(buffer_text(&words), "16 requests, 5 replayed, 1 error; most in one"
					      " minute: 9 at 03:04 UTC");
	buffer_free(&words);
}
END_TEST

START_TEST(the_longest_at_work_is_the_one_that_began_first)
{
	struct reading_worker items[] = {
	    {.pid = 1, .state = WORKER_IDLE},
	    {.pid = 2, .state = WORKER_RUNNING, .busy = true, .since_ms = 2000},
	    {.pid = 3, .state = WORKER_RUNNING, .busy = true, .since_ms = 1000},
	    {.pid = 4, .state = WORKER_WAITING, .busy = true, .since_ms = 3000},
	};
	struct reading reading = {.workers = items, .worker_count = 4};
	struct tally_workers workers;
	tally_workers(&workers, &reading);
	ck_assert_int_eq(workers.longest->pid, 3);
	ck_assert_uint_eq(workers.states[WORKER_IDLE], 1);
	ck_assert_uint_eq(workers.states[WORKER_RUNNING], 2);
	ck_assert_uint_eq(workers.states[WORKER_SENDING], 0);
	reading.worker_count = 1;
	tally_workers(&workers, &reading);
	ck_assert_ptr_null(workers.longest);
}
END_TEST

START_TEST(other_is_shown_where_there_is_something_of_it)
{
	struct reading_route routes[2] = {{.name = "other"}, {.name = "orders"}};
	struct reading reading = {.routes = routes, .route_count = 2};
	ck_assert(!tally_shows_other(&reading));
	routes[0].requests[0] = 1;
	ck_assert(tally_shows_other(&reading));
	routes[0].requests[0] = 0;
	routes[0].in_flight = 1;
	ck_assert(tally_shows_other(&reading));
	routes[0].in_flight = 0;
	reading.route_count = 1;
	ck_assert(tally_shows_other(&reading));
}
END_TEST

int main(void)
{
	Suite *tests = suite_create("tally");
	TCase *all = tcase_create("tally");
	tcase_add_test(all, a_route_comes_to_the_sums_of_its_counters);
	tcase_add_test(all, the_picture_is_told_in_words);
	tcase_add_test(all, the_longest_at_work_is_the_one_that_began_first);
	tcase_add_test(all, other_is_shown_where_there_is_something_of_it);
	suite_add_tcase(tests, all);
	return suite_run(tests);
}
