/* SPDX-License-Identifier: ISC */
/* Spawning, seen from the child: this very program is started as `probe` and tells what it finds.
 */
#include <config.h>

#include "handler/spawn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/forbid.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

static char self[PATH_MAX];

/* Signals that are ignored, and that are blocked; without the two that are the C library's own. */
static void count_signals(int *ignored, int *blocked)
{
	struct sigaction action;
	sigset_t mask;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int number = 1; number <= SIGRTMAX; number++) {
		*ignored += sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
		*blocked += sigismember(&mask, number) == 1;
	}
}

/* Open descriptors: three entries are ".", ".." and the one that looks. */
static int count_descriptors(void)
{
	int count = 0;
	DIR *directory = opendir("/proc/self/fd");
	if (directory == NULL)
		return -1;
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count - 3;
}

/* In the child: one fact a line. */
static int probe(int count, char **arguments, char **environment)
{
	char directory[PATH_MAX] = "";
	char line[64] = "";
	int ignored = 0, blocked = 0;
	if (fgets(line, sizeof(line), stdin) != NULL)
		fprintf(stderr, "read %s", line);
	printf("descriptors %d\n", count_descriptors());
	printf("arguments %d %s\n", count, arguments[0]);
	for (int i = 0; environment[i] != NULL; i++)
		printf("environment %s\n", environment[i]);
	printf("directory %s\n", getcwd(directory, sizeof(directory)));
	printf("umask %03o\n", (unsigned)umask(0));
	printf("leads its group: %d, its session: %d\n", getpgrp() == getpid(),
	       getsid(0) == getpid());
	count_signals(&ignored, &blocked);
	printf("signals ignored: %d, blocked: %d\n", ignored, blocked);
	return fflush(stdout);
}

#define FACTS                                                                                      \
	"descriptors 3\n"                                                                          \
	"arguments 1 probe\n"                                                                      \
	"environment A=1\n"                                                                        \
	"environment B=\n"                                                                         \
	"directory /usr\n"                                                                         \
	"umask 022\n"                                                                              \
	"leads its group: 1, its session: 0\n"                                                     \
	"signals ignored: 0, blocked: 0\n"

static const char *const probe_arguments[] = {"probe", NULL};
static char *const probe_environment[] = {(char[]){"A=1"}, (char[]){"B="}, NULL};

static struct spawn probe_spawn(int in, int out, int err)
{
	return (struct spawn){
	    .file = self,
	    .arguments = probe_arguments,
	    .environment = probe_environment,
	    .directory = "/usr",
	    .in = in,
	    .out = out,
	    .err = err,
	};
}

static int open_file(const char *name)
{
	int fd = open(scratch_path(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static int open_input(void)
{
	scratch_file("in", 0600, "a line\n");
	int fd = open(scratch_path("in"), O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static int wait_for(const struct spawned *child)
{
	int status;
	ck_assert_int_eq(waitpid(child->pid, &status, 0), child->pid);
	if (child->pidfd >= 0)
		close(child->pidfd);
	return status;
}

/* Spawn, wait for its end, and give its wait status. */
static int run(const struct spawn *spawn)
{
	struct spawned child;
	struct error error = {0};
	int exec_errno;
	ck_assert_msg(spawn_start(spawn, &child, &exec_errno, &error) == 0, "%s", error.message);
	return wait_for(&child);
}

static void run_probe(void)
{
	int in = open_input(), out = open_file("out"), err = open_file("err");
	struct spawn spawn = probe_spawn(in, out, err);
	ck_assert_int_eq(run(&spawn), 0);
	close(in);
	close(out);
	close(err);
	ck_assert_str_eq(scratch_read("out"), FACTS);
	ck_assert_str_eq(scratch_read("err"), "read a line\n");
}

START_TEST(a_child_starts_clean_whatever_its_parent_is_like)
{
	umask(077);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGRTMAX, SIG_IGN);
	sigset_t blocked;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGCHLD);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, &blocked, NULL), 0);
	setenv("SECRET", "not to be seen", 1);
	ck_assert_int_eq(dup2(2, 100), 100);
	ck_assert_int_eq(dup2(2, 700), 700);
	run_probe();
}
END_TEST

START_TEST(the_parent_is_left_as_it_was)
{
	sigset_t before, after;
	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, &before, NULL), 0);
	int descriptors = count_descriptors();
	umask(077);
	run_probe();
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &after), 0);
	for (int number = 1; number <= SIGRTMAX; number++)
		ck_assert_int_eq(sigismember(&before, number), sigismember(&after, number));
	ck_assert_int_eq(count_descriptors(), descriptors);
	ck_assert_int_eq(umask(0), 077);
}
END_TEST

