/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/load.h"
#include "doctor/host.h"
#include "wrap/counters.h"
#include "wrap/crew.h"
#include "wrap/notify.h"

/* Reloads that come faster than requests end leave several crews; beyond this a reload has to wait.
 */
#define MOST_CREWS 8

struct supervisor {
	const struct options *options;
	struct listener *listener;
	struct bell *bell; /* of every crew: those of an earlier one wake those of a later */
	bool stopping;
	size_t count;
	struct crew *crews[MOST_CREWS]; /* the newest first; the others are leaving */
};

static const int signals[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGCHLD};

/* All of them are waited for, none ever interrupts anything; workers inherit the mask. */
static void block_signals(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(set, signals[i]);
	sigprocmask(SIG_BLOCK, set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	/* Whoever started us may have it ignored: then no child could be waited for. */
	signal(SIGCHLD, SIG_DFL);
}

static void reap(struct supervisor *supervisor)
{
	pid_t pid;
	int status;
	/* Any child: as a container's first process we are given orphans, too. */
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t i = 0; i < supervisor->count; i++)
			if (crew_bury(supervisor->crews[i], pid, status))
				break;
}

static void forget_the_gone(struct supervisor *supervisor)
{
	size_t kept = 0;
	for (size_t i = 0; i < supervisor->count; i++) {
		struct crew *crew = supervisor->crews[i];
		if (crew_gone(crew))
			crew_free(crew);
		else
			supervisor->crews[kept++] = crew;
	}
	supervisor->count = kept;
}

/* NULL when it is not good, or when what it names is not there: every problem is logged. */
static struct config *load(const struct options *options)
{
	char *problems = NULL;
	struct config *config = options_load(options, &problems);
	if (config != NULL) {
		free(problems);
		problems = host_obstacles(config, options->handler);
		if (problems == NULL || *problems != '\0') {
			config_free(config);
			config = NULL;
		}
	}
	if (config == NULL) {
		options_log_problems("reload", problems);
		log_message(LOG_LEVEL_ERROR, "reload",
			    "the configuration in force stays; see oncewrap --check");
	}
	free(problems);
	return config;
}

static void log_restart_needed(const struct config *old, const struct config *new_one)
{
	char *names = config_needs_restart(old, new_one);
	if (names != NULL && *names != '\0')
		log_message(LOG_LEVEL_WARNING, "reload",
			    "changed, but in force only after a restart: %s", names);
	free(names);
}

#define EXTENT_LENGTH 64

static const char *describe(const struct config *config, char extent[EXTENT_LENGTH])
{
	snprintf(extent, EXTENT_LENGTH, "%lld worker%s, %zu route%s", (long long)config->workers,
		 config->workers == 1 ? "" : "s", config->route_count,
		 config->route_count == 1 ? "" : "s");
	return extent;
}

static void replace_crew(struct supervisor *supervisor, struct config *config)
{
	counters_refresh();
	counters_number(config);
	struct crew *crew =
	    crew_new(config, supervisor->options->handler, supervisor->listener, supervisor->bell);
	if (crew == NULL) {
		log_message(LOG_LEVEL_ERROR, "reload",
			    "out of memory: the configuration in force stays");
		config_free(config);
		return;
	}
	struct crew *old = supervisor->crews[0];
	log_restart_needed(crew_config(old), config);
	log_open(config->log_target, config->log_socket, config->log_level);
	memmove(&supervisor->crews[1], &supervisor->crews[0],
		supervisor->count * sizeof(supervisor->crews[0]));
	supervisor->crews[0] = crew;
	supervisor->count++;
	/* The new ones first, so that there is always somebody at the socket. */
	crew_tend(crew);
	crew_dismiss(old);
	char extent[EXTENT_LENGTH];
	log_message(LOG_LEVEL_INFO, "reload", "new configuration in force: %s",
		    describe(config, extent));
}

static void reload(struct supervisor *supervisor)
{
	if (supervisor->stopping)
		return;
	if (supervisor->count == MOST_CREWS) {
		log_message(LOG_LEVEL_ERROR, "reload",
			    "workers of %d earlier configurations are still at work: try later",
			    MOST_CREWS - 1);
		return;
	}
	notify_reloading();
	struct config *config = load(supervisor->options);
	if (config != NULL)
		replace_crew(supervisor, config);
	notify_ready();
}

static void stop(struct supervisor *supervisor)
{
	if (supervisor->stopping)
		return;
	supervisor->stopping = true;
	notify_stopping();
	log_message(LOG_LEVEL_INFO, "stop", "stopping");
	/* At once, so that a web server is refused rather than left waiting, and a successor can
	 * have the path. */
	listener_remove(supervisor->listener);
	for (size_t i = 0; i < supervisor->count; i++)
		crew_dismiss(supervisor->crews[i]);
}

static int64_t tend(struct supervisor *supervisor)
{
	int64_t next = CLOCK_NEVER;
	for (size_t i = 0; i < supervisor->count; i++) {
		int64_t due = crew_tend(supervisor->crews[i]);
		if (due < next)
			next = due;
	}
	return next;
}

static int wait_signal(const sigset_t *set, int64_t until)
{
	if (until == CLOCK_NEVER)
		return sigwaitinfo(set, NULL);
	int64_t milliseconds = clock_wait(until);
	const struct timespec timeout = {.tv_sec = milliseconds / 1000,
					 .tv_nsec = milliseconds % 1000 * 1000000};
	return sigtimedwait(set, NULL, &timeout);
}

int supervisor_run(const struct options *options, struct config *config, struct listener *listener,
		   struct bell *bell)
{
	struct supervisor supervisor = {.options = options, .listener = listener, .bell = bell};
	sigset_t set;
	block_signals(&set);
	struct crew *crew = crew_new(config, options->handler, listener, bell);
	if (crew == NULL) {
		log_message(LOG_LEVEL_ERROR, "start", "out of memory");
		config_free(config);
		listener_remove(listener);
		return EX_SOFTWARE;
	}
	supervisor.crews[supervisor.count++] = crew;
	int64_t next = tend(&supervisor);
	char extent[EXTENT_LENGTH];
	log_message(LOG_LEVEL_INFO, "start", "oncewrap %s serves with %s", PACKAGE_VERSION,
		    describe(config, extent));
	notify_ready();
	while (supervisor.count > 0) {
		switch (wait_signal(&set, next)) {
		case SIGTERM:
		case SIGINT:
		case SIGQUIT:
			stop(&supervisor);
			break;
		case SIGHUP:
			reload(&supervisor);
			break;
		default: /* a death, or it is time */
			break;
		}
		reap(&supervisor);
		forget_the_gone(&supervisor);
		next = tend(&supervisor);
	}
	log_message(LOG_LEVEL_INFO, "stop", "stopped");
	return EXIT_SUCCESS;
}
