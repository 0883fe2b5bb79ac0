/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "metrics/count.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "broker/verdict.h"
#include "metrics/reading.h"
#include "metrics/segment.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

#define NOBODY 65534

static const char *segment_name(void)
{
	static char path[64];
	char name[LAYOUT_FILE_NAME];
	layout_file_name(name);
	snprintf(path, sizeof(path), "run/%s", name);
	return path;
}

static enum count_opening open_own(struct error *error)
{
	*error = (struct error){0};
	return count_open(scratch_path("run"), geteuid(), getegid(), error);
}

static void open_well(void)
{
	struct error error;
	ck_assert_msg(open_own(&error) == COUNT_OPENED, "%s", error.message);
}

static void take(struct reading *reading)
{
	struct error error;
	ck_assert_msg(reading_take(reading, scratch_path("run"), &error) == 0, "%s", error.message);
}

static const struct reading_route *route_named(const struct reading *reading, const char *name)
{
	const struct reading_route *found = NULL;
	for (size_t i = 0; i < reading->route_count; i++) {
		if (strcmp(reading->routes[i].name, name) != 0)
			continue;
		ck_assert_msg(found == NULL, "%s is there twice", name);
		found = &reading->routes[i];
	}
	ck_assert_msg(found != NULL, "%s is not there", name);
	return found;
}

static void check_file(void)
{
	struct stat status;
	ck_assert_int_eq(lstat(scratch_path(segment_name()), &status), 0);
	ck_assert(S_ISREG(status.st_mode));
	ck_assert_uint_eq(status.st_mode & 07777, 0640);
	ck_assert_uint_eq(status.st_uid, geteuid());
	ck_assert_int_eq(status.st_size, sizeof(struct segment));
	ck_assert_int_ge(status.st_blocks * 512, sizeof(struct segment));
	ck_assert_uint_eq(status.st_nlink, 1);
}

/* All of it once; a replay, an error and a plain one. */
static void count_everything(unsigned route)
{
	count_request(route, VERDICT_FIRST, 4999);
	count_request(route, VERDICT_REPLAYED, 5000);
	count_request(route, VERDICT_STORE_DOWN, 90000000);
	count_observed(route, VERDICT_MISMATCH);
	count_handler(route, 5001);
	count_settlement(route, SETTLEMENT_UNKNOWN);
	count_takeover(route);
	count_reclaim(route);
	count_conflict(route);
	count_replay_bytes(12345);
	count_renewal();
	count_store(STORE_OP_SETTLE, 1000001);
	count_store_error(STORE_ERROR_FULL);
	count_log(2);
	count_spool(3, 1700000000000, 1);
}

START_TEST(the_outcomes_are_the_verdicts_in_their_order)
{
	ck_assert_int_eq(METRICS_OUTCOMES, VERDICT_INTERNAL_ERROR + 1);
	for (unsigned i = 0; i < METRICS_OUTCOMES; i++) {
		ck_assert_str_eq(metrics_outcomes[i], verdict_name((enum verdict)i));
		ck_assert_int_eq(metrics_natures[i] == OUTCOME_IS_ERROR,
				 verdict_status((enum verdict)i, NULL) >= 500);
		ck_assert_int_eq(metrics_natures[i] == OUTCOME_IS_REPLAY, i == VERDICT_REPLAYED);
	}
}
END_TEST

START_TEST(every_worker_state_has_a_letter_of_its_own)
{
	ck_assert_uint_eq(strlen(metrics_worker_letters), METRICS_WORKER_STATES);
	for (size_t i = 0; i < METRICS_WORKER_STATES; i++)
		ck_assert_ptr_eq(strchr(metrics_worker_letters, metrics_worker_letters[i]),
				 &metrics_worker_letters[i]);
}
END_TEST

START_TEST(what_is_missing_is_made_and_stays)
{
	struct reading reading;
	open_well();
	check_file();
	count_replay_bytes(7);
	count_close();
	open_well();
	count_replay_bytes(8);
	take(&reading);
	ck_assert_uint_eq(reading.replay_bytes, 15);
	ck_assert_int_gt(reading.created_ms, 0);
	reading_free(&reading);
}
END_TEST

