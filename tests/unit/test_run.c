/* SPDX-License-Identifier: ISC */
/*
 * Handlers run to their end: small shell scripts that tell when they are ready, a guest that then
 * does what the test is about, and a clock that jumps (clock_now is wrapped), so that no test waits
 * for time to pass.
 */
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
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "tests/unit/forbid.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

#define HOUR_MS  3600000
#define MEGABYTE 1048576

/* A shell's child that has not yet come to its exec may lose a TERM, and would then hold the
 * outputs. */
#define SLEEP "sleep 1000 >/dev/null 2>&1"

/* How far the clock has been put forward. */
static int64_t jumped;

int64_t __real_clock_now(void);
int64_t __wrap_clock_now(void);
int64_t __wrap_clock_now(void)
{
	return __real_clock_now() + jumped;
}

/* A group that is always there, and an hour at each look. */
static bool stubborn;

int __real_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number)
{
	if (!stubborn || pid >= 0 || number != 0)
		return __real_kill(pid, number);
	jumped += HOUR_MS;
	return 0;
}

/* One run, and what its callbacks saw and do. */
struct talk {
	struct run run;
	struct run_result result;
	struct error error;
	struct buffer out, err;
	int calls;          /* of the output callback */
	int refuse_at_call; /* 0: never */
	pid_t pid;          /* as before_exec was told */
	bool ready, termed; /* the script has said so, on either output */
	/* the guest */
	int served;
	enum run_wish wish;  /* from when the script is ready */
	int64_t jump_ready;  /* once it is ready */
	int64_t jump_termed; /* once it has said that it got TERM */
	const char *go;      /* file to make once it is ready and three polls have passed */
	bool dawdle;         /* come back from the first call when the handler has exited */
};

static char *environment[] = {(char[]){"PATH=/usr/bin:/bin"}, (char[]){"X=a b"}, NULL};

static struct config_handlers limits = {
    .timeout = HOUR_MS,
    .kill_grace = HOUR_MS,
    .exit_grace = HOUR_MS,
    .stderr_limit = 1000,
};

/* Once is enough, and the words come early. */
static void look_for(bool *found, struct buffer *said, const char *word)
{
	if (!*found && said->length < 4096)
		*found = strstr(buffer_text(said), word) != NULL;
}

static bool take_output(void *context, const void *data, size_t length)
{
	struct talk *talk = context;
	ck_assert_uint_gt(length, 0);
	ck_assert_int_eq(buffer_append(&talk->out, data, length), 0);
	talk->calls++;
	look_for(&talk->ready, &talk->out, "ready");
	return talk->calls == talk->refuse_at_call;
}

static void take_complaint(void *context, const void *data, size_t length)
{
	struct talk *talk = context;
	ck_assert_uint_gt(length, 0);
	ck_assert_int_eq(buffer_append(&talk->err, data, length), 0);
	look_for(&talk->termed, &talk->err, "termed");
}

static void take_pid(void *context, pid_t pid)
{
	struct talk *talk = context;
	talk->pid = pid;
}

static void prepare(void *context, struct pollfd *fd, int *wait_ms)
{
	(void)context;
	ck_assert_int_eq(fd->fd, -1);
	if (*wait_ms < 0 || *wait_ms > 5)
		*wait_ms = 5;
}

static enum run_wish serve(void *context, short revents)
{
	struct talk *talk = context;
	ck_assert_int_eq(revents, 0);
	talk->served++;
	siginfo_t how;
	if (talk->dawdle)
		ck_assert_int_eq(waitid(P_PID, (id_t)talk->pid, &how, WEXITED | WNOWAIT), 0);
	if (talk->termed) {
		jumped += talk->jump_termed;
		talk->jump_termed = 0;
	}
	if (!talk->ready)
		return RUN_ON;
	if (talk->go != NULL && talk->served > 3)
		scratch_file(talk->go, 0600, "");
	jumped += talk->jump_ready;
	talk->jump_ready = 0;
	return talk->wish;
}

static struct talk talk_with(const char *lines)
{
	scratch_script("handler", lines);
	return (struct talk){
	    .run =
		{
		    .file = scratch_path("handler"),
		    .directory = scratch_path(""),
		    .environment = environment,
		    .in = -1,
		    .limits = &limits,
		    .output = take_output,
		    .complaint = take_complaint,
		    .before_exec = take_pid,
		    .guests = {{.prepare = prepare, .serve = serve}},
		    .guest_count = 1,
		},
	};
}

