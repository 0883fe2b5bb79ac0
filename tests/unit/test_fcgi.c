/* SPDX-License-Identifier: ISC */
/* What fcgi.c takes for granted of libfcgi is tested here: a version that behaves otherwise fails.
 */
#include <config.h>

#include "wrap/fcgi.h"

#include <dirent.h>
#include <fcgiapp.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/suite.h"

#define BYTES(text) (const unsigned char *)(text), sizeof(text) - 1
#define BEGIN                                                                                      \
	"\1\1\0\7\0\10\0\0"                                                                        \
	"\0\1\0\0\0\0\0\0"
#define BEGIN_KEEP                                                                                 \
	"\1\1\0\7\0\10\0\0"                                                                        \
	"\0\1\1\0\0\0\0\0"
#define PARAMS                                                                                     \
	"\1\4\0\7\0\5\3\0"                                                                         \
	"\1\2Axy"                                                                                  \
	"\0\0\0"                                                                                   \
	"\1\4\0\7\0\0\0\0"
#define STDIN(data) "\1\5\0\7\0\3\0\0" data
#define STDIN_END   "\1\5\0\7\0\0\0\0"
#define ABORT       "\1\2\0\7\0\0\0\0"
#define STDOUT_END  "\1\6\0\7\0\0\0\0"
#define END(status)                                                                                \
	"\1\3\0\7\0\10\0\0"                                                                        \
	"\0\0\0" status "\0\0\0\0"
#define STDOUT_HELLO                                                                               \
	"\1\6\0\7\0\5\3\0"                                                                         \
	"hello"                                                                                    \
	"\0\0\0"

static struct fcgi *fcgi;
static int peer;

static void set_up_with(int64_t request_timeout, int64_t reply_timeout)
{
	struct error error;
	signal(SIGPIPE, SIG_IGN);
	fcgi = fcgi_new(&(struct fcgi_limits){.request_timeout = request_timeout,
					      .reply_timeout = reply_timeout},
			&error);
	ck_assert_ptr_nonnull(fcgi);
}

static void set_up(void)
{
	set_up_with(5000, 5000);
}

static void set_up_hasty(void)
{
	set_up_with(150, 150);
}

static void tear_down(void)
{
	fcgi_free(fcgi);
}

/* A connection on which the peer has said this; our end. */
static int connect_peer(const void *said, size_t length)
{
	int pair[2];
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	peer = pair[0];
	ck_assert_int_eq(write(peer, said, length), (int)length);
	return pair[1];
}

static size_t count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t count = 0;
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

/* All that the peer is sent, up to the connection's end. */
static size_t hear(unsigned char *heard, size_t size)
{
	size_t length = 0;
	for (;;) {
		struct pollfd wait = {.fd = peer, .events = POLLIN};
		ck_assert_msg(poll(&wait, 1, 5000) == 1, "the connection was not closed");
		ssize_t got = read(peer, heard + length, size - length);
		if (got <= 0)
			return length;
		length += (size_t)got;
	}
}

static size_t read_body(char *body, size_t size)
{
	size_t length = fcgi_read(fcgi, body, size);
	ck_assert_uint_lt(length, size);
	return length;
}

