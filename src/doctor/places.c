/* SPDX-License-Identifier: ISC */
/* The files and directories that a configuration names, and the configuration's own. */
#include <config.h>

#include "doctor/host.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/shell.h"
#include "config/file.h"
#include "config/unit.h"
#include "metrics/segment.h"
#include "store/option_file.h"

static void offer_directory(const struct host *host, struct findings *findings, const char *path,
			    const char *mode)
{
	const struct service *service = &host->service;
	findings_cure_file(findings, path, "install -d -o %s -g %s -m %s", service->name,
			   service->group, mode);
}

bool places_has_directory(const struct host *host, struct findings *findings, const char *what,
			  const char *path, const char *mode)
{
	struct stat status;
	if (stat(path, &status) == -1) {
		int number = errno;
		findings_add(findings, FINDING_FAIL, "%s: %s: %s", what, path, strerror(number));
		if (number == ENOENT)
			offer_directory(host, findings, path, mode);
		return false;
	}
	if (S_ISDIR(status.st_mode))
		return true;
	findings_add(findings, FINDING_FAIL, "%s: %s is not a directory", what, path);
	return false;
}

/* With the eyes of the service: 0, or the errno of access(2). */
static int access_of_service(const struct host *host, struct findings *findings, const char *path,
			     int mode)
{
	struct error error;
	if (service_enter(&host->service, &error) < 0) {
		findings_add(findings, FINDING_SKIP, "%s", error.message);
		return 0;
	}
	int number = eaccess(path, mode) == 0 ? 0 : errno;
	service_leave(&host->service);
	return number;
}

static void check_writers(struct findings *findings, enum finding_level level, const char *path)
{
	struct stat status;
	if (stat(path, &status) == -1 || (status.st_mode & (S_IWOTH | S_ISVTX)) != S_IWOTH)
		return;
	findings_add(findings, level,
		     "%s: everybody on this host may write it, and so choose what is run", path);
	findings_cure_file(findings, path, "chmod o-w");
}

/* A reload is done by the account that serves. */
static void check_configuration(const struct host *host, struct findings *findings,
				const char *path)
{
	check_writers(findings, FINDING_FAIL, path);
	int number = access_of_service(host, findings, path, R_OK);
	if (number == 0)
		return;
	findings_add(findings, FINDING_WARN, "%s: a reload reads it as %s, which cannot: %s", path,
		     host->service.name, strerror(number));
	if (number == EACCES)
		findings_cure_file(findings, path, "chmod a+r"); /* it holds no secrets */
}

void places_check_file(const struct host *host, struct findings *findings)
{
	char path[PATH_MAX], directory[PATH_MAX];
	if (host->file == NULL)
		return;
	check_configuration(host, findings, host->file);
	snprintf(path, sizeof(path), "%s", host->file);
	const char *place = dirname(path);
	check_writers(findings, FINDING_FAIL, place);
	snprintf(directory, sizeof(directory), "%s/conf.d", place);
	struct dirent **entries = NULL;
	int count = file_list(directory, &entries);
	if (count >= 0)
		check_writers(findings, FINDING_FAIL, directory);
	for (int i = 0; i < count; i++) {
		int length = snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		if (length > 0 && (size_t)length < sizeof(path))
			check_configuration(host, findings, path);
		free(entries[i]);
	}
	free(entries);
}

/* What option_file_read said, and what helps an account that may not read the file. */
static void tell_option_file(const struct host *host, struct findings *findings, int number,
			     const struct error *error)
{
	const char *path = host->config->store.option_file;
	const char *group = host->service.group;
	findings_add_message(findings, FINDING_FAIL, error->message);
	struct buffer file = {0};
	shell_append(&file, path);
	const char *word = buffer_text(&file);
	if (number == EACCES)
		findings_cure(findings, "chgrp %s %s && chmod u=rw,g=r,o= %s", group, word, word);
	else if (number == ENOENT)
		findings_cure(findings,
			      "install -m 0640 -o root -g %s /dev/null %s && ${EDITOR:-vi} %s",
			      group, word, word);
	else if (number == ELOOP)
		findings_cure(findings,
			      "cp --remove-destination --preserve=all \"$(realpath %s)\" %s", word,
			      word);
	buffer_free(&file);
}

