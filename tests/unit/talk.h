/* SPDX-License-Identifier: ISC */
/*
 * What the tests of run_handler share: a handler of a few lines of shell that tells when it is
 * ready, a guest that then does what the test is about, and a clock that jumps, so that no test
 * waits for time to pass. Whoever links it wraps clock_now and kill (ld's --wrap).
 */
#ifndef ONCEWRAP_TESTS_UNIT_TALK_H
#define ONCEWRAP_TESTS_UNIT_TALK_H

#include "base/buffer.h"
#include "handler/run.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HOUR_MS  3600000
#define MEGABYTE 1048576

/* A shell's child that has not yet come to its exec may lose a TERM, and would then hold the
 * outputs. */
#define SLEEP "sleep 1000 >/dev/null 2>&1"

#define TRAP_AND_GO_ON "trap 'echo termed >&2' TERM; echo ready; while :; do " SLEEP " & wait; done"

#define UNTIL_LEADER_IS_GONE "until grep -q '^State:.Z' /proc/$$/status; do :; done"

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

/* Every time an hour; 1000 bytes of standard error. */
extern const struct config_handlers talk_limits;

/* How far the clock has been put forward. */
extern int64_t talk_jumped;

/* A group that is always there, and an hour at each look. */
extern bool talk_stubborn;

/* A talk with a handler of these lines, its guest and callbacks in place. */
struct talk talk_with(const char *lines);

/* Run it, and see that whatever way it ended, nothing of it is left with us. */
void talk_hold(struct talk *talk);
void talk_release(struct talk *talk);

/* A guest's prepare: look again soon. */
void talk_prepare(void *context, struct pollfd *fd, int *wait_ms);

void expect_gone(pid_t pid);
#define expect_end(talk, expected) ck_assert_int_eq((int)(talk)->result.end, (int)(expected))
#define expect_out(talk, text)     ck_assert_str_eq(buffer_text(&(talk)->out), text)
#define expect_err(talk, text)     ck_assert_str_eq(buffer_text(&(talk)->err), text)

/* Add tests of that name, each in a process of its own, to which orphans come. */
TCase *talk_case(Suite *suite, const char *name);

#endif