static const struct {
	const char *why;
	const unsigned char *said;
	size_t said_length;
	bool closes;      /* the peer half closes behind it */
	bool begins;      /* fcgi_begin takes it */
	const char *body; /* what of the body comes */
	bool whole;       /* fcgi_read_end */
	const unsigned char
	    *heard; /* with "hello" written where the request is whole, and appStatus 3 */
	size_t heard_length;
} requests[] = {
    {"a request with a body", BYTES(BEGIN PARAMS STDIN("abc") STDIN("def") STDIN_END), false, true,
     "abcdef", true, BYTES(STDOUT_HELLO STDOUT_END END("\3"))},
    {"a peer that wants to keep the connection", BYTES(BEGIN_KEEP PARAMS STDIN_END), false, true,
     "", true, BYTES(STDOUT_HELLO STDOUT_END END("\3"))},
    {"a peer that half closes behind a whole request", BYTES(BEGIN PARAMS STDIN_END), true, true,
     "", true, BYTES(STDOUT_HELLO STDOUT_END END("\3"))},
    {"a body cut off", BYTES(BEGIN PARAMS STDIN("abc")), true, true, "abc", false, BYTES("")},
    {"a record of the body cut off",
     BYTES(BEGIN PARAMS "\1\5\0\7\0\3\0\0"
			"a"),
     true, true, "a", false, BYTES("")},
    {"an abort in the body", BYTES(BEGIN PARAMS STDIN("abc") ABORT), false, true, "abc", false,
     BYTES(STDOUT_END END("\3"))},
    {"a foreign record in the body", BYTES(BEGIN PARAMS "\1\10\0\7\0\0\0\0"), false, true, "",
     false, BYTES(STDOUT_END END("\3"))},
    {"a wrong version in the body", BYTES(BEGIN PARAMS "\2\5\0\7\0\0\0\0"), false, true, "", false,
     BYTES(STDOUT_END END("\3"))},
    {"cut off behind the first record", BYTES(BEGIN), true, false, "", false, BYTES("")},
    {"parameters cut off within one",
     BYTES(BEGIN "\1\4\0\7\0\5\0\0"
		 "\1\2Ax"),
     true, false, "", false, BYTES("")},
    {"parameters cut off between two",
     BYTES(BEGIN "\1\4\0\7\0\5\0\0"
		 "\1\2Axy"),
     true, false, "", false, BYTES("")},
    {"a parameter longer than the parameters",
     BYTES(BEGIN "\1\4\0\7\0\5\0\0"
		 "\1\11Axy"
		 "\1\4\0\7\0\0\0\0"),
     false, false, "", false, BYTES("")},
    {"an abort in the parameters", BYTES(BEGIN ABORT), false, false, "", false, BYTES("")},
    {"no FastCGI behind the first record", BYTES(BEGIN "GET / HTTP/1.0\r\n\r\n"), false, false, "",
     false, BYTES("")},
};
#define REQUESTS (int)(sizeof(requests) / sizeof(requests[0]))

/* One request of the table from its first byte to the connection's end. */
static void serve(int which)
{
	struct params params;
	struct error error;
	char body[64];
	const char *why = requests[which].why;
	int fd = connect_peer(requests[which].said, requests[which].said_length);
	if (requests[which].closes)
		shutdown(peer, SHUT_WR);
	bool begins = fcgi_begin(fcgi, fd, &params, &error) == 0;
	ck_assert_msg(begins == requests[which].begins, "%s: begins %d", why, begins);
	if (!begins)
		return;
	ck_assert_str_eq(params_get(&params, "A"), "xy");
	body[read_body(body, sizeof(body) - 1)] = '\0';
	ck_assert_msg(strcmp(body, requests[which].body) == 0, "%s: body %s", why, body);
	bool whole = fcgi_read_end(fcgi, &error);
	ck_assert_msg(whole == requests[which].whole, "%s: whole %d", why, whole);
	const struct reply *reply = fcgi_reply(fcgi);
	int written = reply->write(reply->context, "hello", 5);
	ck_assert_msg(written == (whole ? 0 : -1), "%s: written %d", why, written);
	/* The peer stays where it is: whatever the library waited for at its close would not come.
	 */
	fcgi_end(fcgi, 3);
}

START_TEST(each_request_is_served_or_dropped_and_no_descriptor_lost)
{
	unsigned char heard[256];
	size_t before = count_descriptors();
	int64_t start = clock_now();
	serve(_i);
	size_t length = hear(heard, sizeof(heard));
	close(peer);
	ck_assert_msg(length == requests[_i].heard_length &&
			  memcmp(heard, requests[_i].heard, length) == 0,
		      "%s: %zu bytes heard", requests[_i].why, length);
	ck_assert_uint_eq(count_descriptors(), before);
	/* The library's own close lingers up to two seconds; ours, for what is unread, half a
	 * second. */
	ck_assert_int_lt(clock_now() - start, 1000);
}
END_TEST