static int count_descriptors(void)
{
	int count = 0;
	DIR *directory = opendir("/proc/self/fd");
	ck_assert_ptr_nonnull(directory);
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

static void expect_gone(pid_t pid)
{
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(kill(pid, 0), -1);
	ck_assert_int_eq(errno, ESRCH);
}

/* Run it, and see that whatever way it ended, nothing of it is left with us. */
static void hold(struct talk *talk)
{
	int null = -1;
	if (talk->run.in == -1)
		talk->run.in = null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	talk->run.context = talk;
	if (talk->run.guests[0].context == NULL)
		talk->run.guests[0].context = talk;
	int descriptors = count_descriptors();
	run_handler(&talk->run, &talk->result, &talk->error);
	ck_assert_int_eq(count_descriptors(), descriptors);
	if (talk->pid > 0)
		expect_gone(talk->pid);
	if (talk->result.end >= RUN_TIMED_OUT && !stubborn) {
		ck_assert(!talk->result.group_stuck);
		expect_gone(talk->pid);
		ck_assert_int_eq(kill(-talk->pid, 0), -1);
	}
	if (null >= 0)
		close(null);
}

static void release(struct talk *talk)
{
	buffer_free(&talk->out);
	buffer_free(&talk->err);
}

/* A file of `length` bytes, open at its start. */
static int input_of(size_t length)
{
	int fd = open(scratch_path("input"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)length), 0);
	return fd;
}

#define expect_end(talk, expected) ck_assert_int_eq((int)(talk)->result.end, (int)(expected))
#define expect_out(talk, text)     ck_assert_str_eq(buffer_text(&(talk)->out), text)
#define expect_err(talk, text)     ck_assert_str_eq(buffer_text(&(talk)->err), text)

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
	hold(&talk);
	ck_assert_msg(talk.result.end == ends[_i].end, "%s", ends[_i].why);
	ck_assert_msg(talk.result.exit_status == ends[_i].exit_status, "%s", ends[_i].why);
	ck_assert_msg(talk.result.signal == ends[_i].signal, "%s", ends[_i].why);
	expect_out(&talk, ends[_i].out);
	expect_err(&talk, ends[_i].err);
	ck_assert_uint_eq(talk.result.output_bytes, strlen(ends[_i].out));
	ck_assert_uint_eq(talk.result.complaint_bytes, strlen(ends[_i].err));
	ck_assert(!talk.result.input_read);
	release(&talk);
}
END_TEST

START_TEST(a_handler_that_cannot_start_is_told_apart)
{
	struct talk talk = talk_with("exit 0");
	talk.run.file = scratch_path("missing");
	hold(&talk);
	expect_end(&talk, RUN_NOT_STARTED);
	ck_assert_int_eq(talk.result.exec_errno, ENOENT);
	ck_assert_ptr_nonnull(strstr(talk.error.message, "missing"));
	ck_assert_int_eq(talk.calls, 0);
	scratch_file("no-script", 0755, "echo text without a first line\n");
	talk.run.file = scratch_path("no-script");
	hold(&talk);
	expect_end(&talk, RUN_NOT_STARTED);
	ck_assert_int_eq(talk.result.exec_errno, ENOEXEC);
	release(&talk);
}
END_TEST

START_TEST(a_handler_that_says_127_was_started)
{
	struct talk talk = talk_with("exit 127");
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_int_eq(talk.result.exit_status, 127);
	release(&talk);
}
END_TEST

/* Input. */

START_TEST(input_that_was_read_is_told)
{
	struct talk talk = talk_with("read line; echo $?");
	talk.run.in = input_of(10);
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert(talk.result.input_read);
	close(talk.run.in);
	release(&talk);
}
END_TEST

START_TEST(input_of_nothing_is_not_read)
{
	struct talk talk = talk_with("cat");
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert(!talk.result.input_read);
	release(&talk);
}
END_TEST

START_TEST(c33_a_handler_need_not_read_its_input)
{
	struct talk talk = talk_with("echo 'Status: 201'; echo");
	talk.run.in = input_of(MEGABYTE);
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	expect_out(&talk, "Status: 201\n\n");
	ck_assert(!talk.result.input_read);
	close(talk.run.in);
	release(&talk);
}
END_TEST