START_TEST(without_a_segment_nothing_is_counted_and_nothing_fails)
{
	count_everything(count_route("payments"));
	count_worker_begin();
	count_worker_request(1, true);
	count_worker_state(WORKER_RUNNING);
	count_worker_request(1, false);
	count_worker_end();
	open_well();
	struct reading reading;
	take(&reading);
	ck_assert_uint_eq(reading.worker_count, 0);
	ck_assert_uint_eq(reading.replay_bytes, 0);
	/* The route has its counters from now on. */
	count_takeover(count_route("payments"));
	reading_free(&reading);
	take(&reading);
	ck_assert_uint_eq(route_named(&reading, "payments")->takeovers, 1);
	reading_free(&reading);
}
END_TEST

START_TEST(each_count_is_read_where_it_belongs)
{
	open_well();
	count_everything(count_route("payments"));
	struct reading reading;
	take(&reading);
	const struct reading_route *route = route_named(&reading, "payments");
	ck_assert_uint_eq(route->requests[VERDICT_FIRST], 1);
	ck_assert_uint_eq(route->requests[VERDICT_REPLAYED], 1);
	ck_assert_uint_eq(route->requests[VERDICT_STORE_DOWN], 1);
	ck_assert_uint_eq(route->observed[VERDICT_MISMATCH], 1);
	ck_assert_uint_eq(route->settlements[SETTLEMENT_UNKNOWN], 1);
	ck_assert_uint_eq(route->takeovers, 1);
	ck_assert_uint_eq(route->reclaims, 1);
	ck_assert_uint_eq(route->conflicts, 1);
	/* A bound is within its bucket. */
	ck_assert_uint_eq(route->request.buckets[0], 2);
	ck_assert_uint_eq(route->request.buckets[METRICS_REQUEST_BUCKETS], 1);
	ck_assert_uint_eq(route->request.count, 3);
	ck_assert_uint_eq(route->request.sum, 4999 + 5000 + 90000000);
	ck_assert_uint_eq(route->handler.buckets[1], 1);
	ck_assert_uint_eq(reading.replay_bytes, 12345);
	ck_assert_uint_eq(reading.renewals, 1);
	ck_assert_uint_eq(reading.store[STORE_OP_SETTLE].buckets[METRICS_STORE_BUCKETS], 1);
	ck_assert_uint_eq(reading.store[STORE_OP_SETTLE].sum, 1000001);
	ck_assert_uint_eq(reading.store_errors[STORE_ERROR_FULL], 1);
	ck_assert_uint_eq(reading.log_messages[2], 1);
	ck_assert_uint_eq(reading.spool_entries, 3);
	ck_assert_int_eq(reading.spool_oldest_ms, 1700000000000);
	ck_assert_uint_eq(reading.spool_set_aside, 1);
	const struct reading_minute *now = &route->minutes[METRICS_MINUTES - 1];
	if (now->requests == 0)
		now--; /* the minute has just turned */
	ck_assert_uint_eq(now->requests, 3);
	ck_assert_uint_eq(now->replayed, 1);
	ck_assert_uint_eq(now->errors, 1);
	/* and nowhere else */
	ck_assert_uint_eq(route_named(&reading, "other")->request.count, 0);
	ck_assert_uint_eq(reading.route_count, 2);
	reading_free(&reading);
}
END_TEST

/* --- what may stand in the segment's place --- */

static void put_link(void)
{
	scratch_file("precious", 0640, "precious");
	ck_assert_int_eq(truncate(scratch_path("precious"), sizeof(struct segment)), 0);
	scratch_link(segment_name(), scratch_path("precious"));
}

static void put_short(void)
{
	scratch_file(segment_name(), 0640, LAYOUT_MAGIC);
}

