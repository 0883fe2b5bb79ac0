/* SPDX-License-Identifier: ISC */
/*
 * Starting a child the cheap and complete way: vfork and execve, never fork from a fat parent. The
 * child gets its own process group, descriptors 0 to 2 only, default signals and an empty mask,
 * umask 022, the given directory, and dies with its parent (PR_SET_PDEATHSIG, with a getppid
 * check). A failed exec is told by errno, apart from anything the program itself may do.
 *
 * That errno comes back through the memory which a vforked child shares with its parent. Where
 * vfork is played by fork (valgrind, qemu-user) it cannot: there such a child seems to have exited
 * with 127.
 */
#ifndef ONCEWRAP_HANDLER_SPAWN_H
#define ONCEWRAP_HANDLER_SPAWN_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct spawn {
	const char *file;
	const char *const *arguments; /* NULL-terminated, [0] the program's name */
	char *const *environment;     /* NULL-terminated */
	const char *directory;
	int in, out, err; /* become descriptors 0, 1, 2; any other numbers, equal ones too */
	/* Called in the parent's memory once the child's pid and group are known and before execve:
	 * the child waits for it. May be NULL. Must be async-signal-safe: it runs in the vforked
	 * child. */
	void (*before_exec)(void *context, pid_t pid);
	void *context;
};

struct spawned {
	pid_t pid; /* also its process group */
	int pidfd; /* owned by the caller; -1: the kernel gave none, but the program runs */
};

/* 0; or -1: the program never ran, no child is left, and *error tells why. *exec_errno is then the
 * errno of execve or of chdir, which say something about the program; 0 when it was something else
 * (no memory, no process, no descriptor). */
int spawn_start(const struct spawn *spawn, struct spawned *child, int *exec_errno,
		struct error *error) __attribute__((warn_unused_result));

/* Will children come with a pidfd? Linux has them from 5.3 on; a seccomp filter may refuse. */
bool spawn_gives_pidfd(void);

#endif