START_TEST(the_descriptor_stays_ours_whatever_the_library_closes)
{
	/* A request whose parameters are broken makes the library close its descriptor and accept
	 * another peer from listen_sock: it must neither touch ours nor wait for one. */
	int fd = connect_peer(BYTES(BEGIN ABORT));
	FCGX_Request request;
	ck_assert_int_eq(FCGX_InitRequest(&request, -1, 0), 0);
	request.ipcFd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	request.keepConnection = 1;
	ck_assert_int_eq(FCGX_Detach(&request), 0);
	int duplicate = request.ipcFd;
	FCGX_Accept_r(&request);
	FCGX_Free(&request, 1);
	ck_assert_msg(fcntl(duplicate, F_GETFD) == -1, "libfcgi has left the duplicate open");
	ck_assert_msg(write(fd, "x", 1) == 1, "libfcgi has shut our descriptor down");
	close(fd);
	close(peer);
}
END_TEST

START_TEST(one_request_after_another_is_served)
{
	unsigned char heard[256];
	for (int round = 0; round < 2 * REQUESTS; round++) {
		serve(round % REQUESTS);
		hear(heard, sizeof(heard));
		close(peer);
	}
}
END_TEST

START_TEST(a_large_reply_comes_in_order)
{
	static unsigned char heard[200000];
	static char body[100000];
	struct params params;
	struct error error;
	memset(body, 'x', sizeof(body));
	int fd = connect_peer(BYTES(BEGIN PARAMS STDIN_END));
	ck_assert_int_eq(fcgi_begin(fcgi, fd, &params, &error), 0);
	ck_assert(fcgi_read(fcgi, heard, 1) == 0 && fcgi_read_end(fcgi, &error));
	const struct reply *reply = fcgi_reply(fcgi);
	reply->complain(reply->context, "a complaint");
	ck_assert_int_eq(reply->write(reply->context, body, sizeof(body)), 0);
	ck_assert_int_eq(reply->flush(reply->context), 0);
	fcgi_end(fcgi, 0);
	size_t length = hear(heard, sizeof(heard));
	size_t out = 0;
	bool complained = false;
	for (size_t at = 0; at < length;) {
		const unsigned char *record = heard + at;
		size_t content = (size_t)record[4] << 8 | record[5];
		if (record[1] == 6)
			out += content;
		if (record[1] == 7 && content > 0)
			complained = memcmp(record + 8, "a complaint\n", content) == 0;
		at += 8 + content + record[6];
	}
	ck_assert_uint_eq(out, sizeof(body));
	ck_assert(complained);
	close(peer);
}
END_TEST

START_TEST(what_was_flushed_is_heard_before_the_end)
{
	struct params params;
	struct error error;
	unsigned char heard[64];
	char none[1];
	int fd = connect_peer(BYTES(BEGIN PARAMS STDIN_END));
	ck_assert_int_eq(fcgi_begin(fcgi, fd, &params, &error), 0);
	ck_assert(fcgi_read(fcgi, none, 1) == 0 && fcgi_read_end(fcgi, &error));
	const struct reply *reply = fcgi_reply(fcgi);
	ck_assert_int_eq(reply->write(reply->context, "hello", 5), 0);
	ck_assert_int_eq(recv(peer, heard, sizeof(heard), MSG_DONTWAIT), -1);
	ck_assert_int_eq(reply->flush(reply->context), 0);
	ck_assert_int_eq(recv(peer, heard, sizeof(heard), MSG_DONTWAIT), 16);
	ck_assert_mem_eq(heard, STDOUT_HELLO, 16);
	fcgi_end(fcgi, 0);
	close(peer);
}
END_TEST