/* Where the three descriptors stand in the parent; 7 to 9 are out of the way. */
static const int places[][3] = {
    {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {7, 8, 9}, {1, 8, 9},
    {2, 8, 9}, {7, 0, 9}, {7, 2, 9}, {7, 8, 0}, {7, 8, 1}, {0, 8, 9}, {7, 1, 9}, {7, 8, 2},
    {1, 0, 9}, {1, 2, 9}, {2, 0, 9}, {7, 0, 1}, {7, 2, 0}, {7, 2, 1}, {1, 8, 0}, {2, 8, 0},
};

START_TEST(descriptors_are_placed_from_anywhere)
{
	int in = open_input(), out = open_file("out"), err = open_file("err");
	int sources[] = {fcntl(in, F_DUPFD_CLOEXEC, 30), fcntl(out, F_DUPFD_CLOEXEC, 30),
			 fcntl(err, F_DUPFD_CLOEXEC, 30)};
	int saved[] = {fcntl(0, F_DUPFD_CLOEXEC, 40), fcntl(1, F_DUPFD_CLOEXEC, 40),
		       fcntl(2, F_DUPFD_CLOEXEC, 40)};
	const int *place = places[_i];
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(dup3(sources[i], place[i], O_CLOEXEC), place[i]);
	struct spawn spawn = probe_spawn(place[0], place[1], place[2]);
	struct spawned child;
	struct error error;
	int exec_errno;
	int started = spawn_start(&spawn, &child, &exec_errno, &error);
	for (int i = 0; i < 3; i++)
		dup2(saved[i], i);
	ck_assert_int_eq(started, 0);
	ck_assert_int_eq(wait_for(&child), 0);
	ck_assert_str_eq(scratch_read("out"), FACTS);
	ck_assert_str_eq(scratch_read("err"), "read a line\n");
}
END_TEST

START_TEST(one_descriptor_may_serve_twice)
{
	int in = open_input(), out = open_file("out");
	struct spawn spawn = probe_spawn(in, out, out);
	ck_assert_int_eq(run(&spawn), 0);
	ck_assert_str_eq(scratch_read("out"), "read a line\n" FACTS);
}
END_TEST

START_TEST(descriptors_are_closed_without_close_range_too)
{
	ck_assert_int_eq(dup2(2, 100), 100);
	ck_assert_int_eq(dup2(2, 700), 700);
	forbid_call(SYS_close_range);
	run_probe();
}
END_TEST

struct note {
	pid_t pid, group, parent;
	int calls;
};

static void take_note(void *context, pid_t pid)
{
	struct note *note = context;
	note->pid = pid;
	note->group = getpgid(0);
	note->parent = getppid();
	note->calls++;
}

START_TEST(before_the_program_runs_the_parent_knows_its_group)
{
	struct note note = {0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct spawn spawn = probe_spawn(null, null, null);
	spawn.before_exec = take_note;
	spawn.context = &note;
	struct spawned child;
	struct error error;
	int exec_errno;
	ck_assert_int_eq(spawn_start(&spawn, &child, &exec_errno, &error), 0);
	ck_assert_int_eq(note.calls, 1);
	ck_assert_int_eq(note.pid, child.pid);
	ck_assert_int_eq(note.group, child.pid);
	ck_assert_int_eq(note.parent, getpid());
	ck_assert_int_eq(wait_for(&child), 0);
}
END_TEST

static volatile sig_atomic_t handled;

static void handle(int number)
{
	handled = number;
}

static void signal_self(void *context, pid_t pid)
{
	(void)context;
	kill(pid, SIGUSR2);
}

START_TEST(no_handler_of_the_parents_runs_in_the_child)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct spawn spawn = probe_spawn(null, null, null);
	spawn.before_exec = signal_self;
	signal(SIGUSR2, handle);
	int status = run(&spawn);
	ck_assert_int_eq(handled, 0);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGUSR2);
}
END_TEST

