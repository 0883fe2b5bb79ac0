/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "handler/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"
#include "tests/unit/talk.h"

/* A file of `length` bytes, open at its start. */
static int input_of(size_t length)
{
	int fd = open(scratch_path("input"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)length), 0);
	return fd;
}

/* Ends by themselves. */

static const struct {
	const char *why, *lines, *out, *err;
	enum run_end end;
	int exit_status, signal;
} ends[] = {
    {"an answer", "echo hello; echo oops >&2", "hello\n", "oops\n", RUN_EXITED, 0, 0},
    {"C43: exit 7 with a full answer", "echo hello; exit 7", "hello\n", "", RUN_EXITED, 7, 0},
    {"C44: no output, exit 3", "exit 3", "", "", RUN_EXITED, 3, 0},
    {"C43: KILL in the middle", "echo part; kill -KILL $$", "part\n", "", RUN_SIGNALED, 0, SIGKILL},
    {"a crash", "kill -SEGV $$", "", "", RUN_SIGNALED, 0, SIGSEGV},
    {"its outputs closed early", "exec >&- 2>&-; exit 5", "", "", RUN_EXITED, 5, 0},
    {"the name alone is an argument", "echo $#", "0\n", "", RUN_EXITED, 0, 0},
    {"environment and directory", "echo \"$X\"; [ -e handler ] && echo here", "a b\nhere\n", "",
     RUN_EXITED, 0, 0},
    {"a program that traps TERM is not sent any", "trap 'echo termed' TERM; echo a", "a\n", "",
     RUN_EXITED, 0, 0},
};

START_TEST(a_handler_ends_as_it_ends)
{
	struct talk talk = talk_with(ends[_i].lines);
	talk_hold(&talk);
	ck_assert_msg(talk.result.end == ends[_i].end, "%s", ends[_i].why);
	ck_assert_msg(talk.result.exit_status == ends[_i].exit_status, "%s", ends[_i].why);
	ck_assert_msg(talk.result.signal == ends[_i].signal, "%s", ends[_i].why);
	expect_out(&talk, ends[_i].out);
	expect_err(&talk, ends[_i].err);
	ck_assert_uint_eq(talk.result.output_bytes, strlen(ends[_i].out));
	ck_assert_uint_eq(talk.result.complaint_bytes, strlen(ends[_i].err));
	ck_assert(!talk.result.input_read);
	talk_release(&talk);
}
END_TEST

START_TEST(a_handler_that_cannot_start_is_told_apart)
{
	struct talk talk = talk_with("exit 0");
	talk.run.file = scratch_path("missing");
	talk_hold(&talk);
	expect_end(&talk, RUN_NOT_STARTED);
	ck_assert_int_eq(talk.result.exec_errno, ENOENT);
	ck_assert_ptr_nonnull(strstr(talk.error.message, "missing"));
	ck_assert_int_eq(talk.calls, 0);
	scratch_file("no-script", 0755, "echo text without a first line\n");
	talk.run.file = scratch_path("no-script");
	talk_hold(&talk);
	expect_end(&talk, RUN_NOT_STARTED);
	ck_assert_int_eq(talk.result.exec_errno, ENOEXEC);
	talk_release(&talk);
}
END_TEST

START_TEST(a_handler_that_says_127_was_started)
{
	struct talk talk = talk_with("exit 127");
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_int_eq(talk.result.exit_status, 127);
	talk_release(&talk);
}
END_TEST

/* Input. */

START_TEST(input_that_was_read_is_told)
{
	struct talk talk = talk_with("read line; echo $?");
	talk.run.in = input_of(10);
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert(talk.result.input_read);
	close(talk.run.in);
	talk_release(&talk);
}
END_TEST

START_TEST(input_of_nothing_is_not_read)
{
	struct talk talk = talk_with("cat");
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert(!talk.result.input_read);
	talk_release(&talk);
}
END_TEST

START_TEST(c33_a_handler_need_not_read_its_input)
{
	struct talk talk = talk_with("echo 'Status: 201'; echo");
	talk.run.in = input_of(MEGABYTE);
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	expect_out(&talk, "Status: 201\n\n");
	ck_assert(!talk.result.input_read);
	close(talk.run.in);
	talk_release(&talk);
}
END_TEST

START_TEST(c34_a_handler_may_write_much_before_it_reads)
{
	struct talk talk = talk_with("head -c 300000 /dev/zero; exec wc -c");
	talk.run.in = input_of(MEGABYTE);
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_uint_eq(talk.out.length, 300000 + 8);
	ck_assert_mem_eq(talk.out.data + 300000, "1048576\n", 8);
	ck_assert(talk.result.input_read);
	close(talk.run.in);
	talk_release(&talk);
}
END_TEST

/* Output. */

START_TEST(much_output_comes_whole)
{
	struct talk talk = talk_with("seq 1000000");
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_uint_eq(talk.result.output_bytes, 6888896);
	ck_assert_uint_eq(talk.out.length, 6888896);
	const char *rest = buffer_text(&talk.out);
	long number = 1;
	while (number <= 1000000 && strtol(rest, (char **)&rest, 10) == number)
		number++;
	ck_assert_int_eq(number, 1000001);
	talk_release(&talk);
}
END_TEST

