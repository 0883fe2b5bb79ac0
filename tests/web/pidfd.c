/* SPDX-License-Identifier: ISC */
/*
 * A stand-in for pidfd_open(2), which valgrind 3.19 does not know: a pipe that becomes readable
 * when the process has ended. Loaded by LD_PRELOAD, it takes the place of glibc's syscall() for
 * that one number.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct watch {
	pid_t pid;
	int fd;
};

/* The child stays for its parent to reap; the byte is what a pidfd would show as POLLIN. */
static void *await(void *context)
{
	struct watch *watch = context;
	siginfo_t info;
	while (waitid(P_PID, (id_t)watch->pid, &info, WEXITED | WNOWAIT) == -1 && errno == EINTR)
		;
	ssize_t written = write(watch->fd, "", 1);
	(void)written;
	close(watch->fd);
	free(watch);
	return NULL;
}

static long open_pidfd(pid_t pid)
{
	if (pid <= 0) {
		errno = EINVAL;
		return -1;
	}
	int ends[2];
	pthread_t thread;
	struct watch *watch = malloc(sizeof(*watch));
	if (watch == NULL || pipe2(ends, O_CLOEXEC) != 0)
		abort();
	*watch = (struct watch){pid, ends[1]};
	if (pthread_create(&thread, NULL, await, watch) != 0)
		abort();
	pthread_detach(thread);
	return ends[0];
}

long syscall(long number, ...)
{
	long (*next)(long, long, long, long, long, long, long);
	long arguments[6];
	va_list list;
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_pidfd_open)
		return open_pidfd((pid_t)arguments[0]);
	*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
		    arguments[5]);
}