static void put_long(void)
{
	open_well();
	count_close();
	ck_assert_int_eq(truncate(scratch_path(segment_name()), sizeof(struct segment) + 8), 0);
}

static void put_without_magic(void)
{
	scratch_file(segment_name(), 0640, "");
	ck_assert_int_eq(truncate(scratch_path(segment_name()), sizeof(struct segment)), 0);
}

static void put_of_other_layout(void)
{
	open_well();
	count_close();
	int fd = open(scratch_path(segment_name()), O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, "\x01", 1, offsetof(struct segment_header, layout)), 1);
	close(fd);
}

static void put_writable_by_others(void)
{
	open_well();
	count_close();
	ck_assert_int_eq(chmod(scratch_path(segment_name()), 0660), 0);
}

static const struct {
	void (*put)(void);
	const char *told;
} intruders[] = {
    {put_link, "a symlink"},
    {put_short, "not of the size"},
    {put_long, "not of the size"},
    {put_without_magic, "its first bytes"},
    {put_of_other_layout, "its first bytes"},
    {put_writable_by_others, "more may use it"},
};

START_TEST(what_is_no_segment_is_replaced_and_told)
{
	struct error error;
	scratch_directory("run");
	intruders[_i].put();
	ck_assert_int_eq(open_own(&error), COUNT_REPLACED);
	ck_assert_msg(strstr(error.message, intruders[_i].told) != NULL, "%s", error.message);
	check_file();
	open_well(); /* by the next one no more */
	if (intruders[_i].put == put_link)
		ck_assert_str_eq(scratch_read("precious"), "precious");
}
END_TEST

START_TEST(an_older_builds_file_stays_as_it_is)
{
	scratch_directory("run");
	scratch_file("run/metrics.01234567", 0640, "older");
	open_well();
	count_renewal();
	ck_assert_str_eq(scratch_read("run/metrics.01234567"), "older");
}
END_TEST

START_TEST(another_accounts_file_is_not_written_to)
{
	if (geteuid() != 0)
		return;           /* there is no other account at hand */
	scratch_directory("run"); /* root's: nobody else may replace what is in it */
	open_well();
	count_renewal();
	count_close();
	pid_t pid = fork();
	if (pid == 0) {
		struct error error;
		if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
			_exit(2);
		enum count_opening opening = open_own(&error);
		count_renewal();
		_exit(opening == COUNT_FAILED ? 0 : 1);
	}
	int ended;
	ck_assert_int_eq(waitpid(pid, &ended, 0), pid);
	ck_assert_int_eq(ended, 0);
	struct reading reading;
	take(&reading);
	ck_assert_uint_eq(reading.renewals, 1);
	reading_free(&reading);
	/* Root makes the directory's file that account's. */
	struct error error;
	ck_assert_int_eq(count_open(scratch_path("run"), NOBODY, NOBODY, &error), COUNT_REPLACED);
	ck_assert_ptr_nonnull(strstr(error.message, "somebody else's"));
}
END_TEST

START_TEST(a_run_directory_that_cannot_be_is_an_error_and_no_more)
{
	struct error error = {0};
	const char *absent = scratch_path("absent/run");
	ck_assert_int_eq(count_open(absent, geteuid(), getegid(), &error), COUNT_FAILED);
	ck_assert_msg(strstr(error.message, absent) != NULL, "%s", error.message);
	count_everything(count_route("payments"));
}
END_TEST

/* --- a file that is lost under those who count --- */

