/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/lobby.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "wrap/greeting.h"
#include "wrap/peer.h"

/* How many may sit here; beyond that the one that has been silent longest has to go. */
#define SEATS 16

/*
 * How long a worker waits for a fresh connection's first bytes before it turns to others. A web
 * server sends them within microseconds; without this wait they might come when the worker is
 * running another's handler. Divided by the number of those already seated, so that a crowd of
 * silent peers cannot make the listener wait.
 */
#define GRACE_MS 50

/* What epoll tells about: a seat by its index, or one of these. */
enum { EVENT_LISTENER = SEATS, EVENT_STOP, EVENTS };

struct seat {
	int fd; /* -1: free */
	int64_t since;
	bool ready; /* its request has begun */
	struct greeting greeting;
};

struct lobby {
	int epoll;
	int stop_fd;
	int listener;
	bool tcp;
	bool stopping;
	size_t workers;
	int64_t silent_timeout;
	size_t seated;
	struct seat seats[SEATS];
};

static int watch(struct lobby *lobby, int fd, uint32_t events, uint32_t id)
{
	struct epoll_event event = {.events = events, .data.u32 = id};
	return epoll_ctl(lobby->epoll, EPOLL_CTL_ADD, fd, &event);
}

struct lobby *lobby_new(const struct listener *listener, const sigset_t *stop, size_t workers,
			int64_t silent_timeout, struct error *error)
{
	struct lobby *lobby = calloc(1, sizeof(*lobby));
	if (lobby == NULL) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	lobby->listener = listener->fd;
	lobby->tcp = listener->tcp;
	lobby->workers = workers;
	lobby->silent_timeout = silent_timeout;
	for (size_t i = 0; i < SEATS; i++)
		lobby->seats[i].fd = -1;
	lobby->epoll = epoll_create1(EPOLL_CLOEXEC);
	/* A descriptor, since a handler would never run under load: a wait that finds work does not
	 * let signals in. */
	lobby->stop_fd = signalfd(-1, stop, SFD_CLOEXEC | SFD_NONBLOCK);
	/* EPOLLEXCLUSIVE: one connection wakes one worker, not all that are idle. */
	if (lobby->epoll == -1 || lobby->stop_fd == -1 ||
	    watch(lobby, lobby->listener, EPOLLIN | EPOLLEXCLUSIVE, EVENT_LISTENER) == -1 ||
	    watch(lobby, lobby->stop_fd, EPOLLIN, EVENT_STOP) == -1) {
		error_set_errno(error, errno, "cannot wait for connections");
		lobby_free(lobby);
		return NULL;
	}
	return lobby;
}

/* The connection leaves its seat, open. */
static int unseat(struct lobby *lobby, struct seat *seat)
{
	int fd = seat->fd;
	epoll_ctl(lobby->epoll, EPOLL_CTL_DEL, fd, NULL);
	greeting_free(&seat->greeting);
	*seat = (struct seat){.fd = -1};
	lobby->seated--;
	return fd;
}

static void dismiss(struct lobby *lobby, struct seat *seat, const char *why)
{
	log_message(LOG_LEVEL_WARNING, "peer", "connection dropped: %s", why);
	close(unseat(lobby, seat));
}

static struct seat *oldest_of(struct lobby *lobby, bool ready)
{
	struct seat *oldest = NULL;
	for (struct seat *seat = lobby->seats; seat < lobby->seats + SEATS; seat++)
		if (seat->fd != -1 && seat->ready == ready &&
		    (oldest == NULL || seat->since < oldest->since))
			oldest = seat;
	return oldest;
}

/* NULL when all are taken by requests that are about to be served. */
static struct seat *free_seat(struct lobby *lobby)
{
	struct seat *silent = oldest_of(lobby, false);
	if (lobby->seated == SEATS && silent != NULL)
		dismiss(lobby, silent, "it said nothing, and others are waiting");
	for (struct seat *seat = lobby->seats; seat < lobby->seats + SEATS; seat++)
		if (seat->fd == -1)
			return seat;
	return NULL;
}

/* Takes the greeting over. Edge-triggered: a peer that has sent half a header is heard of again
 * when more comes, and not before. */
