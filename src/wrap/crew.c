/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/crew.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/load.h"
#include "handler/slot.h"
#include "wrap/worker.h"

/* A worker that dies younger than this is started again after a pause, which doubles with each such
 * death (case C41). */
#define YOUNG_MS       1000
#define FIRST_PAUSE_MS 100
#define LONGEST_PAUSE  10000

enum crew_state {
	CREW_SERVING, /* who dies is replaced */
	CREW_LEAVING, /* told to go, until kill_at */
	CREW_KILLED,  /* did not go in time */
};

struct post {
	pid_t pid; /* 0: nobody there */
	int64_t started;
	int64_t next_start;
	int64_t pause; /* before the last start */
};

struct crew {
	enum crew_state state;
	int64_t kill_at;
	struct config *config;
	const char *handler;
	const struct listener *listener;
	struct slots *slots;
	struct bell *bell;
	size_t count;
	struct post posts[];
};

struct crew *crew_new(struct config *config, const char *handler, const struct listener *listener,
		      struct bell *bell)
{
	size_t count = (size_t)config->workers;
	struct crew *crew = calloc(1, sizeof(*crew) + count * sizeof(crew->posts[0]));
	if (crew == NULL)
		return NULL;
	crew->slots = slots_new(count);
	if (crew->slots == NULL) {
		free(crew);
		return NULL;
	}
	crew->config = config;
	crew->handler = handler;
	crew->listener = listener;
	crew->bell = bell;
	crew->count = count;
	crew->kill_at = CLOCK_NEVER;
	return crew;
}

void crew_free(struct crew *crew)
{
	if (crew == NULL)
		return;
	slots_free(crew->slots);
	config_free(crew->config);
	free(crew);
}

const struct config *crew_config(const struct crew *crew)
{
	return crew->config;
}

static void signal_all(struct crew *crew, int number)
{
	for (size_t i = 0; i < crew->count; i++)
		if (crew->posts[i].pid != 0)
			kill(crew->posts[i].pid, number);
}

void crew_dismiss(struct crew *crew)
{
	if (crew->state != CREW_SERVING)
		return;
	const struct config *config = crew->config;
	crew->state = CREW_LEAVING;
	crew->kill_at = clock_now() + config->handlers.timeout + config->handlers.kill_grace +
			config->store.settle_timeout + config->stop_timeout;
	signal_all(crew, SIGTERM);
}

static void plan_restart(struct post *post, int64_t now)
{
	if (now - post->started >= YOUNG_MS)
		post->pause = 0;
	else
		post->pause = post->pause == 0 ? FIRST_PAUSE_MS : post->pause * 2;
	if (post->pause > LONGEST_PAUSE)
		post->pause = LONGEST_PAUSE;
	post->next_start = now + post->pause;
}

static void start(struct crew *crew, size_t index)
{
	struct post *post = &crew->posts[index];
	pid_t supervisor = getpid();
	post->started = clock_now();
	pid_t pid = fork();
	if (pid == 0)
		exit(worker_run(&(struct worker){.config = crew->config,
						 .handler = crew->handler,
						 .listener = crew->listener,
						 .slots = crew->slots,
						 .bell = crew->bell,
						 .index = index,
						 .count = crew->count,
						 .supervisor = supervisor}));
	if (pid == -1) {
		log_message(LOG_LEVEL_ERROR, "worker", "cannot start a worker: %s",
			    strerror(errno));
		plan_restart(post, post->started);
		return;
	}
	post->pid = pid;
}

int64_t crew_tend(struct crew *crew)
{
	int64_t now = clock_now();
	if (crew->state == CREW_LEAVING && now >= crew->kill_at) {
		log_message(LOG_LEVEL_WARNING, "stop",
			    "workers that did not finish in time are killed");
		crew->state = CREW_KILLED;
		crew->kill_at = CLOCK_NEVER;
		signal_all(crew, SIGKILL);
	}
	if (crew->state != CREW_SERVING)
		return crew->kill_at;
	int64_t next = CLOCK_NEVER;
	for (size_t i = 0; i < crew->count; i++) {
		struct post *post = &crew->posts[i];
		if (post->pid == 0 && post->next_start <= now)
			start(crew, i);
		if (post->pid == 0 && post->next_start < next)
			next = post->next_start;
	}
	return next;
}

static void log_death(const struct crew *crew, const struct post *post, int status)
{
	if (crew->state != CREW_SERVING && status == 0)
		return;
	log_begin(LOG_LEVEL_WARNING, "worker");
	log_field_number("pid", post->pid);
	if (WIFSIGNALED(status))
		log_field_number("signal", WTERMSIG(status));
	else
		log_field_number("exit_status", WEXITSTATUS(status));
	if (crew->state == CREW_SERVING)
		log_field_number("restart_ms", post->pause);
	log_field_text("message", "a worker has died");
	log_end();
}

/* A handler outlives a killed worker by the children it started itself; of a claim that has lost
 * its owner nothing may go on running (docs/design.md section 6). */
static void kill_leftovers(struct crew *crew, size_t index)
{
	pid_t group = slot_reap(crew->slots, index);
	if (group > 1 && group != getpgrp() && kill(-group, SIGKILL) == 0)
		log_message(LOG_LEVEL_WARNING, "worker",
			    "killed the handler that it left, process group %ld", (long)group);
}

bool crew_bury(struct crew *crew, pid_t pid, int status)
{
	for (size_t i = 0; i < crew->count; i++) {
		struct post *post = &crew->posts[i];
		if (post->pid != pid)
			continue;
		plan_restart(post, clock_now());
		log_death(crew, post, status);
		kill_leftovers(crew, i);
		post->pid = 0;
		return true;
	}
	return false;
}

bool crew_gone(const struct crew *crew)
{
	if (crew->state == CREW_SERVING)
		return false;
	for (size_t i = 0; i < crew->count; i++)
		if (crew->posts[i].pid != 0)
			return false;
	return true;
}