static const struct {
	const char *why;
	const unsigned char *says;
	size_t length; /* 0: it closes */
} partings[] = {{"an abort", BYTES(ABORT)}, {"a close", BYTES("")}};

START_TEST(the_reply_tells_by_its_descriptor_when_the_peer_has_gone)
{
	struct params params;
	struct error error;
	char none[1];
	int fd = connect_peer(BYTES(BEGIN PARAMS STDIN_END));
	ck_assert_int_eq(fcgi_begin(fcgi, fd, &params, &error), 0);
	ck_assert(fcgi_read(fcgi, none, 1) == 0 && fcgi_read_end(fcgi, &error));
	const struct reply *reply = fcgi_reply(fcgi);
	struct pollfd watch = {.fd = reply->descriptor(reply->context), .events = POLLIN};
	ck_assert_int_eq(poll(&watch, 1, 0), 0);
	if (partings[_i].length > 0)
		ck_assert_int_eq(write(peer, partings[_i].says, partings[_i].length),
				 (int)partings[_i].length);
	else
		close(peer);
	ck_assert_msg(poll(&watch, 1, 5000) == 1, "%s: unseen", partings[_i].why);
	fcgi_end(fcgi, 0);
	if (partings[_i].length > 0)
		close(peer);
}
END_TEST

START_TEST(a_peer_that_has_gone_fails_every_later_write)
{
	struct params params;
	struct error error;
	static char block[20000];
	int fd = connect_peer(BYTES(BEGIN PARAMS STDIN_END));
	ck_assert_int_eq(fcgi_begin(fcgi, fd, &params, &error), 0);
	ck_assert(fcgi_read(fcgi, block, 1) == 0 && fcgi_read_end(fcgi, &error));
	close(peer);
	const struct reply *reply = fcgi_reply(fcgi);
	ck_assert_int_eq(reply->write(reply->context, block, sizeof(block)), -1);
	ck_assert_int_eq(reply->write(reply->context, "x", 1), -1);
	ck_assert_int_eq(reply->flush(reply->context), -1);
	fcgi_end(fcgi, 0);
}
END_TEST

/* Everything up to the end of the parameters, the first 16 bytes of them, or a piece of the body.
 */
static const size_t stalls[] = {sizeof(BEGIN) - 1, sizeof(BEGIN PARAMS) - 1,
				sizeof(BEGIN PARAMS) + 5};

START_TEST(a_peer_that_stalls_is_dropped_at_the_deadline)
{
	struct params params;
	struct error error;
	char body[64];
	unsigned char heard[64];
	int64_t start = clock_now();
	int fd = connect_peer(BEGIN PARAMS STDIN("abc"), stalls[_i]);
	if (fcgi_begin(fcgi, fd, &params, &error) == 0) {
		read_body(body, sizeof(body));
		ck_assert(!fcgi_read_end(fcgi, &error));
		fcgi_end(fcgi, 0);
	}
	ck_assert_int_eq(error.kind, ERROR_LIMIT);
	ck_assert_int_ge(clock_now() - start, 140);
	ck_assert_int_lt(clock_now() - start, 2000);
	ck_assert_uint_eq(hear(heard, sizeof(heard)), 0);
	close(peer);
}
END_TEST

START_TEST(a_peer_that_takes_no_reply_is_dropped_at_the_deadline)
{
	struct params params;
	struct error error;
	static char block[4 << 20];
	int64_t start = clock_now();
	int fd = connect_peer(BYTES(BEGIN PARAMS STDIN_END));
	ck_assert_int_eq(fcgi_begin(fcgi, fd, &params, &error), 0);
	ck_assert(fcgi_read(fcgi, block, 1) == 0 && fcgi_read_end(fcgi, &error));
	const struct reply *reply = fcgi_reply(fcgi);
	ck_assert_int_eq(reply->write(reply->context, block, sizeof(block)), -1);
	ck_assert_int_eq(reply->write(reply->context, "x", 1), -1);
	fcgi_end(fcgi, 0);
	ck_assert_int_ge(clock_now() - start, 140);
	ck_assert_int_lt(clock_now() - start, 2000);
	close(peer);
}
END_TEST