START_TEST(c34_a_handler_may_write_much_before_it_reads)
{
	struct talk talk = talk_with("head -c 300000 /dev/zero; exec wc -c");
	talk.run.in = input_of(MEGABYTE);
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_uint_eq(talk.out.length, 300000 + 8);
	ck_assert_mem_eq(talk.out.data + 300000, "1048576\n", 8);
	ck_assert(talk.result.input_read);
	close(talk.run.in);
	release(&talk);
}
END_TEST

/* Output. */

START_TEST(much_output_comes_whole)
{
	struct talk talk = talk_with("seq 1000000");
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_uint_eq(talk.result.output_bytes, 6888896);
	ck_assert_uint_eq(talk.out.length, 6888896);
	const char *rest = buffer_text(&talk.out);
	long number = 1;
	while (number <= 1000000 && strtol(rest, (char **)&rest, 10) == number)
		number++;
	ck_assert_int_eq(number, 1000001);
	release(&talk);
}
END_TEST

START_TEST(c42_a_flood_of_complaints_is_drained_and_capped)
{
	struct talk talk = talk_with("head -c 5000000 /dev/zero | tr '\\0' x >&2; echo unharmed");
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	expect_out(&talk, "unharmed\n");
	ck_assert_uint_eq(talk.result.complaint_bytes, 5000000);
	ck_assert_uint_eq(talk.err.length, (size_t)limits.stderr_limit);
	release(&talk);
}
END_TEST

START_TEST(complaints_may_be_of_no_interest)
{
	struct talk talk = talk_with("head -c 200000 /dev/zero >&2; echo fine");
	talk.run.complaint = NULL;
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	expect_out(&talk, "fine\n");
	ck_assert_uint_eq(talk.result.complaint_bytes, 200000);
	release(&talk);
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
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_int_eq(talk.result.exit_status, 0);
	ck_assert_uint_eq(talk.result.complaint_bytes, 500000);
	release(&talk);
}
END_TEST

START_TEST(a_handler_may_close_its_output_and_work_on)
{
	struct talk talk =
	    talk_with("echo ready; exec >&- 2>&-; until [ -e go ]; do sleep 0.01; done; exit 5");
	talk.go = "go";
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_int_eq(talk.result.exit_status, 5);
	ck_assert_int_gt(talk.served, 3);
	release(&talk);
}
END_TEST

/* What stays behind. */

START_TEST(c38_a_leftover_is_left_alone_and_holds_nothing_of_ours)
{
	struct talk talk = talk_with("sleep 1000 & until grep -q sleep /proc/$!/comm; do :; done\n"
				     "echo $! >leftover; echo answer");
	struct config_handlers impatient = limits;
	impatient.exit_grace = 20;
	talk.run.limits = &impatient;
	hold(&talk);
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
	release(&talk);
}
END_TEST

#define UNTIL_LEADER_IS_GONE "until grep -q '^State:.Z' /proc/$$/status; do :; done"

START_TEST(what_a_leftover_writes_within_the_grace_counts)
{
	struct talk talk = talk_with("(" UNTIL_LEADER_IS_GONE "; echo late; echo later >&2) &\n"
				     "echo answer; exit 3");
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_int_eq(talk.result.exit_status, 3);
	expect_out(&talk, "answer\nlate\n");
	release(&talk);
}
END_TEST

/* Being ended. */

#define TRAP_AND_GO_ON "trap 'echo termed >&2' TERM; echo ready; while :; do " SLEEP " & wait; done"

START_TEST(c53_a_handler_that_hangs_gets_term_after_its_deadline)
{
	struct talk talk =
	    talk_with("trap 'echo termed >&2; exit 0' TERM; echo ready; " SLEEP " & wait");
	talk.jump_ready = HOUR_MS;
	hold(&talk);
	expect_end(&talk, RUN_TIMED_OUT);
	expect_err(&talk, "termed\n");
	release(&talk);
}
END_TEST

START_TEST(a_handler_within_its_deadline_is_left_in_peace)
{
	struct talk talk = talk_with("echo ready; until [ -e go ]; do sleep 0.01; done; echo done");
	talk.jump_ready = HOUR_MS / 2;
	talk.go = "go";
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	expect_out(&talk, "ready\ndone\n");
	release(&talk);
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
	hold(&talk);
	expect_end(&talk, RUN_TIMED_OUT);
	expect_err(&talk, "termed\n");
	expect_gone((pid_t)atol(scratch_read("one")));
	expect_gone((pid_t)atol(scratch_read("two")));
	release(&talk);
}
END_TEST

