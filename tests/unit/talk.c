/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "tests/unit/talk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/scratch.h"

int64_t talk_jumped;

int64_t __real_clock_now(void);
int64_t __wrap_clock_now(void);
int64_t __wrap_clock_now(void)
{
	return __real_clock_now() + talk_jumped;
}

bool talk_stubborn;

int __real_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number)
{
	if (!talk_stubborn || pid >= 0 || number != 0)
		return __real_kill(pid, number);
	talk_jumped += HOUR_MS;
	return 0;
}

static char *environment[] = {(char[]){"PATH=/usr/bin:/bin"}, (char[]){"X=a b"}, NULL};

const struct config_handlers talk_limits = {
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

void talk_prepare(void *context, struct pollfd *fd, int *wait_ms)
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
		talk_jumped += talk->jump_termed;
		talk->jump_termed = 0;
	}
	if (!talk->ready)
		return RUN_ON;
	if (talk->go != NULL && talk->served > 3)
		scratch_file(talk->go, 0600, "");
	talk_jumped += talk->jump_ready;
	talk->jump_ready = 0;
	return talk->wish;
}

struct talk talk_with(const char *lines)
{
	scratch_script("handler", lines);
	return (struct talk){
	    .run =
		{
		    .file = scratch_path("handler"),
		    .directory = scratch_path(""),
		    .environment = environment,
		    .in = -1,
		    .limits = &talk_limits,
		    .output = take_output,
		    .complaint = take_complaint,
		    .before_exec = take_pid,
		    .guests = {{.prepare = talk_prepare, .serve = serve}},
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

void expect_gone(pid_t pid)
{
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(kill(pid, 0), -1);
	ck_assert_int_eq(errno, ESRCH);
}

void talk_hold(struct talk *talk)
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
	if (talk->result.end >= RUN_TIMED_OUT && !talk_stubborn) {
		ck_assert(!talk->result.group_stuck);
		expect_gone(talk->pid);
		ck_assert_int_eq(kill(-talk->pid, 0), -1);
	}
	if (null >= 0)
		close(null);
}

void talk_release(struct talk *talk)
{
	buffer_free(&talk->out);
	buffer_free(&talk->err);
}

/* Orphans come to the test, so that those of a group that was killed are reaped whatever the
 * machine's first process is like. */
static void become_reaper(void)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
}

TCase *talk_case(Suite *suite, const char *name)
{
	TCase *tests = tcase_create(name);
	tcase_add_unchecked_fixture(tests, scratch_set_up, scratch_tear_down);
	tcase_add_checked_fixture(tests, become_reaper, NULL);
	tcase_set_timeout(tests, 60);
	suite_add_tcase(suite, tests);
	return tests;
}
