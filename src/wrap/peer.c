/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/peer.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define LINGER_MS       500
#define SHORT_OF_FDS_MS 50

int peer_accept(int listener, bool tcp)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd == -1) {
		switch (errno) {
		case EMFILE:
		case ENFILE:
		case ENOBUFS:
		case ENOMEM:
			/* The listener stays readable: without a pause this would be a busy loop.
			 */
			log_message(LOG_LEVEL_ERROR, "peer", "cannot accept a connection: %s",
				    strerror(errno));
			clock_pause(SHORT_OF_FDS_MS);
			break;
		default:
			/* EAGAIN: another worker was faster. The rest are the peer's own troubles
			 * (accept(2)). */
			break;
		}
		return -1;
	}
	if (tcp) {
		int on = 1;
		/* A delayed last segment is the worst that a failure means. */
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	}
	return fd;
}

static void await_close(int fd)
{
	int64_t deadline = clock_now() + LINGER_MS;
	for (;;) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		int wait_ms = clock_wait(deadline);
		if (wait_ms == 0 || poll(&wait, 1, wait_ms) <= 0)
			return;
		char unwanted[4096];
		if (recv(fd, unwanted, sizeof(unwanted), MSG_DONTWAIT) <= 0)
			return;
	}
}

static bool has_unread(int fd)
{
	char byte;
	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void peer_close(int fd, bool more_expected)
{
	if ((more_expected || has_unread(fd)) && shutdown(fd, SHUT_WR) == 0)
		await_close(fd);
	close(fd);
}
