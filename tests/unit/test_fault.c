/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/fault.h"

#include "tests/unit/suite.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/test_fault-XXXXXX";
static char plan[64], draft[64];

static void set_up(void)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(plan, sizeof(plan), "%s/plan", directory);
	snprintf(draft, sizeof(draft), "%s/draft", directory);
	ck_assert_int_eq(setenv("ONCEWRAP_FAULT_FILE", plan, 1), 0);
}

static void tear_down(void)
{
	unlink(plan);
	ck_assert_int_eq(rmdir(directory), 0);
}

static void put_plan(const char *text)
{
	FILE *file = fopen(draft, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(rename(draft, plan), 0);
}

/* How a process ends, or stops, that passes the point and then exits with 7. */
static int status_of_passing(const char *point)
{
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		fault_point(point);
		_exit(7);
	}
	int status;
	ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
	if (WIFSTOPPED(status)) {
		int final;
		ck_assert_int_eq(kill(child, SIGCONT), 0);
		ck_assert_int_eq(waitpid(child, &final, 0), child);
		ck_assert_int_eq(WEXITSTATUS(final), 7); /* it goes on behind the point */
	}
	return status;
}

static bool planned(void)
{
	return access(plan, F_OK) == 0;
}

START_TEST(a_process_kills_itself_at_the_named_point)
{
	put_plan("after_claim kill\n");
	int status = status_of_passing("after_claim");
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
	ck_assert(!planned());
}
END_TEST

START_TEST(a_process_stops_itself_and_can_be_continued)
{
	put_plan("after_claim stop\n");
	int status = status_of_passing("after_claim");
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(WSTOPSIG(status), SIGSTOP);
	ck_assert(!planned());
}
END_TEST

START_TEST(a_process_exits_with_70)
{
	put_plan("after_claim exit\n");
	int status = status_of_passing("after_claim");
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 70);
	ck_assert(!planned());
}
END_TEST

static const char *const others[] = {
    "before_claim exit\n", "after_claim_too exit\n", "after exit\n", "after_claim", "", "\n"};

START_TEST(another_point_passes_and_leaves_the_plan)
{
	put_plan(others[_i]);
	int status = status_of_passing("after_claim");
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 7);
	ck_assert(planned());
}
END_TEST

START_TEST(without_a_plan_every_point_passes)
{
	ck_assert_int_eq(WEXITSTATUS(status_of_passing("after_claim")), 7);
	ck_assert_int_eq(unsetenv("ONCEWRAP_FAULT_FILE"), 0);
	ck_assert_int_eq(WEXITSTATUS(status_of_passing("after_claim")), 7);
}
END_TEST

START_TEST(of_many_processes_at_the_point_exactly_one_takes_the_plan)
{
	enum { PROCESSES = 8 };
	put_plan("after_claim exit\n");
	int start[2];
	ck_assert_int_eq(pipe(start), 0);
	for (int i = 0; i < PROCESSES; i++) {
		pid_t child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0) {
			char byte;
			close(start[1]);
			if (read(start[0], &byte, 1) == 0) /* until all are there */
				fault_point("after_claim");
			_exit(7);
		}
	}
	close(start[0]);
	close(start[1]);
	int taken = 0;
	for (int i = 0; i < PROCESSES; i++) {
		int status;
		ck_assert_int_gt(wait(&status), 0);
		ck_assert(WIFEXITED(status));
		taken += WEXITSTATUS(status) == 70;
	}
	ck_assert_int_eq(taken, 1);
}
END_TEST

/* Has the process come to wait for a lock that another holds? */
static bool waits_for_lock(pid_t process)
{
	FILE *locks = fopen("/proc/locks", "r");
	ck_assert_ptr_nonnull(locks);
	bool waits = false;
	char text[256];
	while (fgets(text, sizeof(text), locks) != NULL) {
		int owner;
		waits |= sscanf(text, "%*d: -> FLOCK %*s %*s %d", &owner) == 1 && owner == process;
	}
	fclose(locks);
	return waits;
}

START_TEST(a_process_that_comes_late_does_not_take_the_plan_after)
{
	put_plan("after_claim exit\n");
	int held = open(plan, O_RDONLY);
	ck_assert_int_ge(held, 0);
	ck_assert_int_eq(flock(held, LOCK_EX), 0);
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		close(held); /* the lock is the parent's alone */
		fault_point("after_claim");
		_exit(7);
	}
	while (!waits_for_lock(child))
		sched_yield();
	put_plan("before_claim exit\n"); /* the child has read the one before */
	close(held);
	int status;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(WEXITSTATUS(status), 7);
	ck_assert(planned());
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fault");
	TCase *cases = tcase_create("fault");
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, a_process_kills_itself_at_the_named_point);
	tcase_add_test(cases, a_process_stops_itself_and_can_be_continued);
	tcase_add_test(cases, a_process_exits_with_70);
	tcase_add_loop_test(cases, another_point_passes_and_leaves_the_plan, 0,
			    sizeof(others) / sizeof(others[0]));
	tcase_add_test(cases, without_a_plan_every_point_passes);
	tcase_add_test(cases, a_process_that_comes_late_does_not_take_the_plan_after);
	tcase_add_loop_test(cases, of_many_processes_at_the_point_exactly_one_takes_the_plan, 0,
			    20);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