START_TEST(a_file_cut_short_ends_nobody_and_is_made_anew_with_one_line)
{
	enum { WORKERS = 4 };
	int go[2], log[2];
	open_well();
	unsigned route = count_route("payments");
	ck_assert_int_eq(pipe(go), 0);
	ck_assert_int_eq(pipe(log), 0);
	pid_t workers[WORKERS];
	for (size_t i = 0; i < WORKERS; i++) {
		workers[i] = fork();
		if (workers[i] != 0)
			continue;
		char byte;
		dup2(log[1], STDERR_FILENO);
		count_worker_begin();
		count_worker_request(route, true);
		ck_assert_int_eq(read(go[0], &byte, 1), 1);
		count_everything(route); /* where there is no file any more */
		count_worker_request(route, false);
		count_everything(route);
		_exit(0);
	}
	close(log[1]);
	ck_assert_int_eq(truncate(scratch_path(segment_name()), 0), 0);
	ck_assert_int_eq(write(go[1], "****", WORKERS), WORKERS);
	for (size_t i = 0; i < WORKERS; i++) {
		int ended;
		ck_assert_int_eq(waitpid(workers[i], &ended, 0), workers[i]);
		ck_assert_int_eq(ended, 0);
	}
	char lines[4096] = "";
	ck_assert_int_gt(read(log[0], lines, sizeof(lines) - 1), 0);
	ck_assert_ptr_nonnull(strstr(lines, "counters begin at 0"));
	ck_assert_ptr_eq(strchr(lines, '\n'), strrchr(lines, '\n'));
	struct reading reading;
	take(&reading);
	ck_assert_uint_eq(route_named(&reading, "payments")->takeovers, WORKERS);
	reading_free(&reading);
}
END_TEST

START_TEST(a_file_that_was_removed_stands_no_more)
{
	struct segment_map map = {0};
	const struct shared_owner me = {geteuid(), getegid()};
	struct error error;
	const char *run = scratch_path("run");
	ck_assert_int_eq(segment_open(&map, run, &me, &error), SHARED_OPENED);
	ck_assert(segment_stands(&map, run));
	ck_assert_int_eq(unlink(scratch_path(segment_name())), 0);
	ck_assert(!segment_stands(&map, run));
	ck_assert_int_eq(segment_open(&map, run, &me, &error), SHARED_OPENED);
	ck_assert(segment_stands(&map, run));
	ck_assert_int_eq(truncate(scratch_path(segment_name()), 8), 0);
	ck_assert(!segment_stands(&map, run));
	segment_close(&map);
}
END_TEST

/* --- routes --- */

START_TEST(three_hundred_routes_find_room_or_are_other)
{
	enum { MANY = 300, OWN = METRICS_ROUTES - 1 };
	char name[METRICS_ROUTE_NAME];
	open_well();
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "route-%u", i);
		for (unsigned k = 0; k <= i; k++)
			count_conflict(count_route(name));
	}
	struct reading reading;
	take(&reading);
	ck_assert_uint_eq(reading.route_count, METRICS_ROUTES);
	uint64_t others = 0;
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "route-%u", i);
		if (i < OWN)
			ck_assert_uint_eq(route_named(&reading, name)->conflicts, i + 1);
		else
			others += i + 1;
	}
	ck_assert_uint_eq(route_named(&reading, "other")->conflicts, others);
	reading_free(&reading);
}
END_TEST

START_TEST(names_that_no_route_can_have_are_other)
{
	char name[METRICS_ROUTE_NAME + 1];
	memset(name, 'x', sizeof(name));
	name[METRICS_ROUTE_NAME] = '\0';
	open_well();
	ck_assert_uint_eq(count_route(name), METRICS_ROUTE_OTHER);
	ck_assert_uint_eq(count_route(NULL), METRICS_ROUTE_OTHER);
	ck_assert_uint_eq(count_route("other"), METRICS_ROUTE_OTHER);
	name[METRICS_ROUTE_NAME - 1] = '\0';
	ck_assert_uint_ne(count_route(name), METRICS_ROUTE_OTHER);
	ck_assert_uint_eq(count_route(name), count_route(name));
	count_takeover(count_route(name));
	struct reading reading;
	take(&reading);
	ck_assert_uint_eq(route_named(&reading, name)->takeovers, 1);
	reading_free(&reading);
}
END_TEST

