/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "handler/run.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/forbid.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"
#include "tests/unit/talk.h"

/* Being ended. */

START_TEST(c53_a_handler_that_hangs_gets_term_after_its_deadline)
{
	struct talk talk =
	    talk_with("trap 'echo termed >&2; exit 0' TERM; echo ready; " SLEEP " & wait");
	talk.jump_ready = HOUR_MS;
	talk_hold(&talk);
	expect_end(&talk, RUN_TIMED_OUT);
	expect_err(&talk, "termed\n");
	talk_release(&talk);
}
END_TEST

START_TEST(a_handler_within_its_deadline_is_left_in_peace)
{
	struct talk talk = talk_with("echo ready; until [ -e go ]; do sleep 0.01; done; echo done");
	talk.jump_ready = HOUR_MS / 2;
	talk.go = "go";
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	expect_out(&talk, "ready\ndone\n");
	talk_release(&talk);
}
END_TEST

START_TEST(c39_a_group_that_heeds_no_term_gets_kill_and_is_gone)
{
	struct talk talk =
	    talk_with("trap '' TERM; sleep 1000 & echo $! >one\n"
		      "(sleep 1000 >/dev/null 2>&1 & echo $! >two)\n"
		      "trap 'echo termed >&2' TERM; echo ready; while :; do wait; done");
	talk.jump_ready = HOUR_MS;
	talk.jump_termed = HOUR_MS;
	talk_hold(&talk);
	expect_end(&talk, RUN_TIMED_OUT);
	expect_err(&talk, "termed\n");
	expect_gone((pid_t)atol(scratch_read("one")));
	expect_gone((pid_t)atol(scratch_read("two")));
	talk_release(&talk);
}
END_TEST

START_TEST(others_of_the_group_have_their_grace_though_the_leader_has_gone)
{
	struct talk talk =
	    talk_with("(trap '" UNTIL_LEADER_IS_GONE "; echo cleaned >cleaned; exit 0' TERM\n"
		      "echo ready; " SLEEP " & wait) & exec sleep 1000");
	talk.jump_ready = HOUR_MS;
	talk_hold(&talk);
	expect_end(&talk, RUN_TIMED_OUT);
	ck_assert_str_eq(scratch_read("cleaned"), "cleaned\n");
	talk_release(&talk);
}
END_TEST

START_TEST(the_leaders_silent_children_die_with_it)
{
	struct talk talk = talk_with("trap '' TERM; sleep 1000 >/dev/null 2>&1 & echo $! >silent\n"
				     "trap 'exit 0' TERM; echo ready; wait");
	talk.wish = RUN_END;
	talk_hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	expect_gone((pid_t)atol(scratch_read("silent")));
	talk_release(&talk);
}
END_TEST

START_TEST(output_is_drained_while_the_handler_is_ended)
{
	struct talk talk =
	    talk_with("trap 'head -c 300000 /dev/zero; echo termed >&2; exit 0' TERM\n"
		      "echo ready; " SLEEP " & wait");
	talk.wish = RUN_END;
	talk_hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	expect_err(&talk, "termed\n");
	expect_out(&talk, "ready\n");
	ck_assert_uint_eq(talk.out.length, 6);
	ck_assert_uint_eq(talk.result.output_bytes, 6 + 300000);
	talk_release(&talk);
}
END_TEST

START_TEST(refused_output_ends_the_handler_and_is_not_offered_again)
{
	struct talk talk = talk_with("exec yes");
	talk.refuse_at_call = 2;
	talk_hold(&talk);
	expect_end(&talk, RUN_OUTPUT_REFUSED);
	ck_assert_int_eq(talk.calls, 2);
	ck_assert_int_eq(talk.result.signal, SIGTERM);
	ck_assert_uint_ge(talk.result.output_bytes, talk.out.length);
	talk_release(&talk);
}
END_TEST

START_TEST(output_is_refused_of_a_handler_that_has_gone_too)
{
	struct talk talk = talk_with("echo too much");
	talk.refuse_at_call = 1;
	talk_hold(&talk);
	expect_end(&talk, RUN_OUTPUT_REFUSED);
	talk_release(&talk);
}
END_TEST

START_TEST(a_group_that_cannot_be_confirmed_gone_is_told)
{
	struct talk talk = talk_with("echo ready; exec sleep 1000");
	talk.wish = RUN_KILL;
	talk_stubborn = true;
	talk_hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	ck_assert(talk.result.group_stuck);
	talk_release(&talk);
}
END_TEST

/* Odd surroundings. */

START_TEST(an_exit_that_cannot_be_learned_is_no_good_exit)
{
	struct talk talk = talk_with("echo hello");
	signal(SIGCHLD, SIG_IGN);
	talk_hold(&talk);
	expect_end(&talk, RUN_SIGNALED);
	ck_assert_int_eq(talk.result.signal, 0);
	talk_release(&talk);
}
END_TEST

START_TEST(without_a_pidfd_a_handler_ends_as_well)
{
	forbid_call(SYS_pidfd_open);
	struct talk talk = talk_with("exec >&- 2>&-; exit 7");
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_int_eq(talk.result.exit_status, 7);
	talk_release(&talk);
}
END_TEST

START_TEST(without_a_pidfd_a_handler_is_ended_as_well)
{
	forbid_call(SYS_pidfd_open);
	struct talk talk = talk_with(TRAP_AND_GO_ON);
	talk.jump_ready = HOUR_MS;
	talk.jump_termed = HOUR_MS;
	talk_hold(&talk);
	expect_end(&talk, RUN_TIMED_OUT);
	expect_err(&talk, "termed\n");
	ck_assert_int_eq(talk.result.signal, SIGKILL);
	talk_release(&talk);
}
END_TEST

START_TEST(other_children_are_left_for_those_who_own_them)
{
	pid_t other = fork();
	ck_assert_int_ge(other, 0);
	if (other == 0)
		_exit(42);
	struct talk talk = talk_with("echo ready; exec sleep 1000");
	talk.wish = RUN_END;
	talk_hold(&talk);
	int status;
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert_int_eq(WEXITSTATUS(status), 42);
	talk_release(&talk);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run: ended");
	TCase *tests = talk_case(suite, "is ended");
	tcase_add_test(tests, c53_a_handler_that_hangs_gets_term_after_its_deadline);
	tcase_add_test(tests, a_handler_within_its_deadline_is_left_in_peace);
	tcase_add_test(tests, c39_a_group_that_heeds_no_term_gets_kill_and_is_gone);
	tcase_add_test(tests, others_of_the_group_have_their_grace_though_the_leader_has_gone);
	tcase_add_test(tests, the_leaders_silent_children_die_with_it);
	tcase_add_test(tests, output_is_drained_while_the_handler_is_ended);
	tcase_add_test(tests, refused_output_ends_the_handler_and_is_not_offered_again);
	tcase_add_test(tests, output_is_refused_of_a_handler_that_has_gone_too);
	tcase_add_test(tests, a_group_that_cannot_be_confirmed_gone_is_told);
	tests = talk_case(suite, "odd surroundings");
	tcase_add_test(tests, an_exit_that_cannot_be_learned_is_no_good_exit);
	tcase_add_test(tests, without_a_pidfd_a_handler_ends_as_well);
	tcase_add_test(tests, without_a_pidfd_a_handler_is_ended_as_well);
	tcase_add_test(tests, other_children_are_left_for_those_who_own_them);
	return suite_run(suite);
}