START_TEST(others_of_the_group_have_their_grace_though_the_leader_has_gone)
{
	struct talk talk =
	    talk_with("(trap '" UNTIL_LEADER_IS_GONE "; echo cleaned >cleaned; exit 0' TERM\n"
		      "echo ready; " SLEEP " & wait) & exec sleep 1000");
	talk.jump_ready = HOUR_MS;
	hold(&talk);
	expect_end(&talk, RUN_TIMED_OUT);
	ck_assert_str_eq(scratch_read("cleaned"), "cleaned\n");
	release(&talk);
}
END_TEST

START_TEST(the_leaders_silent_children_die_with_it)
{
	struct talk talk = talk_with("trap '' TERM; sleep 1000 >/dev/null 2>&1 & echo $! >silent\n"
				     "trap 'exit 0' TERM; echo ready; wait");
	talk.wish = RUN_END;
	hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	expect_gone((pid_t)atol(scratch_read("silent")));
	release(&talk);
}
END_TEST

START_TEST(output_is_drained_while_the_handler_is_ended)
{
	struct talk talk =
	    talk_with("trap 'head -c 300000 /dev/zero; echo termed >&2; exit 0' TERM\n"
		      "echo ready; " SLEEP " & wait");
	talk.wish = RUN_END;
	hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	expect_err(&talk, "termed\n");
	expect_out(&talk, "ready\n");
	ck_assert_uint_eq(talk.out.length, 6);
	ck_assert_uint_eq(talk.result.output_bytes, 6 + 300000);
	release(&talk);
}
END_TEST

START_TEST(refused_output_ends_the_handler_and_is_not_offered_again)
{
	struct talk talk = talk_with("exec yes");
	talk.refuse_at_call = 2;
	hold(&talk);
	expect_end(&talk, RUN_OUTPUT_REFUSED);
	ck_assert_int_eq(talk.calls, 2);
	ck_assert_int_eq(talk.result.signal, SIGTERM);
	ck_assert_uint_ge(talk.result.output_bytes, talk.out.length);
	release(&talk);
}
END_TEST

START_TEST(output_is_refused_of_a_handler_that_has_gone_too)
{
	struct talk talk = talk_with("echo too much");
	talk.refuse_at_call = 1;
	hold(&talk);
	expect_end(&talk, RUN_OUTPUT_REFUSED);
	release(&talk);
}
END_TEST

START_TEST(a_group_that_cannot_be_confirmed_gone_is_told)
{
	struct talk talk = talk_with("echo ready; exec sleep 1000");
	talk.wish = RUN_KILL;
	stubborn = true;
	hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	ck_assert(talk.result.group_stuck);
	release(&talk);
}
END_TEST

/* Guests. */

START_TEST(a_guest_may_have_the_handler_ended)
{
	struct talk talk =
	    talk_with("trap 'echo termed >&2; exit 0' TERM; echo ready; " SLEEP " & wait");
	talk.wish = RUN_END;
	hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	expect_err(&talk, "termed\n");
	release(&talk);
}
END_TEST

START_TEST(a_guest_may_have_the_handler_killed_without_a_word)
{
	struct talk talk = talk_with(TRAP_AND_GO_ON);
	talk.wish = RUN_KILL;
	hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	ck_assert_int_eq(talk.result.signal, SIGKILL);
	expect_err(&talk, "");
	release(&talk);
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
	talk.run.guests[1] = (struct run_guest){&talk, prepare, kill_once_termed};
	talk.run.guest_count = 2;
	hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	ck_assert_int_eq(talk.result.signal, SIGKILL);
	expect_err(&talk, "termed\n");
	release(&talk);
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
	talk.run.guests[1] = (struct run_guest){&served, prepare, end_at_once};
	talk.run.guest_count = 2;
	hold(&talk);
	expect_end(&talk, RUN_STOPPED);
	ck_assert_int_eq(served, 1);
	ck_assert_int_gt(talk.served, 1); /* the other one is */
	release(&talk);
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
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	expect_out(&talk, "called\n");
	ck_assert_int_eq(caller.heard, 1);
	release(&talk);
}
END_TEST

START_TEST(without_guests_the_handler_runs_too)
{
	struct talk talk = talk_with("echo alone");
	talk.run.guest_count = 0;
	talk.run.before_exec = NULL;
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	expect_out(&talk, "alone\n");
	release(&talk);
}
END_TEST

