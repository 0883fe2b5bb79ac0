/* SPDX-License-Identifier: ISC */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "config/load.h"
#include "wrap/account.h"
#include "wrap/cgi_mode.h"
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

static size_t check_directory(const char *what, const char *path)
{
	struct stat status;
	if (stat(path, &status) == -1)
		fprintf(stderr, "%s: %s: %s\n", what, path, strerror(errno));
	else if (!S_ISDIR(status.st_mode))
		fprintf(stderr, "%s: %s is not a directory\n", what, path);
	else
		return 0;
	return 1;
}

/* What the configuration names beyond itself: how many of those things are not there. */
static size_t check_surroundings(const struct config *config, const char *handler)
{
	size_t problems = check_directory("spool.directory", config->spool.directory);
	for (size_t i = 0; i < config->handlers.roots.count; i++)
		problems += check_directory("handlers.roots", config->handlers.roots.items[i]);
	struct error error;
	if (account_check(config->user, &error) != 0) {
		fprintf(stderr, "%s\n", error.message);
		problems++;
	}
	if (*config->socket_group != '\0' && getgrnam(config->socket_group) == NULL) {
		fprintf(stderr, "socket_group: there is no group \"%s\"\n", config->socket_group);
		problems++;
	}
	if (handler != NULL && access(handler, X_OK) == -1) {
		fprintf(stderr, "--handler: %s: %s\n", handler, strerror(errno));
		problems++;
	}
	return problems;
}

static int check(const struct options *options, const struct config *config)
{
	if (check_surroundings(config, options->handler) > 0)
		return EX_CONFIG;
	printf("configuration %s is good: %zu routes\n", options_file(options),
	       config->route_count);
	return EXIT_SUCCESS;
}

/* Find or make the socket, or see that there is none but a CGI request. 0, or an exit status. */
static int open_listener(const struct options *options, const struct config *config,
			 struct listener *listener)
{
	struct error error;
	if (listener_take(listener, &error) != 0)
		return fail(EX_CANTCREAT, &error);
	if (listener->fd != -1)
		return 0;
	/* A fronting script shares the daemon's configuration, whose socket is not for it. */
	if (cgi_mode_is() && options->listen == NULL)
		return 0;
	if (*config->listen == '\0') {
		error_set(&error, ERROR_INPUT,
			  "no socket to serve: none was handed over, listen is not set in %s, and "
			  "this is no CGI request; "
			  "try --listen ADDRESS",
			  options_file(options));
		return fail(EX_USAGE, &error);
	}
	if (listener_make(listener, config->listen, (mode_t)config->socket_mode,
			  config->socket_group, &error) != 0)
		return fail(EX_CANTCREAT, &error);
	return 0;
}

static int serve_cgi(const struct options *options, struct config *config)
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
		status = cgi_mode_run(config, options->handler);
	}
	config_free(config);
	return status;
}

static int serve(const struct options *options, struct config *config)
{
	struct error error;
	struct listener listener;
	log_open(config->log_target, config->log_level);
	int status = open_listener(options, config, &listener);
	if (status == 0 && account_become(config->user, &error) != 0) {
		status = fail(EX_NOPERM, &error);
		listener_remove(&listener);
	}
	if (status != 0) {
		config_free(config);
		return status;
	}
	return listener.fd == -1 ? serve_cgi(options, config)
				 : supervisor_run(options, config, &listener);
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
