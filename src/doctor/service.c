/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "doctor/service.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void describe(struct service *service)
{
	const struct passwd *account = getpwuid(service->uid);
	const struct group *group = getgrgid(service->gid);
	if (account != NULL)
		snprintf(service->name, sizeof(service->name), "%s", account->pw_name);
	else
		snprintf(service->name, sizeof(service->name), "%ju", (uintmax_t)service->uid);
	if (group != NULL)
		snprintf(service->group, sizeof(service->group), "%s", group->gr_name);
	else
		snprintf(service->group, sizeof(service->group), "%ju", (uintmax_t)service->gid);
}

int service_find(struct service *service, const char *user, struct error *error)
{
	int result = 0;
	*service = (struct service){.uid = geteuid(), .gid = getegid()};
	if (*user != '\0') {
		errno = 0;
		const struct passwd *account = getpwnam(user);
		if (account == NULL) {
			if (errno != 0)
				error_set_errno(error, errno, "user: cannot look up \"%s\"", user);
			else
				error_set(error, ERROR_INPUT, "user: there is no account \"%s\"",
					  user);
			result = -1;
		} else if (geteuid() == 0) {
			service->uid = account->pw_uid;
			service->gid = account->pw_gid;
			service->other = account->pw_uid != 0;
		}
	}
	describe(service);
	return result;
}

int service_enter(const struct service *service, struct error *error)
{
	if (!service->other)
		return 0;
	if (initgroups(service->name, service->gid) == 0 && setegid(service->gid) == 0 &&
	    seteuid(service->uid) == 0)
		return 0;
	error_set_errno(error, errno, "cannot look with the eyes of %s", service->name);
	service_leave(service);
	return -1;
}

/* Only root gets so far, and root's groups decide nothing about what root may do. */
void service_leave(const struct service *service)
{
	if (!service->other)
		return;
	if (seteuid(0) != 0 || setegid(getgid()) != 0 || setgroups(0, NULL) != 0)
		abort();
}
