/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

static void notify_send(const char *state)
{
	const char *name = getenv("NOTIFY_SOCKET");
	if (name == NULL || (name[0] != '/' && name[0] != '@'))
		return;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(name);
	if (length >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, name, length);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd == -1 ||
	    sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) == -1)
		log_message(LOG_LEVEL_WARNING, "notify",
			    "cannot tell the service manager by %s: %s", name, strerror(errno));
	if (fd != -1)
		close(fd);
}

void notify_ready(void)
{
	notify_send("READY=1");
}

void notify_reloading(void)
{
	/* Type=notify-reload wants the time, so that an earlier READY=1 is not taken for this
	 * reload's. */
	struct timespec now;
	if (clock_gettime(CLOCK_MONOTONIC, &now) == -1)
		return;
	char state[64];
	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%lld",
		 (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	notify_send(state);
}

void notify_stopping(void)
{
	notify_send("STOPPING=1");
}