START_TEST(a_peer_that_takes_its_reply_too_slowly_is_dropped_at_the_deadline)
{
	struct params params;
	struct error error;
	static char block[16384];
	int fd = connect_peer(BYTES(BEGIN PARAMS STDIN_END));
	pid_t child = fork();
	if (child == 0) {
		close(fd);
		while (read(peer, block, sizeof(block)) > 0)
			poll(NULL, 0, 5); /* its own slowness */
		_exit(0);
	}
	int64_t start = clock_now();
	ck_assert_int_eq(fcgi_begin(fcgi, fd, &params, &error), 0);
	ck_assert(fcgi_read(fcgi, block, 1) == 0 && fcgi_read_end(fcgi, &error));
	const struct reply *reply = fcgi_reply(fcgi);
	/* No single write is ever held up for as long as the deadline. */
	while (reply->write(reply->context, block, sizeof(block)) == 0)
		ck_assert_int_lt(clock_now() - start, 3000);
	fcgi_end(fcgi, 0);
	ck_assert_int_ge(clock_now() - start, 140);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	close(peer);
}
END_TEST

START_TEST(no_deadline_runs_while_nobody_waits_for_the_peer)
{
	struct params params;
	struct error error;
	struct itimerval timer;
	char none[1];
	int fd = connect_peer(BYTES(BEGIN PARAMS STDIN_END));
	ck_assert_int_eq(fcgi_begin(fcgi, fd, &params, &error), 0);
	ck_assert(fcgi_read(fcgi, none, 1) == 0 && fcgi_read_end(fcgi, &error));
	ck_assert_int_eq(getitimer(ITIMER_REAL, &timer), 0);
	ck_assert(timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0);
	const struct reply *reply = fcgi_reply(fcgi);
	ck_assert_int_eq(reply->flush(reply->context), 0);
	ck_assert_int_eq(getitimer(ITIMER_REAL, &timer), 0);
	ck_assert(timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0);
	fcgi_end(fcgi, 0);
	close(peer);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fcgi");
	TCase *usual = tcase_create("usual");
	tcase_add_checked_fixture(usual, set_up, tear_down);
	tcase_set_timeout(usual, 20); /* some peers are waited for half a second */
	tcase_add_loop_test(usual, each_request_is_served_or_dropped_and_no_descriptor_lost, 0,
			    REQUESTS);
	tcase_add_test(usual, the_descriptor_stays_ours_whatever_the_library_closes);
	tcase_add_test(usual, one_request_after_another_is_served);
	tcase_add_test(usual, a_large_reply_comes_in_order);
	tcase_add_test(usual, what_was_flushed_is_heard_before_the_end);
	tcase_add_loop_test(usual, the_reply_tells_by_its_descriptor_when_the_peer_has_gone, 0, 2);
	tcase_add_test(usual, a_peer_that_has_gone_fails_every_later_write);
	suite_add_tcase(suite, usual);
	TCase *hasty = tcase_create("hasty");
	tcase_add_checked_fixture(hasty, set_up_hasty, tear_down);
	tcase_add_loop_test(hasty, a_peer_that_stalls_is_dropped_at_the_deadline, 0, 3);
	tcase_add_test(hasty, a_peer_that_takes_no_reply_is_dropped_at_the_deadline);
	tcase_add_test(hasty, a_peer_that_takes_its_reply_too_slowly_is_dropped_at_the_deadline);
	tcase_add_test(hasty, no_deadline_runs_while_nobody_waits_for_the_peer);
	suite_add_tcase(suite, hasty);
	return suite_run(suite);
}