static const struct {
	const char *file, *directory;
	int number;
} unfit[] = {
    {"missing", "/", ENOENT},         {"plain", "/", EACCES},      {"directory", "/", EACCES},
    {"interpreter", "/", ENOENT},     {"no-script", "/", ENOEXEC}, {"empty", "/", ENOEXEC},
    {"plain/below", "/", ENOTDIR},    {"loop", "/", ELOOP},        {"good", "/nowhere", ENOENT},
    {"good", "/etc/passwd", ENOTDIR},
};

static void make_programs(void)
{
	scratch_set_up();
	scratch_script("good", "exit 0");
	scratch_file("plain", 0644, "#!/bin/sh\nexit 0\n");
	scratch_directory("directory");
	scratch_file("interpreter", 0755, "#!/nowhere/sh\nexit 0\n");
	scratch_file("no-script", 0755, "exit 0\n");
	scratch_file("empty", 0755, "");
	scratch_link("loop", "loop");
}

static void expect_failure(const struct spawn *spawn, int number)
{
	struct spawned child;
	struct error error = {0};
	int exec_errno = -1;
	int descriptors = count_descriptors();
	ck_assert_int_eq(spawn_start(spawn, &child, &exec_errno, &error), -1);
	ck_assert_msg(exec_errno == number, "%d: %s", exec_errno, error.message);
	ck_assert_ptr_nonnull(strstr(error.message, spawn->file));
	ck_assert_int_eq(count_descriptors(), descriptors);
	ck_assert_int_eq(waitpid(-1, NULL, 0), -1);
	ck_assert_int_eq(errno, ECHILD);
}

START_TEST(what_cannot_run_is_told_by_errno_and_leaves_no_child)
{
	struct spawn spawn = probe_spawn(0, 1, 2);
	spawn.file = scratch_path(unfit[_i].file);
	spawn.directory = unfit[_i].directory;
	expect_failure(&spawn, unfit[_i].number);
}
END_TEST

START_TEST(an_environment_too_large_is_told)
{
	static char large[1 << 18];
	memset(large, 'x', sizeof(large) - 1);
	struct spawn spawn = probe_spawn(0, 1, 2);
	spawn.environment = (char *[]){large, NULL};
	expect_failure(&spawn, E2BIG);
}
END_TEST

START_TEST(a_failure_of_our_own_says_nothing_about_the_program)
{
	struct rlimit limit;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	rlim_t usual = limit.rlim_cur;
	struct spawn spawn = probe_spawn(1, 0, 2); /* one must step aside, and there is no room */
	struct spawned child;
	struct error error = {0};
	int exec_errno = -1;
	limit.rlim_cur = 3;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	int started = spawn_start(&spawn, &child, &exec_errno, &error);
	limit.rlim_cur = usual;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(started, -1);
	ck_assert_int_eq(exec_errno, 0);
	ck_assert_ptr_nonnull(strstr(error.message, "descriptors 0 to 2"));
}
END_TEST

