/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "handler/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "handler/spawn.h"

/* How often the child's end is asked for where no pidfd tells it: before Linux 5.3, under valgrind,
 * or with no descriptor left. */
#define ASK_EVERY_MS 10

/* As much as a pipe holds, so that a handler that writes fast is read in one go. */
#define BLOCK_SIZE 65536

/* How long a group that was sent KILL is waited for: one asleep in the kernel can outlast it. */
#define KILL_WAIT_MS 5000

enum phase {
	PHASE_WORKING,  /* the handler runs, until its deadline */
	PHASE_DRAINING, /* it has exited, but somebody holds its output open: until exit_grace */
	PHASE_ENDING,   /* its group has been sent TERM: until kill_grace */
	PHASE_KILLED,   /* its group has been sent KILL: until it is gone */
	PHASE_OVER,
};

/* Places in the poll set. fd is -1 where there is nothing to come: the pipe is at its end, there is
 * no pidfd, the guest has nothing to wait for. */
enum { AT_OUT, AT_ERR, AT_EXIT, AT_GUESTS, AT_COUNT = AT_GUESTS + RUN_GUESTS };

struct watch {
	const struct run *run;
	struct run_result *result;
	pid_t pid; /* reaped last: its zombie keeps the group's number from being used anew */
	enum phase phase;
	int64_t until;             /* when the phase ends by itself */
	bool exited;               /* the child has, and is a zombie */
	bool ended;                /* by us, with result->end saying why */
	bool refused;              /* the output callback wants no more */
	bool released[RUN_GUESTS]; /* this guest wished the end, and is not asked again */
	struct pollfd fds[AT_COUNT];
	unsigned char *block; /* BLOCK_SIZE */
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* One read: poll said that it does not block. Returns the bytes now in the block; closes a pipe at
 * its end. */
static size_t read_block(struct watch *watch, int at)
{
	struct pollfd *fd = &watch->fds[at];
	if (fd->fd < 0 || fd->revents == 0)
		return 0;
	ssize_t length = 0;
	if (fd->revents & POLLIN) {
		length = read(fd->fd, watch->block, BLOCK_SIZE);
		if (length == -1 && (errno == EINTR || errno == EAGAIN))
			return 0;
	}
	if (length > 0)
		return (size_t)length;
	close_fd(&fd->fd);
	return 0;
}

static void take_output(struct watch *watch)
{
	size_t length = read_block(watch, AT_OUT);
	watch->result->output_bytes += length;
	if (length == 0 || watch->phase >= PHASE_ENDING)
		return;
	watch->refused = watch->run->output(watch->run->context, watch->block, length);
}

/* Read whatever the cap: a full pipe would stop the handler (case C42). */
static void take_complaint(struct watch *watch)
{
	size_t length = read_block(watch, AT_ERR);
	uint64_t before = watch->result->complaint_bytes;
	uint64_t limit = (uint64_t)watch->run->limits->stderr_limit;
	watch->result->complaint_bytes += length;
	if (length == 0 || watch->run->complaint == NULL || before >= limit)
		return;
	size_t room = limit - before < length ? (size_t)(limit - before) : length;
	watch->run->complaint(watch->run->context, watch->block, room);
}

/* The shortest wait that suits everybody. */
static int prepare(struct watch *watch)
{
	int wait_ms = clock_wait(watch->until);
	if (watch->fds[AT_EXIT].fd < 0 && !watch->exited && wait_ms > ASK_EVERY_MS)
		wait_ms = ASK_EVERY_MS;
	for (size_t i = 0; i < watch->run->guest_count; i++) {
		const struct run_guest *guest = &watch->run->guests[i];
		struct pollfd *fd = &watch->fds[AT_GUESTS + i];
		*fd = (struct pollfd){.fd = -1};
		if (!watch->released[i])
			guest->prepare(guest->context, fd, &wait_ms);
	}
	return wait_ms;
}

static enum run_wish serve_guests(struct watch *watch)
{
	enum run_wish strongest = RUN_ON;
	for (size_t i = 0; i < watch->run->guest_count; i++) {
		const struct run_guest *guest = &watch->run->guests[i];
		if (watch->released[i])
			continue;
		enum run_wish wish =
		    guest->serve(guest->context, watch->fds[AT_GUESTS + i].revents);
		watch->released[i] = wish != RUN_ON;
		if (wish > strongest)
			strongest = wish;
	}
	return strongest;
}

static void begin(struct watch *watch, enum phase phase, int64_t length)
{
	watch->phase = phase;
	watch->until = clock_now() + length;
}

static bool is_late(const struct watch *watch)
{
	return clock_now() >= watch->until;
}

static void kill_group(struct watch *watch)
{
	kill(-watch->pid, SIGKILL);
	begin(watch, PHASE_KILLED, KILL_WAIT_MS);
}

static void end_group(struct watch *watch, enum run_end end)
{
	watch->ended = true;
	watch->result->end = end;
	kill(-watch->pid, SIGTERM);
	begin(watch, PHASE_ENDING, watch->run->limits->kill_grace);
}

/* The one place where a phase follows another. A handler that has exited, its output read to the
 * end, has done its work, whatever else is true by then. */
static void advance(struct watch *watch, enum run_wish wish)
{
	bool exited = watch->exited;
	bool drained = watch->fds[AT_OUT].fd < 0;
	if (watch->phase == PHASE_WORKING || watch->phase == PHASE_DRAINING) {
		if (watch->refused)
			end_group(watch, RUN_OUTPUT_REFUSED);
		else if (exited && drained)
			watch->phase = PHASE_OVER;
		else if (wish != RUN_ON)
			end_group(watch, RUN_STOPPED);
		else if (watch->phase == PHASE_WORKING && exited)
			begin(watch, PHASE_DRAINING, watch->run->limits->exit_grace);
		else if (watch->phase == PHASE_WORKING && is_late(watch))
			end_group(watch, RUN_TIMED_OUT);
		else if (is_late(watch))
			watch->phase = PHASE_OVER;
	}
	/* A pipe still open after the leader's exit is the sign of others in the group, whose grace
	 * goes on. */
	bool deserted = exited && drained && watch->fds[AT_ERR].fd < 0;
	if (watch->phase == PHASE_ENDING && (deserted || wish == RUN_KILL || is_late(watch)))
		kill_group(watch);
	if (watch->phase == PHASE_KILLED && (exited || is_late(watch)))
		watch->phase = PHASE_OVER;
}

static void look_for_exit(struct watch *watch)
{
	struct pollfd *fd = &watch->fds[AT_EXIT];
	if (fd->fd < 0 && !watch->exited) {
		siginfo_t how = {0};
		int got = waitid(P_PID, (id_t)watch->pid, &how, WEXITED | WNOHANG | WNOWAIT);
		watch->exited = got == 0 ? how.si_pid != 0 : errno == ECHILD;
	} else if (fd->revents != 0) {
		watch->exited = true;
		close_fd(&fd->fd);
	}
}

static void follow(struct watch *watch)
{
	begin(watch, PHASE_WORKING, watch->run->limits->timeout);
	while (watch->phase != PHASE_OVER) {
		int wait_ms = prepare(watch);
		if (poll(watch->fds, AT_GUESTS + watch->run->guest_count, wait_ms) == -1) {
			/* what it left in revents is not to be believed */
			for (size_t i = 0; i < AT_COUNT; i++)
				watch->fds[i].revents = 0;
			if (errno != EINTR)
				clock_pause(10); /* no memory: the deadline is kept all the same */
		}
		take_output(watch);
		take_complaint(watch);
		look_for_exit(watch);
		advance(watch, serve_guests(watch));
	}
}

/* What standard error still holds of a handler that has gone: as much as a pipe may hold, and no
 * more, since a leftover grandchild may be writing on. */
static void drain_complaint(struct watch *watch)
{
	for (int blocks = 0; blocks < 16 && watch->fds[AT_ERR].fd >= 0; blocks++) {
		if (poll(&watch->fds[AT_ERR], 1, 0) <= 0)
			break;
		take_complaint(watch);
	}
}

/* By pid, never any child. False: it has not ended yet (WNOHANG). */
static bool reap(struct watch *watch, int flags)
{
	struct run_result *result = watch->result;
	siginfo_t how = {0};
	int got;
	do
		got = waitid(P_PID, (id_t)watch->pid, &how, WEXITED | flags);
	while (got == -1 && errno == EINTR);
	if (got == 0 && how.si_pid == 0)
		return false;
	/* ECHILD, where SIGCHLD was left ignored: it has ended, unseen */
	bool exited = got == 0 && how.si_code == CLD_EXITED;
	if (exited)
		result->exit_status = how.si_status;
	else if (got == 0)
		result->signal = how.si_status;
	if (!watch->ended)
		result->end = exited ? RUN_EXITED : RUN_SIGNALED;
	return true;
}

/* To have sent KILL is not enough (case C39): the others of the group die a moment after it.
 * Nothing is sent here any more: with the leader reaped the group's number may soon be somebody
 * else's. */
static bool group_is_gone(pid_t group)
{
	int64_t until = clock_now() + KILL_WAIT_MS;
	int64_t pause_ms = 1;
	while (kill(-group, 0) == 0 || errno == EPERM) {
		/* orphans come to us where we are a container's first process, or a subreaper */
		siginfo_t how;
		if (waitid(P_PGID, (id_t)group, &how, WEXITED | WNOHANG) == 0 && how.si_pid != 0)
			continue;
		if (clock_now() >= until)
			return false;
		clock_pause(pause_ms);
		pause_ms = pause_ms < 50 ? pause_ms * 2 : pause_ms;
	}
	return true;
}

static void finish(struct watch *watch)
{
	if (!watch->ended)
		drain_complaint(watch);
	/* only one whom KILL could not end in time has not exited by now */
	bool reaped = reap(watch, watch->exited ? 0 : WNOHANG);
	if (watch->ended)
		watch->result->group_stuck = !reaped || !group_is_gone(watch->pid);
	for (int at = AT_OUT; at <= AT_EXIT; at++)
		close_fd(&watch->fds[at].fd);
}

static int start(const struct run *run, const int out[2], const int err[2], struct spawned *child,
		 struct run_result *result, struct error *error)
{
	/*
	 * The path is run as it was found, not as its symlinks resolve: scripts that go by several
	 * names look at $0, which the kernel sets to the path given here. So the target could be
	 * changed between script_find's check and this call; but whoever can change a name under a
	 * root can put a program of his own there.
	 */
	const char *const arguments[] = {run->file, NULL};
	struct spawn spawn = {
	    .file = run->file,
	    .arguments = arguments,
	    .environment = run->environment,
	    .directory = run->directory,
	    .in = run->in,
	    .out = out[1],
	    .err = err[1],
	    .before_exec = run->before_exec,
	    .context = run->context,
	};
	return spawn_start(&spawn, child, &result->exec_errno, error);
}

void run_handler(const struct run *run, struct run_result *result, struct error *error)
{
	unsigned char block[BLOCK_SIZE];
	int64_t started = clock_now();
	int out[2] = {-1, -1};
	int err[2] = {-1, -1};
	struct spawned child;
	*result = (struct run_result){.end = RUN_NOT_STARTED};
	if (pipe2(out, O_CLOEXEC) == -1 || pipe2(err, O_CLOEXEC) == -1) {
		error_set_errno(error, errno, "pipe for %s", run->file);
		goto out;
	}
	if (start(run, out, err, &child, result, error) == -1)
		goto out;
	close_fd(&out[1]);
	close_fd(&err[1]);
	struct watch watch = {
	    .run = run,
	    .result = result,
	    .pid = child.pid,
	    .fds = {[AT_OUT] = {.fd = out[0], .events = POLLIN},
		    [AT_ERR] = {.fd = err[0], .events = POLLIN},
		    [AT_EXIT] = {.fd = child.pidfd, .events = POLLIN}},
	    .block = block,
	};
	out[0] = err[0] = -1;
	follow(&watch);
	finish(&watch);
	result->input_read = lseek(run->in, 0, SEEK_CUR) > 0;
out:
	close_fd(&out[0]);
	close_fd(&out[1]);
	close_fd(&err[0]);
	close_fd(&err[1]);
	result->elapsed = clock_now() - started;
}
