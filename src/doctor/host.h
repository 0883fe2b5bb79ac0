/* SPDX-License-Identifier: ISC */
/*
 * The checks that need no database: the configuration's files, the account, the directories and
 * the handlers of this host. What once-doctor and `oncewrap --check` tell is the same, and what a
 * start looks at is a part of it.
 */
#ifndef ONCEWRAP_DOCTOR_HOST_H
#define ONCEWRAP_DOCTOR_HOST_H

#include "config/config.h"
#include "doctor/findings.h"
#include "doctor/service.h"

/* What is looked at. */
struct host {
	const char *file; /* the configuration's; NULL: there is none */
	const struct config *config;
	const char *handler; /* --handler: the only program there is; NULL: not given */
	struct service service;
};

struct host_check {
	const char *name;
	const char *about; /* what is fine about it when nothing is found */
	void (*run)(const struct host *host, struct findings *findings);
};
extern const struct host_check host_checks[];
extern const size_t host_check_count;

/* Who serves by it is looked up here; that there is no such account is found by a check. */
void host_init(struct host *host, const char *file, const struct config *config,
	       const char *handler);

/* One check; FINDING_OK is added where it found nothing. */
void host_examine(const struct host *host, const struct host_check *check,
		  struct findings *findings);

/* The warning of check "kernel". */
extern const char host_no_pidfd[];

/* What keeps from serving at all, a problem a line; "" when nothing does. Owned by the caller; NULL
 * when out of memory. */
char *host_obstacles(const struct config *config, const char *handler);

/* The checks, each in its own file where it is long. */
void places_check_file(const struct host *host, struct findings *findings);
void places_check_option_file(const struct host *host, struct findings *findings);
void places_check_spool(const struct host *host, struct findings *findings);
void places_check_run_directory(const struct host *host, struct findings *findings);
void places_check_roots(const struct host *host, struct findings *findings);
void handlers_check(const struct host *host, struct findings *findings);

/* Is this directory there? Told where it is not; `what` is the setting. */
bool places_has_directory(const struct host *host, struct findings *findings, const char *what,
			  const char *path, const char *mode);

#endif
