/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/clock.h"

#include "tests/unit/suite.h"

#include <limits.h>
#include <regex.h>
#include <stdlib.h>
#include <time.h>

START_TEST(now_counts_milliseconds_since_boot)
{
	struct timespec before, after;
	ck_assert_int_eq(clock_gettime(CLOCK_BOOTTIME, &before), 0);
	int64_t now = clock_now();
	ck_assert_int_eq(clock_gettime(CLOCK_BOOTTIME, &after), 0);
	ck_assert_int_ge(now, (int64_t)before.tv_sec * 1000 + before.tv_nsec / 1000000);
	ck_assert_int_le(now, (int64_t)after.tv_sec * 1000 + after.tv_nsec / 1000000);
}
END_TEST

static const struct {
	int64_t from_now;
	int expected;
	const char *why;
} waits[] = {
    {0, 0, "due now"},
    {-1, 0, "past"},
    {-1000000000, 0, "long past"},
    {(int64_t)INT_MAX + 100000, INT_MAX, "further away than poll can say"},
};

START_TEST(a_wait_is_bounded_at_both_ends)
{
	ck_assert_msg(clock_wait(clock_now() + waits[_i].from_now) == waits[_i].expected, "%s",
		      waits[_i].why);
}
END_TEST

START_TEST(never_is_waited_for_without_end)
{
	ck_assert_int_eq(clock_wait(CLOCK_NEVER), -1);
	ck_assert_int_eq(clock_wait(INT64_MIN), 0);
	ck_assert_int_eq(clock_wait(CLOCK_NEVER - 1), INT_MAX);
}
END_TEST

START_TEST(a_wait_never_ends_before_its_time)
{
	for (int64_t distance = 1; distance < 2000; distance++) {
		int64_t when = clock_now() + distance;
		int64_t before = clock_now();
		int wait = clock_wait(when);
		ck_assert_int_ge(clock_now() + wait, when);
		ck_assert_int_le(before + wait, when);
	}
}
END_TEST

START_TEST(a_pause_lasts_at_least_its_time)
{
	struct timespec before, after;
	clock_pause(0); /* the first use of random numbers takes its time */
	ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &before), 0);
	clock_pause(20);
	ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &after), 0);
	int64_t passed =
	    (int64_t)(after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
	ck_assert_int_ge(passed, 20000000);
}
END_TEST

START_TEST(a_stamp_is_the_wall_clock_in_utc)
{
	ck_assert_int_eq(setenv("TZ", "Asia/Kolkata", 1), 0);
	tzset();
	char text[CLOCK_STAMP_LENGTH];
	time_t before = time(NULL);
	clock_stamp(text);
	time_t after = time(NULL);

	regex_t form;
	ck_assert_int_eq(
	    regcomp(&form, "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$",
		    REG_EXTENDED | REG_NOSUB),
	    0);
	ck_assert_int_eq(regexec(&form, text, 0, NULL, 0), 0);
	regfree(&form);

	struct tm told = {0};
	ck_assert_ptr_nonnull(strptime(text, "%Y-%m-%dT%H:%M:%S", &told));
	time_t seconds = timegm(&told);
	ck_assert_int_ge(seconds, before - 1); /* time(2) may lag by a tick */
	ck_assert_int_le(seconds, after + 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clock");
	TCase *cases = tcase_create("clock");
	tcase_add_test(cases, now_counts_milliseconds_since_boot);
	tcase_add_loop_test(cases, a_wait_is_bounded_at_both_ends, 0,
			    sizeof(waits) / sizeof(waits[0]));
	tcase_add_test(cases, never_is_waited_for_without_end);
	tcase_add_test(cases, a_wait_never_ends_before_its_time);
	tcase_add_test(cases, a_pause_lasts_at_least_its_time);
	tcase_add_test(cases, a_stamp_is_the_wall_clock_in_utc);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
