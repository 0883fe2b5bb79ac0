/* SPDX-License-Identifier: ISC */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "broker/bell.h"
#include "broker/outage.h"
#include "config/load.h"
#include "doctor/host.h"
#include "handler/spawn.h"
#include "wrap/account.h"
#include "wrap/cgi_mode.h"
#include "wrap/counters.h"
#include "wrap/listener.h"
#include "wrap/options.h"
#include "wrap/supervisor.h"

/* A descriptor opened later must not become 0, 1 or 2, where a stray message would be written into
 * it. */
static void open_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
		    open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_RDWR) != fd)
			_exit(EX_SOFTWARE);
}

static int fail(int status, const struct error *error)
{
	log_message(LOG_LEVEL_ERROR, "start", "%s", error->message);
	return status;
}

/* A file name may come from anybody: nothing of it shall reach a terminal that the terminal acts
 * on. */
static void tell(const char *before, const char *text)
{
	fputs(before, stderr);
	for (; *text != '\0'; text++)
		fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, stderr);
}

/* What the checks find beyond the configuration itself, told where it is not good. */
static bool check_surroundings(const struct options *options, const struct config *config)
{
	struct findings findings = {0};
	struct host host;
	host_init(&host, options_is_fileless(options) ? NULL : options_file(options), config,
		  options->handler);
	for (size_t i = 0; i < host_check_count; i++)
		host_examine(&host, &host_checks[i], &findings);
	for (size_t i = 0; i < findings.count; i++) {
		const struct finding *finding = &findings.items[i];
		if (finding->level == FINDING_OK || finding->reason == NULL)
			continue;
		tell(finding->level == FINDING_FAIL ? "" : "warning: ", finding->reason);
		if (finding->cure != NULL)
			tell("; run: ", finding->cure);
		fputc('\n', stderr);
	}
	if (findings.failed)
		fputs("out of memory\n", stderr);
	bool good = !findings.failed && findings_worst(&findings, 0) != FINDING_FAIL;
	findings_free(&findings);
	return good;
}

static int check(const struct options *options, const struct config *config)
{
	if (!check_surroundings(options, config))
		return EX_CONFIG;
	printf("configuration %s is good: %zu route%s\n", options_file(options),
	       config->route_count, config->route_count == 1 ? "" : "s");
	return EXIT_SUCCESS;
}

/* What can be told before the first request is told now, and not by that request. */
static bool is_ready(const struct options *options, const struct config *config)
{
	char *problems = host_obstacles(config, options->handler);
	bool ready = problems != NULL && *problems == '\0';
	if (!ready)
		options_log_problems("start", problems);
	free(problems);
	if (ready && !spawn_gives_pidfd())
		log_message(LOG_LEVEL_WARNING, "start", "%s", host_no_pidfd);
	return ready;
}

static int make_listener(const struct options *options, const struct config *config,
			 struct listener_access *access, struct listener *listener)
{
	struct error error;
	if (*config->listen == '\0') {
		error_set(&error, ERROR_INPUT,
			  "no socket to serve: none was handed over, listen is not set in %s, and "
			  "this is no CGI request; "
			  "try --listen ADDRESS",
			  options_file(options));
		return fail(EX_USAGE, &error);
	}
	access->mode = (mode_t)config->socket_mode;
	access->group = config->socket_group;
	if (listener_make(listener, config->listen, access, &error) != 0)
		return fail(EX_CANTCREAT, &error);
	return 0;
}

