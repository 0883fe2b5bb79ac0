/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "handler/run.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"
#include "tests/unit/talk.h"

START_TEST(a_guest_may_have_the_handler_ended)
{
	struct talk talk =
	    talk_with("trap 'echo termed >&2; exit 0' TERM; echo ready; " SLEEP " & wait");
	talk.wish = RUN_END;
	talk_hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	expect_err(&talk, "termed\n");
	talk_release(&talk);
}
END_TEST

START_TEST(a_guest_may_have_the_handler_killed_without_a_word)
{
	struct talk talk = talk_with(TRAP_AND_GO_ON);
	talk.wish = RUN_KILL;
	talk_hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	ck_assert_int_eq(talk.result.signal, SIGKILL);
	expect_err(&talk, "");
	talk_release(&talk);
}
END_TEST

static enum run_wish kill_once_termed(void *context, short revents)
{
	struct talk *talk = context;
	(void)revents;
	return talk->termed ? RUN_KILL : RUN_ON;
}

START_TEST(kill_cuts_the_grace_short_that_another_guest_gave)
{
	struct talk talk = talk_with(TRAP_AND_GO_ON);
	talk.wish = RUN_END;
	talk.run.guests[1] = (struct run_guest){&talk, talk_prepare, kill_once_termed};
	talk.run.guest_count = 2;
	talk_hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	ck_assert_int_eq(talk.result.signal, SIGKILL);
	expect_err(&talk, "termed\n");
	talk_release(&talk);
}
END_TEST

static enum run_wish end_at_once(void *context, short revents)
{
	int *served = context;
	(void)revents;
	(*served)++;
	return RUN_END;
}

START_TEST(a_guest_who_had_its_wish_is_not_asked_again)
{
	int served = 0;
	struct talk talk =
	    talk_with("trap 'echo termed >&2' TERM; while :; do " SLEEP " & wait; done");
	talk.jump_termed = HOUR_MS;
	talk.run.guests[1] = (struct run_guest){&served, talk_prepare, end_at_once};
	talk.run.guest_count = 2;
	talk_hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	ck_assert_int_eq(served, 1);
	ck_assert_int_gt(talk.served, 1); /* the other one is */
	talk_release(&talk);
}
END_TEST

struct caller {
	int fd;
	int heard;
};

static void prepare_to_listen(void *context, struct pollfd *fd, int *wait_ms)
{
	struct caller *caller = context;
	(void)wait_ms; /* for ever: only the descriptor wakes it */
	*fd = (struct pollfd){.fd = caller->fd, .events = POLLIN};
}

static enum run_wish listen_once(void *context, short revents)
{
	struct caller *caller = context;
	char byte;
	if (revents & POLLIN)
		caller->heard += (int)read(caller->fd, &byte, 1);
	if (revents & POLLIN)
		scratch_file("called", 0600, "");
	return RUN_ON;
}

START_TEST(a_guests_descriptor_wakes_it)
{
	int line[2];
	struct talk talk = talk_with("until [ -e called ]; do sleep 0.01; done; echo called");
	ck_assert_int_eq(pipe2(line, O_CLOEXEC), 0);
	ck_assert_int_eq(write(line[1], "!", 1), 1);
	struct caller caller = {.fd = line[0]};
	talk.run.guests[0] = (struct run_guest){&caller, prepare_to_listen, listen_once};
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	expect_out(&talk, "called\n");
	ck_assert_int_eq(caller.heard, 1);
	talk_release(&talk);
}
END_TEST

START_TEST(without_guests_the_handler_runs_too)
{
	struct talk talk = talk_with("echo alone");
	talk.run.guest_count = 0;
	talk.run.before_exec = NULL;
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	expect_out(&talk, "alone\n");
	talk_release(&talk);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run: guests");
	TCase *tests = talk_case(suite, "guests");
	tcase_add_test(tests, a_guest_may_have_the_handler_ended);
	tcase_add_test(tests, a_guest_may_have_the_handler_killed_without_a_word);
	tcase_add_test(tests, kill_cuts_the_grace_short_that_another_guest_gave);
	tcase_add_test(tests, a_guest_who_had_its_wish_is_not_asked_again);
	tcase_add_test(tests, a_guests_descriptor_wakes_it);
	tcase_add_test(tests, without_guests_the_handler_runs_too);
	return suite_run(suite);
}