static void seat_down(struct lobby *lobby, int fd, struct greeting *greeting)
{
	struct seat *seat = free_seat(lobby);
	if (seat == NULL) {
		log_message(LOG_LEVEL_WARNING, "peer",
			    "connection dropped: it said nothing, and others are waiting");
		greeting_free(greeting);
		close(fd);
		return;
	}
	*seat = (struct seat){.fd = fd, .since = clock_now(), .greeting = *greeting};
	lobby->seated++;
	if (watch(lobby, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, (uint32_t)(seat - lobby->seats)) == -1)
		dismiss(lobby, seat, "out of memory");
}

/* What became of a greeting that is over without a request. */
static void part(int fd, enum greeting_step step, const struct error *error)
{
	if (step != GREETING_CLOSED)
		log_message(LOG_LEVEL_WARNING, "peer", "connection dropped: %s", error->message);
	if (step == GREETING_REFUSED)
		peer_close(fd, true);
	else
		close(fd);
}

/* Accept one; its descriptor when it begins a request at once, else -1. */
static int admit(struct lobby *lobby)
{
	int fd = peer_accept(lobby->listener, lobby->tcp);
	if (fd == -1)
		return -1;
	struct greeting greeting = {0};
	struct error error;
	enum greeting_step step = greeting_read(&greeting, fd, lobby->workers, &error);
	struct pollfd fresh = {.fd = fd, .events = POLLIN};
	if (step == GREETING_WAITING && poll(&fresh, 1, GRACE_MS / (1 + (int)lobby->seated)) > 0)
		step = greeting_read(&greeting, fd, lobby->workers, &error);
	if (step == GREETING_WAITING) {
		seat_down(lobby, fd, &greeting);
		return -1;
	}
	greeting_free(&greeting);
	if (step == GREETING_REQUEST)
		return fd;
	part(fd, step, &error);
	return -1;
}

static void hear(struct lobby *lobby, struct seat *seat)
{
	struct error error;
	if (seat->fd == -1 || seat->ready)
		return;
	enum greeting_step step = greeting_read(&seat->greeting, seat->fd, lobby->workers, &error);
	if (step == GREETING_REQUEST)
		seat->ready = true;
	else if (step != GREETING_WAITING)
		part(unseat(lobby, seat), step, &error);
}

/* Dismiss who has been silent too long; how long, as for poll(2), the rest may be waited for. */
static int expire(struct lobby *lobby)
{
	struct seat *oldest;
	while ((oldest = oldest_of(lobby, false)) != NULL) {
		int wait_ms = clock_wait(oldest->since + lobby->silent_timeout);
		if (wait_ms > 0)
			return wait_ms;
		dismiss(lobby, oldest, "no request within limits.silent_timeout");
	}
	return -1;
}

/* Wait and hear what there is. A wake-up that the listener gave to us comes to no other worker:
 * then one connection is accepted in any case, also when stopping. */
static int await(struct lobby *lobby, int wait_ms)
{
	struct epoll_event events[EVENTS];
	bool called = false;
	int count = epoll_wait(lobby->epoll, events, EVENTS, wait_ms);
	for (int i = 0; i < count; i++) {
		uint32_t id = events[i].data.u32;
		if (id == EVENT_LISTENER)
			called = true;
		else if (id == EVENT_STOP)
			lobby->stopping = true;
		else
			hear(lobby, &lobby->seats[id]);
	}
	return called ? admit(lobby) : -1;
}

int lobby_next(struct lobby *lobby)
{
	/* The last request may have taken long: hear who has spoken meanwhile before anybody is
	 * dismissed as silent. */
	bool heard = lobby->seated == 0;
	for (;;) {
		struct seat *ready = oldest_of(lobby, true);
		if (ready != NULL)
			return unseat(lobby, ready);
		if (lobby->stopping)
			return -1;
		int fd = await(lobby, heard ? expire(lobby) : 0);
		if (fd != -1)
			return fd;
		heard = true;
	}
}

void lobby_free(struct lobby *lobby)
{
	if (lobby == NULL)
		return;
	for (struct seat *seat = lobby->seats; seat < lobby->seats + SEATS; seat++)
		if (seat->fd != -1)
			close(unseat(lobby, seat));
	if (lobby->stop_fd != -1)
		close(lobby->stop_fd);
	if (lobby->epoll != -1)
		close(lobby->epoll);
	free(lobby);
}