/* Find or make the socket, or see that there is none but a CGI request. 0, or an exit status. */
static int open_listener(const struct options *options, const struct config *config,
			 struct listener *listener)
{
	struct error error;
	struct listener_access access;
	*listener = (struct listener){.fd = -1};
	if (account_ids(config->user, &access.uid, &access.gid, &error) != 0)
		return fail(EX_NOPERM, &error);
	/* What would stay ours is left as it is made: the directory may have a group for it. */
	if (access.uid == geteuid()) {
		access.uid = (uid_t)-1;
		access.gid = (gid_t)-1;
	}
	if (listener_take(listener, &error) != 0)
		return fail(EX_CANTCREAT, &error);
	/* A fronting script shares the daemon's configuration, whose socket is not for it. */
	if (listener->fd == -1 && cgi_mode_is() && options->listen == NULL)
		return 0;
	if (!is_ready(options, config))
		return EX_CONFIG;
	return listener->fd != -1 ? 0 : make_listener(options, config, &access, listener);
}

/* What waiters are woken by. To be made while the run directory can still be: that may take root.
 * NULL: none. */
static struct bell *hang_bell(const struct config *config, bool is_pool)
{
	struct shared_owner owner;
	struct error error;
	if (account_ids(config->user, &owner.user, &owner.group, &error) != 0)
		return NULL; /* account_become will say why nothing comes of it */
	struct bell *bell = bell_open(config->run_directory, &owner, &error);
	/* A CGI process alone has nobody to wake, and would say so at each request. */
	if (bell != NULL || !is_pool)
		return bell;
	log_message(LOG_LEVEL_INFO, "start",
		    "an answer wakes those that wait for it in this pool alone: run_directory: %s",
		    error.message);
	return bell_new();
}

static int serve_cgi(const struct options *options, struct config *config, struct bell *bell)
{
	struct error error;
	int status;
	if (options->handler == NULL) {
		/* The script that is asked for is the one that started us: it would start us again,
		 * and so on. */
		error_set(&error, ERROR_INPUT,
			  "run as a CGI program, oncewrap needs --handler FILE");
		status = fail(EX_USAGE, &error);
	} else {
		status = cgi_mode_run(config, options->handler, bell);
	}
	config_free(config);
	return status;
}

static int serve(const struct options *options, struct config *config)
{
	struct error error;
	struct listener listener;
	struct bell *bell = NULL;
	log_open(config->log_target, config->log_socket, config->log_level);
	int status = open_listener(options, config, &listener);
	bool is_pool = status == 0 && listener.fd != -1;
	if (status == 0) {
		bell = hang_bell(config, is_pool);
		counters_open(config, is_pool);
		counters_number(config);
	}
	if (status == 0 && account_become(config->user, &error) != 0)
		status = fail(EX_NOPERM, &error);
	if (status != 0) {
		listener_remove(&listener);
		config_free(config);
	} else if (is_pool) {
		outage_share();
		status = supervisor_run(options, config, &listener, bell);
	} else {
		status = serve_cgi(options, config, bell);
	}
	bell_free(bell);
	return status;
}

static int run(const struct options *options)
{
	int status = EXIT_SUCCESS;
	char *problems = NULL;
	struct config *config = options_load(options, &problems);
	if (config == NULL) {
		fputs(problems, stderr);
		free(problems);
		return EX_CONFIG;
	}
	free(problems);
	switch (options->task) {
	case TASK_CHECK:
		status = check(options, config);
		break;
	case TASK_PRINT_CONFIG:
		config_print(config, stdout);
		break;
	default:
		return serve(options, config);
	}
	config_free(config);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	open_standard_descriptors();
	if (options_parse(&options, argc, argv) != 0) {
		fputs("Try 'oncewrap --help'.\n", stderr);
		return EX_USAGE;
	}
	int status = EXIT_SUCCESS;
	if (options.task == TASK_HELP)
		options_help(stdout);
	else if (options.task == TASK_COMPLETION_TABLE)
		options_completion_table(stdout);
	else if (options.task == TASK_VERSION)
		puts(PACKAGE_STRING);
	else
		status = run(&options);
	if (fflush(stdout) != 0) {
		fprintf(stderr, "oncewrap: standard output: %s\n", strerror(errno));
		return EX_CANTCREAT;
	}
	return status;
}
