/* SPDX-License-Identifier: ISC */
/*
 * The account that the wrapper serves as, and seeing files with its eyes: what root may do says
 * nothing about it.
 */
#ifndef ONCEWRAP_DOCTOR_SERVICE_H
#define ONCEWRAP_DOCTOR_SERVICE_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

#define SERVICE_NAME_LENGTH 64

struct service {
	char name[SERVICE_NAME_LENGTH];  /* for people and commands: a name, else the number */
	char group[SERVICE_NAME_LENGTH]; /* its primary group, likewise */
	uid_t uid;
	gid_t gid;
	bool other; /* than ourselves: there is somebody to become */
};

/* `user` is the setting of that name: who root becomes. Without it, and as anybody but root: who
 * runs this. 0, or -1 with *error: there is no such account, and the service is ourselves. */
int service_find(struct service *service, const char *user, struct error *error);

/* Become it for a while, so that the kernel decides what it may do. 0, or -1 with *error. */
int service_enter(const struct service *service, struct error *error)
    __attribute__((warn_unused_result));

/* Back again; ends the process where that fails, rather than going on as somebody else. */
void service_leave(const struct service *service);

#endif