START_TEST(a_child_without_a_pidfd_is_known_to_run)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct spawn spawn = probe_spawn(null, null, null);
	struct spawned child;
	struct error error = {0};
	int exec_errno = -1;
	forbid_call(SYS_pidfd_open);
	ck_assert_int_eq(spawn_start(&spawn, &child, &exec_errno, &error), 0);
	ck_assert_int_eq(child.pidfd, -1);
	ck_assert_int_eq(wait_for(&child), 0);
}
END_TEST

START_TEST(whether_there_will_be_pidfds_is_known_before)
{
	ck_assert(spawn_gives_pidfd());
	forbid_call(SYS_pidfd_open);
	ck_assert(!spawn_gives_pidfd());
}
END_TEST

START_TEST(a_pidfd_tells_the_end_and_is_not_inherited)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct spawn spawn = probe_spawn(null, null, null);
	struct spawned child;
	struct error error;
	int exec_errno;
	siginfo_t how = {0};
	ck_assert_int_eq(spawn_start(&spawn, &child, &exec_errno, &error), 0);
	ck_assert_int_eq(fcntl(child.pidfd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(waitid(P_PIDFD, (id_t)child.pidfd, &how, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(how.si_pid, child.pid);
	wait_for(&child);
}
END_TEST

/* A worker that starts a handler, tells its pid, and is killed. */
static void spawn_and_wait_to_be_killed(int out)
{
	struct spawned child;
	struct error error;
	int exec_errno;
	struct spawn spawn = probe_spawn(0, 1, 2);
	spawn.file = scratch_path("sleeper");
	if (spawn_start(&spawn, &child, &exec_errno, &error) == -1)
		_exit(1);
	if (write(out, &child.pid, sizeof(child.pid)) != sizeof(child.pid))
		_exit(1);
	for (;;)
		pause();
}

START_TEST(a_child_dies_with_its_parent)
{
	int ends[2];
	pid_t child;
	int status;
	scratch_script("sleeper", "exec /bin/sleep 1000");
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid_t worker = fork();
	ck_assert_int_ge(worker, 0);
	if (worker == 0)
		spawn_and_wait_to_be_killed(ends[1]);
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], &child, sizeof(child)), sizeof(child));
	ck_assert_int_eq(kill(worker, SIGKILL), 0);
	ck_assert_int_eq(waitpid(worker, NULL, 0), worker);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static Suite *suite_of_spawn(void)
{
	Suite *suite = suite_create("spawn");
	TCase *tests = tcase_create("spawn");
	tcase_add_unchecked_fixture(tests, make_programs, scratch_tear_down);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_child_starts_clean_whatever_its_parent_is_like);
	tcase_add_test(tests, the_parent_is_left_as_it_was);
	tcase_add_loop_test(tests, descriptors_are_placed_from_anywhere, 0, COUNT(places));
	tcase_add_test(tests, one_descriptor_may_serve_twice);
	tcase_add_test(tests, descriptors_are_closed_without_close_range_too);
	tcase_add_test(tests, before_the_program_runs_the_parent_knows_its_group);
	tcase_add_test(tests, no_handler_of_the_parents_runs_in_the_child);
	tcase_add_loop_test(tests, what_cannot_run_is_told_by_errno_and_leaves_no_child, 0,
			    COUNT(unfit));
	tcase_add_test(tests, an_environment_too_large_is_told);
	tcase_add_test(tests, a_failure_of_our_own_says_nothing_about_the_program);
	tcase_add_test(tests, a_child_without_a_pidfd_is_known_to_run);
	tcase_add_test(tests, whether_there_will_be_pidfds_is_known_before);
	tcase_add_test(tests, a_pidfd_tells_the_end_and_is_not_inherited);
	tcase_add_test(tests, a_child_dies_with_its_parent);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(int count, char **arguments, char **environment)
{
	if (count == 1 && strcmp(arguments[0], "probe") == 0)
		return probe(count, arguments, environment);
	if (realpath("/proc/self/exe", self) == NULL)
		return EXIT_FAILURE;
	return suite_run(suite_of_spawn());
}
