/* SPDX-License-Identifier: ISC */
/*
 * Running one handler to its end in one poll loop: standard output to a callback, standard error
 * drained, capped and handed on, exit by pidfd, deadline with TERM, grace and KILL to the group,
 * and up to two guests (the lease's renewal, the client's connection) served meanwhile. Knows
 * nothing of records.
 */
#ifndef ONCEWRAP_HANDLER_RUN_H
#define ONCEWRAP_HANDLER_RUN_H

#include "base/error.h"
#include "config/config.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a guest wishes for the handler. */
enum run_wish {
	RUN_ON,   /* go on */
	RUN_END,  /* end its group: TERM, kill_grace, KILL */
	RUN_KILL, /* end its group at once by KILL: there is no time (a lease is over) */
};

/* Somebody else who is to be served while the handler runs. */
struct run_guest {
	void *context;
	/* Fill *fd (fd -1: none) and lower *wait_ms (-1: for ever) as wanted. */
	void (*prepare)(void *context, struct pollfd *fd, int *wait_ms);
	/* After every poll, whatever woke it (revents 0: not this guest's descriptor). RUN_END and
	 * RUN_KILL give RUN_STOPPED; a guest that has wished either is not asked again. */
	enum run_wish (*serve)(void *context, short revents);
};

#define RUN_GUESTS 2

struct run {
	const char *file; /* also the only argument: RFC 3875 4.4 search words are not passed */
	const char *directory;
	char *const *environment;
	int in; /* standard input, at offset 0 */
	const struct config_handlers *limits;
	/* Standard output as it comes; true: take no more and end the handler (RUN_OUTPUT_REFUSED).
	 * What comes once the handler is being ended is drained and counted, but not handed on. */
	bool (*output)(void *context, const void *data, size_t length);
	/* Standard error as it comes, within stderr_limit; may be NULL. */
	void (*complaint)(void *context, const void *data, size_t length);
	/* Called in the vforked child with its pid (handler/spawn.h); may be NULL. */
	void (*before_exec)(void *context, pid_t pid);
	void *context; /* for the three above */
	struct run_guest guests[RUN_GUESTS];
	size_t guest_count;
};

enum run_end {
	RUN_NOT_STARTED,    /* exec failed or no process: nothing happened */
	RUN_EXITED,         /* exit_status; output complete, or cut after exit_grace */
	RUN_SIGNALED,       /* signal; 0: it has ended, and how cannot be told */
	RUN_TIMED_OUT,      /* deadline; the group is gone */
	RUN_STOPPED,        /* a guest asked for it; the group is gone */
	RUN_OUTPUT_REFUSED, /* the output callback asked for it; the group is gone */
};

struct run_result {
	enum run_end end;
	int exit_status;
	int signal;
	int exec_errno; /* RUN_NOT_STARTED: execve's or chdir's errno, 0 if it was something else */
	bool input_read;  /* the handler read some of its standard input (its file offset moved) */
	bool group_stuck; /* the group was sent KILL and yet is not gone, see below */
	uint64_t output_bytes;
	uint64_t complaint_bytes; /* all of standard error, handed on or not */
	int64_t elapsed;          /* ms */
};

/*
 * The child is reaped, and with RUN_TIMED_OUT, RUN_STOPPED and RUN_OUTPUT_REFUSED its group is gone
 * when this returns, unless group_stuck: a process that KILL does not end within seconds (stuck in
 * the kernel, or running as somebody else), which is worth a line in the log. A leftover grandchild
 * of a handler that exited by itself is left alone, but holds nothing of ours (case C38). *error is
 * filled for RUN_NOT_STARTED.
 */
void run_handler(const struct run *run, struct run_result *result, struct error *error);

#endif