/* Odd surroundings. */

START_TEST(an_exit_that_cannot_be_learned_is_no_good_exit)
{
	struct talk talk = talk_with("echo hello");
	signal(SIGCHLD, SIG_IGN);
	hold(&talk);
	expect_end(&talk, RUN_SIGNALED);
	ck_assert_int_eq(talk.result.signal, 0);
	release(&talk);
}
END_TEST

START_TEST(without_a_pidfd_a_handler_ends_as_well)
{
	forbid_call(SYS_pidfd_open);
	struct talk talk = talk_with("exec >&- 2>&-; exit 7");
	hold(&talk);
	expect_end(&talk, RUN_EXITED);
	ck_assert_int_eq(talk.result.exit_status, 7);
	release(&talk);
}
END_TEST

START_TEST(without_a_pidfd_a_handler_is_ended_as_well)
{
	forbid_call(SYS_pidfd_open);
	struct talk talk = talk_with(TRAP_AND_GO_ON);
	talk.jump_ready = HOUR_MS;
	talk.jump_termed = HOUR_MS;
	hold(&talk);
	expect_end(&talk, RUN_TIMED_OUT);
	expect_err(&talk, "termed\n");
	ck_assert_int_eq(talk.result.signal, SIGKILL);
	release(&talk);
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
	hold(&talk);
	int status;
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert_int_eq(WEXITSTATUS(status), 42);
	release(&talk);
}
END_TEST

/* Orphans come to the test, so that those of a group that was killed are reaped whatever the
 * machine's first process is like. */
static void become_reaper(void)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
}

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static TCase *case_of(Suite *suite, const char *name)
{
	TCase *tests = tcase_create(name);
	tcase_add_unchecked_fixture(tests, scratch_set_up, scratch_tear_down);
	tcase_add_checked_fixture(tests, become_reaper, NULL);
	tcase_set_timeout(tests, 60);
	suite_add_tcase(suite, tests);
	return tests;
}

int main(void)
{
	if (getenv("LEAVE_MUCH_BEHIND") != NULL)
		return leave_much_behind();
	Suite *suite = suite_create("run");
	TCase *tests = case_of(suite, "ends by itself");
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
	tests = case_of(suite, "outlives its output");
	tcase_add_test(tests, a_handler_may_close_its_output_and_work_on);
	tcase_add_test(tests, c38_a_leftover_is_left_alone_and_holds_nothing_of_ours);
	tcase_add_test(tests, what_a_leftover_writes_within_the_grace_counts);
	tests = case_of(suite, "is ended");
	tcase_add_test(tests, c53_a_handler_that_hangs_gets_term_after_its_deadline);
	tcase_add_test(tests, a_handler_within_its_deadline_is_left_in_peace);
	tcase_add_test(tests, c39_a_group_that_heeds_no_term_gets_kill_and_is_gone);
	tcase_add_test(tests, others_of_the_group_have_their_grace_though_the_leader_has_gone);
	tcase_add_test(tests, the_leaders_silent_children_die_with_it);
	tcase_add_test(tests, output_is_drained_while_the_handler_is_ended);
	tcase_add_test(tests, refused_output_ends_the_handler_and_is_not_offered_again);
	tcase_add_test(tests, output_is_refused_of_a_handler_that_has_gone_too);
	tcase_add_test(tests, a_group_that_cannot_be_confirmed_gone_is_told);
	tests = case_of(suite, "guests");
	tcase_add_test(tests, a_guest_may_have_the_handler_ended);
	tcase_add_test(tests, a_guest_may_have_the_handler_killed_without_a_word);
	tcase_add_test(tests, kill_cuts_the_grace_short_that_another_guest_gave);
	tcase_add_test(tests, a_guest_who_had_its_wish_is_not_asked_again);
	tcase_add_test(tests, a_guests_descriptor_wakes_it);
	tcase_add_test(tests, without_guests_the_handler_runs_too);
	tests = case_of(suite, "odd surroundings");
	tcase_add_test(tests, an_exit_that_cannot_be_learned_is_no_good_exit);
	tcase_add_test(tests, without_a_pidfd_a_handler_ends_as_well);
	tcase_add_test(tests, without_a_pidfd_a_handler_is_ended_as_well);
	tcase_add_test(tests, other_children_are_left_for_those_who_own_them);
	return suite_run(suite);
}
