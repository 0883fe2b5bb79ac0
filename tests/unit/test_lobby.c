/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/lobby.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "tests/unit/suite.h"

#define BEGIN                                                                                      \
	"\1\1\0\1\0\10\0\0"                                                                        \
	"\0\1\0\0\0\0\0\0"
#define SILENT_MS 400

static struct lobby *lobby;
static struct listener listener;
static struct sockaddr_in address;

static void set_up(void)
{
	struct error error;
	sigset_t stop;
	socklen_t length = sizeof(address);
	log_open(LOG_TARGET_STDERR, NULL, LOG_LEVEL_ERROR);
	listener.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	listener.tcp = true;
	address =
	    (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	ck_assert_int_eq(bind(listener.fd, (struct sockaddr *)&address, length), 0);
	ck_assert_int_eq(listen(listener.fd, 100), 0);
	ck_assert_int_eq(getsockname(listener.fd, (struct sockaddr *)&address, &length), 0);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	lobby = lobby_new(&listener, &stop, 4, SILENT_MS, &error);
	ck_assert_ptr_nonnull(lobby);
}

static void tear_down(void)
{
	lobby_free(lobby);
	close(listener.fd);
}

/* A peer that has said so much of a request's first record. */
static int come(size_t said)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(send(fd, BEGIN, said, 0), (int)said);
	return fd;
}

/* With a reset where something it said was not read. */
static bool is_closed(int fd)
{
	char byte;
	ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);
	return got == 0 || (got == -1 && errno == ECONNRESET);
}

static bool is_closed_soon(int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	return poll(&wait, 1, 5000) == 1 && is_closed(fd);
}

/* Which peer is at the other end of a connection that the lobby gave out. */
static bool is_peer(int given, int peer)
{
	struct sockaddr_in far, near;
	socklen_t length = sizeof(far);
	ck_assert_int_eq(getpeername(given, (struct sockaddr *)&far, &length), 0);
	ck_assert_int_eq(getsockname(peer, (struct sockaddr *)&near, &length), 0);
	return far.sin_port == near.sin_port;
}

static void expect_next(int peer)
{
	char first[16];
	int fd = lobby_next(lobby);
	ck_assert_int_ne(fd, -1);
	ck_assert_msg(is_peer(fd, peer), "another peer is next");
	ck_assert_msg(recv(fd, first, sizeof(first), MSG_DONTWAIT) == sizeof(first) &&
			  memcmp(first, BEGIN, sizeof(first)) == 0,
		      "its first record is not there whole");
	close(fd);
	close(peer);
}

START_TEST(who_speaks_at_once_is_next)
{
	expect_next(come(16));
	expect_next(come(16));
}
END_TEST

START_TEST(who_is_silent_or_speaks_half_does_not_keep_others_waiting)
{
	int silent = come(0), half = come(9);
	int64_t start = clock_now();
	expect_next(come(16));
	ck_assert_int_lt(clock_now() - start, 300);
	start = clock_now();
	expect_next(come(16));
	ck_assert_int_lt(clock_now() - start, 30);
	ck_assert(!is_closed(silent) && !is_closed(half));
	close(silent);
	close(half);
}
END_TEST

START_TEST(who_was_silent_is_next_when_it_speaks)
{
	int silent = come(0), half = come(9);
	expect_next(come(16));
	send(half, &BEGIN[9], 7, 0);
	expect_next(half);
	send(silent, BEGIN, 16, 0);
	expect_next(silent);
}
END_TEST

START_TEST(who_spoke_late_is_not_starved_by_newcomers)
{
	int late = come(0);
	expect_next(come(16));
	send(late, BEGIN, 16, 0);
	bool served = false;
	for (int i = 0; i < 3 && !served; i++) {
		int peer = come(16);
		int fd = lobby_next(lobby);
		served = is_peer(fd, late);
		close(fd);
		close(peer);
	}
	ck_assert(served);
	close(late);
}
END_TEST

START_TEST(the_longest_silent_of_too_many_has_to_go)
{
	int silent[20];
	for (size_t i = 0; i < 20; i++)
		silent[i] = come(i % 2);
	expect_next(come(16));
	for (size_t i = 0; i < 20; i++) {
		ck_assert_msg(i < 4 ? is_closed_soon(silent[i]) : !is_closed(silent[i]), "peer %zu",
			      i);
		close(silent[i]);
	}
}
END_TEST

START_TEST(who_is_silent_to_the_deadline_is_dropped_and_costs_no_time)
{
	int silent = come(0), half = come(9);
	int64_t start = clock_now();
	clock_t busy = clock();
	/* Somebody comes long after the deadline: until then the lobby is at rest. */
	pid_t child = fork();
	if (child == 0) {
		ck_assert(is_closed_soon(silent) && is_closed_soon(half));
		close(come(16));
		_exit(0);
	}
	int fd = lobby_next(lobby);
	ck_assert_int_ne(fd, -1);
	close(fd);
	ck_assert_int_ge(clock_now() - start, SILENT_MS);
	ck_assert_int_lt(clock_now() - start, 5000);
	ck_assert_int_lt((clock() - busy) * 1000 / CLOCKS_PER_SEC, 40);
	close(silent);
	close(half);
}
END_TEST

START_TEST(who_spoke_while_nobody_listened_is_served_past_the_deadline)
{
	int late = come(0);
	expect_next(come(16));
	send(late, BEGIN, 16, 0);
	int64_t deadline = clock_now() + SILENT_MS + 100;
	while (clock_now() < deadline) /* a handler runs meanwhile */
		poll(NULL, 0, clock_wait(deadline));
	expect_next(late);
}
END_TEST

START_TEST(a_stop_comes_through_however_many_are_waiting)
{
	int peers[10];
	for (size_t i = 0; i < 10; i++)
		peers[i] = come(16);
	kill(getpid(), SIGTERM);
	int served = 0;
	int fd;
	while ((fd = lobby_next(lobby)) != -1) {
		served++;
		close(fd);
	}
	/* The one that the wake-up was for: it would come to no other worker. */
	ck_assert_int_eq(served, 1);
	ck_assert_int_eq(lobby_next(lobby), -1);
	for (size_t i = 0; i < 10; i++)
		close(peers[i]);
}
END_TEST

START_TEST(who_has_spoken_is_served_before_a_stop)
{
	int silent = come(0), late = come(0);
	expect_next(come(16));
	send(late, BEGIN, 16, 0);
	kill(getpid(), SIGTERM);
	expect_next(late);
	ck_assert_int_eq(lobby_next(lobby), -1);
	close(silent);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lobby");
	TCase *cases = tcase_create("lobby");
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, who_speaks_at_once_is_next);
	tcase_add_test(cases, who_is_silent_or_speaks_half_does_not_keep_others_waiting);
	tcase_add_test(cases, who_was_silent_is_next_when_it_speaks);
	tcase_add_test(cases, who_spoke_late_is_not_starved_by_newcomers);
	tcase_add_test(cases, the_longest_silent_of_too_many_has_to_go);
	tcase_add_test(cases, who_is_silent_to_the_deadline_is_dropped_and_costs_no_time);
	tcase_add_test(cases, who_spoke_while_nobody_listened_is_served_past_the_deadline);
	tcase_add_test(cases, a_stop_comes_through_however_many_are_waiting);
	tcase_add_test(cases, who_has_spoken_is_served_before_a_stop);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
