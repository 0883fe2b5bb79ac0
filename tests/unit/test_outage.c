/* SPDX-License-Identifier: ISC */
/* clock_now is wrapped: time passes when a test says so. */
#include <config.h>

#include "broker/outage.h"

#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/unit/suite.h"

static int64_t now = 1000000;

int64_t __wrap_clock_now(void);

int64_t __wrap_clock_now(void)
{
	return now;
}

static const struct error gone = {ERROR_STORE, "the database has gone"};

static char told[65536];
static int reader = -1;

static void set_up(void)
{
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	close(ends[1]);
	reader = ends[0];
	outage_share();
}

/* How many lines of that event there are in all that was told so far. */
static int lines(const char *event)
{
	static size_t length;
	/* Something to read in any case. */
	ck_assert_int_eq(write(STDERR_FILENO, "\n", 1), 1);
	ssize_t more = read(reader, told + length, sizeof(told) - 1 - length);
	ck_assert_int_gt(more, 0);
	length += (size_t)more;
	int count = 0;
	for (const char *at = told; (at = strstr(at, event)) != NULL; at++)
		count++;
	return count;
}

static void expect(int times_gone, int times_back)
{
	ck_assert_int_eq(lines("\"store_gone\""), times_gone);
	ck_assert_int_eq(lines("\"store_back\""), times_back);
}

START_TEST(each_is_told_once_however_many_requests_meet_it)
{
	outage_note_success();
	expect(0, 0);
	for (int i = 0; i < 5; i++)
		outage_note_failure(&gone);
	expect(1, 0);
	ck_assert_ptr_nonnull(strstr(told, "the database has gone"));
	now += 7000;
	for (int i = 0; i < 5; i++)
		outage_note_success();
	expect(1, 1);
	ck_assert_ptr_nonnull(strstr(told, "\"gone_ms\":7000"));
}
END_TEST

static void in_another_process(void (*act)(void))
{
	pid_t pid = fork();
	if (pid == 0) {
		act();
		_exit(0);
	}
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

static void fail_here(void)
{
	outage_note_failure(&gone);
}

static void recover_here(void)
{
	outage_note_success();
}

START_TEST(each_is_told_once_however_many_workers_meet_it)
{
	for (int i = 0; i < 4; i++)
		in_another_process(fail_here);
	outage_note_failure(&gone);
	expect(1, 0);
	outage_note_success();
	in_another_process(recover_here);
	expect(1, 1);
}
END_TEST

START_TEST(a_worker_whose_connection_works_all_along_does_not_end_it)
{
	outage_note_success();
	in_another_process(fail_here);
	outage_note_success();
	expect(1, 0);
}
END_TEST

START_TEST(a_worker_that_was_killed_leaves_its_end_to_be_told_by_the_next)
{
	in_another_process(fail_here);
	in_another_process(recover_here);
	expect(1, 1);
}
END_TEST

START_TEST(a_database_that_comes_and_goes_is_told_of_now_and_then)
{
	for (int i = 0; i < 100; i++) {
		outage_note_failure(&gone);
		outage_note_success();
		now += 100;
	}
	expect(1, 1);
	now += 1000;
	outage_note_failure(&gone);
	expect(2, 1);
}
END_TEST

START_TEST(one_that_followed_too_soon_is_told_when_it_lasts)
{
	outage_note_failure(&gone);
	outage_note_success();
	now += 1000;
	outage_note_failure(&gone);
	expect(1, 1);
	now += 10000;
	outage_note_failure(&gone);
	expect(2, 1);
	outage_note_success();
	expect(2, 2);
	ck_assert_ptr_nonnull(strstr(told, "\"gone_ms\":10000"));
}
END_TEST

START_TEST(what_is_ours_is_no_outage)
{
	outage_note_failure(&(struct error){ERROR_LIMIT, "too large for the database"});
	outage_note_failure(&(struct error){ERROR_MEMORY, "out of memory"});
	outage_note_success();
	expect(0, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("outage");
	TCase *cases = tcase_create("outage");
	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, each_is_told_once_however_many_requests_meet_it);
	tcase_add_test(cases, each_is_told_once_however_many_workers_meet_it);
	tcase_add_test(cases, a_worker_whose_connection_works_all_along_does_not_end_it);
	tcase_add_test(cases, a_worker_that_was_killed_leaves_its_end_to_be_told_by_the_next);
	tcase_add_test(cases, a_database_that_comes_and_goes_is_told_of_now_and_then);
	tcase_add_test(cases, one_that_followed_too_soon_is_told_when_it_lasts);
	tcase_add_test(cases, what_is_ours_is_no_outage);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