void places_check_option_file(const struct host *host, struct findings *findings)
{
	const struct config_store *store = &host->config->store;
	struct credentials credentials = {0};
	struct error error;
	bool found = false;
	if (*store->option_file == '\0')
		return; /* the socket's own authentication then, which the connection proves */
	if (service_enter(&host->service, &error) < 0) {
		findings_add(findings, FINDING_SKIP, "%s", error.message);
		return;
	}
	struct stat status;
	int number = lstat(store->option_file, &status) == -1 ? errno
		     : S_ISLNK(status.st_mode)                ? ELOOP
		     : eaccess(store->option_file, R_OK) != 0 ? errno
							      : 0;
	int result =
	    option_file_read(store->option_file, store->option_group, &credentials, &found, &error);
	credentials_free(&credentials);
	service_leave(&host->service);
	if (result < 0) {
		tell_option_file(host, findings, number, &error);
	} else if (!found) {
		findings_add(findings, FINDING_FAIL, "%s: has no group [%s]", store->option_file,
			     store->option_group);
		findings_cure_file(findings, store->option_file, "${EDITOR:-vi}");
	}
}

/* All workers at once with the largest body that is taken. */
static void check_room(const struct host *host, struct findings *findings)
{
	const struct config *config = host->config;
	struct statvfs status;
	if (statvfs(config->spool.directory, &status) == -1)
		return;
	uint64_t free = (uint64_t)status.f_bavail * status.f_frsize;
	uint64_t most = (uint64_t)config->workers * (uint64_t)config->limits.max_body;
	if (free >= most)
		return;
	char wanted[UNIT_TEXT_SIZE];
	unit_format_size((int64_t)most, wanted);
	findings_add(findings, FINDING_WARN,
		     "spool.directory: %s has %" PRIu64 "M free; %" PRId64
		     " workers can need %s (limits.max_body each)",
		     config->spool.directory, free >> 20, config->workers, wanted);
	findings_cure_file(findings, config->spool.directory, "df -h");
}

void places_check_spool(const struct host *host, struct findings *findings)
{
	const char *path = host->config->spool.directory;
	if (!places_has_directory(host, findings, "spool.directory", path, "0750"))
		return;
	int number = access_of_service(host, findings, path, W_OK | X_OK);
	if (number != 0) {
		findings_add(findings, FINDING_FAIL, "spool.directory: %s cannot write to %s: %s",
			     host->service.name, path, strerror(number));
		if (number == EACCES)
			offer_directory(host, findings, path, "0750");
		return;
	}
	struct stat status;
	if (stat(path, &status) == 0 && (status.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH) {
		findings_add(findings, FINDING_WARN,
			     "spool.directory: everybody on this host may write to %s", path);
		findings_cure_file(findings, path, "chmod o-w");
	}
	check_room(host, findings);
}

static bool somebody_waits(const struct config *config)
{
	for (size_t i = 0; i < config->route_count; i++)
		if (config->routes[i].in_flight == IN_FLIGHT_WAIT)
			return true;
	return false;
}

/* A start puts its own in the place of what is none, where it may. */
static void check_counters(const struct host *host, struct findings *findings)
{
	struct error error;
	char name[LAYOUT_FILE_NAME], path[PATH_MAX];
	if (segment_examine(host->config->run_directory, host->service.uid, &error) == 0)
		return;
	findings_add(findings, FINDING_WARN, "run_directory: %s; nothing is counted in it",
		     error.message);
	layout_file_name(name);
	snprintf(path, sizeof(path), "%s/%s", host->config->run_directory, name);
	findings_cure_file(findings, path, "rm -r");
}

/* Where it is missing, a start makes it, if it may. */
void places_check_run_directory(const struct host *host, struct findings *findings)
{
	const char *path = host->config->run_directory;
	struct stat status;
	if (stat(path, &status) == -1 && geteuid() == 0)
		return;
	int number = access_of_service(host, findings, path, W_OK | X_OK);
	if (number == 0) {
		check_counters(host, findings);
		return;
	}
	findings_add(findings, FINDING_WARN,
		     "run_directory: %s cannot write to %s: %s; nothing is counted%s",
		     host->service.name, path, strerror(number),
		     somebody_waits(host->config)
			 ? ", and an answer wakes those that wait for it in one pool only"
			 : "");
	if (number == EACCES || number == ENOENT)
		offer_directory(host, findings, path, "0755");
}

void places_check_roots(const struct host *host, struct findings *findings)
{
	const struct string_list *roots = &host->config->handlers.roots;
	if (host->handler != NULL)
		return;
	for (size_t i = 0; i < roots->count; i++)
		if (places_has_directory(host, findings, "handlers.roots", roots->items[i], "0755"))
			check_writers(findings, FINDING_WARN, roots->items[i]);
}