START_TEST(c42_a_flood_of_complaints_is_drained_and_capped)
{
	struct talk talk = talk_with("head -c 5000000 /dev/zero | tr '\\0' x >&2; echo unharmed");
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	expect_out(&talk, "unharmed\n");
	ck_assert_uint_eq(talk.result.complaint_bytes, 5000000);
	ck_assert_uint_eq(talk.err.length, (size_t)talk_limits.stderr_limit);
	talk_release(&talk);
}
END_TEST

START_TEST(complaints_may_be_of_no_interest)
{
	struct talk talk = talk_with("head -c 200000 /dev/zero >&2; echo fine");
	talk.run.complaint = NULL;
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	expect_out(&talk, "fine\n");
	ck_assert_uint_eq(talk.result.complaint_bytes, 200000);
	talk_release(&talk);
}
END_TEST

/* A handler of this program's own: more on standard error than is read at a time, left in the pipe.
 */
static int leave_much_behind(void)
{
	static char words[500000];
	memset(words, 'x', sizeof(words));
	bool said = fcntl(2, F_SETPIPE_SZ, MEGABYTE) >= MEGABYTE &&
		    write(2, words, sizeof(words)) == (ssize_t)sizeof(words);
	_exit(said ? 0 : 1);
}

START_TEST(the_last_words_before_the_exit_are_heard)
{
	char self[PATH_MAX];
	struct talk talk = talk_with("");
	ck_assert_ptr_nonnull(realpath("/proc/self/exe", self));
	talk.run.file = self;
	talk.run.environment = (char *[]){(char[]){"LEAVE_MUCH_BEHIND=1"}, NULL};
	talk.dawdle = true;
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_int_eq(talk.result.exit_status, 0);
	ck_assert_uint_eq(talk.result.complaint_bytes, 500000);
	talk_release(&talk);
}
END_TEST

START_TEST(a_handler_may_close_its_output_and_work_on)
{
	struct talk talk =
	    talk_with("echo ready; exec >&- 2>&-; until [ -e go ]; do sleep 0.01; done; exit 5");
	talk.go = "go";
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_int_eq(talk.result.exit_status, 5);
	ck_assert_int_gt(talk.served, 3);
	talk_release(&talk);
}
END_TEST

/* What stays behind. */

START_TEST(c38_a_leftover_is_left_alone_and_holds_nothing_of_ours)
{
	struct talk talk = talk_with("sleep 1000 & until grep -q sleep /proc/$!/comm; do :; done\n"
				     "echo $! >leftover; echo answer");
	struct config_handlers impatient = talk_limits;
	impatient.exit_grace = 20;
	talk.run.limits = &impatient;
	talk_hold(&talk);
	pid_t leftover = (pid_t)atol(scratch_read("leftover"));
	expect_end(&talk, RUN_EXITED);
	expect_out(&talk, "answer\n");
	ck_assert_int_eq(kill(leftover, 0), 0);
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/fd", leftover);
	DIR *directory = opendir(path);
	ck_assert_ptr_nonnull(directory);
	for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
		ck_assert_msg(entry->d_name[0] == '.' || atoi(entry->d_name) <= 2, "%s",
			      entry->d_name);
	closedir(directory);
	ck_assert_int_eq(kill(leftover, SIGKILL), 0);
	talk_release(&talk);
}
END_TEST

START_TEST(what_a_leftover_writes_within_the_grace_counts)
{
	struct talk talk = talk_with("(" UNTIL_LEADER_IS_GONE "; echo late; echo later >&2) &\n"
				     "echo answer; exit 3");
	talk_hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_int_eq(talk.result.exit_status, 3);
	expect_out(&talk, "answer\nlate\n");
	talk_release(&talk);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	if (getenv("LEAVE_MUCH_BEHIND") != NULL)
		return leave_much_behind();
	Suite *suite = suite_create("run");
	TCase *tests = talk_case(suite, "ends by itself");
	tcase_add_loop_test(tests, a_handler_ends_as_it_ends, 0, COUNT(ends));
	tcase_add_test(tests, a_handler_that_cannot_start_is_told_apart);
	tcase_add_test(tests, a_handler_that_says_127_was_started);
	tcase_add_test(tests, input_that_was_read_is_told);
	tcase_add_test(tests, input_of_nothing_is_not_read);
	tcase_add_test(tests, c33_a_handler_need_not_read_its_input);
	tcase_add_test(tests, c34_a_handler_may_write_much_before_it_reads);
	tcase_add_test(tests, much_output_comes_whole);
	tcase_add_test(tests, c42_a_flood_of_complaints_is_drained_and_capped);
	tcase_add_test(tests, complaints_may_be_of_no_interest);
	tcase_add_test(tests, the_last_words_before_the_exit_are_heard);
	tests = talk_case(suite, "outlives its output");
	tcase_add_test(tests, a_handler_may_close_its_output_and_work_on);
	tcase_add_test(tests, c38_a_leftover_is_left_alone_and_holds_nothing_of_ours);
	tcase_add_test(tests, what_a_leftover_writes_within_the_grace_counts);
	return suite_run(suite);
}