START_TEST(who_start_at_once_give_a_route_one_place)
{
	enum { STARTERS = 8, ROUTES = 100 };
	int go[2];
	ck_assert_int_eq(pipe(go), 0);
	for (unsigned i = 0; i < STARTERS; i++) {
		if (fork() != 0)
			continue;
		char byte, name[METRICS_ROUTE_NAME];
		close(go[1]);
		ck_assert_int_eq(read(go[0], &byte, 1), 0);
		open_well();
		for (unsigned k = 0; k < ROUTES; k++) {
			/* each in an order of its own */
			snprintf(name, sizeof(name), "route-%u", (k * 7 + i * 13) % ROUTES);
			count_reclaim(count_route(name));
		}
		_exit(0);
	}
	close(go[1]);
	int ended;
	while (wait(&ended) > 0)
		ck_assert_int_eq(ended, 0);
	struct reading reading;
	take(&reading);
	ck_assert_uint_eq(reading.route_count, ROUTES + 1);
	for (unsigned i = 1; i < reading.route_count; i++)
		ck_assert_uint_eq(reading.routes[i].reclaims, STARTERS);
	reading_free(&reading);
}
END_TEST

START_TEST(a_place_whose_claimant_died_before_its_name_is_found_by_the_next)
{
	struct segment_map map = {0};
	const struct shared_owner me = {geteuid(), getegid()};
	struct error error;
	struct reading reading;
	ck_assert_int_eq(segment_open(&map, scratch_path("run"), &me, &error), SHARED_OPENED);
	map.segment->routes[1].digest = layout_digest("payments");
	map.segment->routes[2].digest = layout_digest("refunds");
	take(&reading);
	ck_assert_uint_eq(reading.route_count, 1);
	reading_free(&reading);
	open_well();
	count_takeover(count_route("refunds"));
	/* A worker's route is told by where it is in the reading. */
	count_worker_begin();
	count_worker_request(count_route("refunds"), true);
	take(&reading);
	ck_assert_uint_eq(reading.route_count, 2);
	ck_assert_uint_eq(route_named(&reading, "refunds")->takeovers, 1);
	ck_assert_uint_eq(route_named(&reading, "refunds")->in_flight, 1);
	ck_assert_uint_eq(reading.workers[0].route, 1);
	reading_free(&reading);
	count_worker_end();
	segment_close(&map);
}
END_TEST

static void set_up(void)
{
	scratch_set_up();
}

static void tear_down(void)
{
	count_close();
	scratch_tear_down();
}

static Suite *count_suite(void)
{
	Suite *suite = suite_create("count");
	TCase *segment = tcase_create("segment");
	tcase_add_checked_fixture(segment, set_up, tear_down);
	tcase_add_test(segment, the_outcomes_are_the_verdicts_in_their_order);
	tcase_add_test(segment, every_worker_state_has_a_letter_of_its_own);
	tcase_add_test(segment, what_is_missing_is_made_and_stays);
	tcase_add_test(segment, without_a_segment_nothing_is_counted_and_nothing_fails);
	tcase_add_test(segment, each_count_is_read_where_it_belongs);
	tcase_add_loop_test(segment, what_is_no_segment_is_replaced_and_told, 0,
			    sizeof(intruders) / sizeof(intruders[0]));
	tcase_add_test(segment, an_older_builds_file_stays_as_it_is);
	tcase_add_test(segment, another_accounts_file_is_not_written_to);
	tcase_add_test(segment, a_run_directory_that_cannot_be_is_an_error_and_no_more);
	tcase_add_test(segment, a_file_cut_short_ends_nobody_and_is_made_anew_with_one_line);
	tcase_add_test(segment, a_file_that_was_removed_stands_no_more);
	tcase_add_test(segment, three_hundred_routes_find_room_or_are_other);
	tcase_add_test(segment, names_that_no_route_can_have_are_other);
	tcase_add_test(segment, who_start_at_once_give_a_route_one_place);
	tcase_add_test(segment, a_place_whose_claimant_died_before_its_name_is_found_by_the_next);
	suite_add_tcase(suite, segment);
	return suite;
}

int main(void)
{
	return suite_run(count_suite());
}
