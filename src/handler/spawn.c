/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "handler/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child tells its parent through their common memory. Volatile: to the compiler nothing
 * between vfork's two returns could have written it. */
struct failure {
	const char *volatile step; /* NULL: none */
	volatile int number;
	volatile bool of_program; /* it says something about the program, not about this process */
};

static _Noreturn void give_up(struct failure *failure, const char *step, bool of_program)
{
	failure->number = errno;
	failure->of_program = of_program;
	failure->step = step;
	_exit(127);
}

/* Any descriptor may be among 0 to 2 already, in the wrong place: those step aside first, so that
 * no dup2 overwrites one that is still to be placed. */
static bool place_descriptors(const struct spawn *spawn)
{
	int sources[] = {spawn->in, spawn->out, spawn->err};
	for (int i = 0; i < 3; i++) {
		if (sources[i] < 3 && sources[i] != i)
			sources[i] = fcntl(sources[i], F_DUPFD, 3);
		if (sources[i] == -1)
			return false;
	}
	for (int i = 0; i < 3; i++) {
		/* dup2 onto itself would leave close-on-exec set */
		int placed = sources[i] == i ? fcntl(i, F_SETFD, 0) : dup2(sources[i], i);
		if (placed == -1)
			return false;
	}
	return true;
}

/* execve resets handlers but keeps ignored signals ignored (SIGPIPE, in our case); and the parent's
 * handlers must never run here, in its memory, once the mask is open. */
static void reset_signals(void)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	/* refused for KILL and STOP, which do not need it */
	for (int number = 1; number <= SIGRTMAX; number++)
		sigaction(number, &standard, NULL);
}

/* The child, in its parent's memory and on its parent's stack: system calls only. */
static __attribute__((noinline)) _Noreturn void become(const struct spawn *spawn, pid_t parent,
						       struct failure *failure)
{
	sigset_t none;
	sigemptyset(&none);
	if (setpgid(0, 0) == -1)
		give_up(failure, "setpgid", false);
	if (!place_descriptors(spawn))
		give_up(failure, "placing descriptors 0 to 2", false);
	closefrom(3); /* one close_range; before Linux 5.9, what /proc/self/fd lists */
	umask(022);
	if (chdir(spawn->directory) == -1)
		give_up(failure, "chdir", true);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1)
		give_up(failure, "prctl", false);
	if (getppid() != parent)
		_exit(127); /* it died before the line above: nobody is left to be told */
	if (spawn->before_exec != NULL)
		spawn->before_exec(spawn->context, getpid());
	reset_signals();
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(spawn->file, (char *const *)spawn->arguments, spawn->environment);
	give_up(failure, "execve", true);
}

static pid_t start(const struct spawn *spawn, struct failure *failure)
{
	/* No handler of ours may run in the child before it has put them off. */
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid_t parent = getpid();
	pid_t pid = vfork();
	if (pid == 0)
		become(spawn, parent, failure);
	int number = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = number;
	return pid;
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		;
}

int spawn_start(const struct spawn *spawn, struct spawned *child, int *exec_errno,
		struct error *error)
{
	struct failure failure = {0};
	*exec_errno = 0;
	pid_t pid = start(spawn, &failure);
	if (pid == -1) {
		error_set_errno(error, errno, "vfork for %s", spawn->file);
		return -1;
	}
	if (failure.step != NULL) {
		reap(pid);
		*exec_errno = failure.of_program ? failure.number : 0;
		error_set_errno(error, failure.number, "%s for %s", failure.step, spawn->file);
		return -1;
	}
	*child = (struct spawned){.pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0)};
	return 0;
}

bool spawn_gives_pidfd(void)
{
	/* pidfd_open(2): where there is the call, 0 is an invalid process id to it. */
	return syscall(SYS_pidfd_open, 0, 0) == -1 && errno == EINVAL;
}
