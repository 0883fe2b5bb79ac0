/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/greeting.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/suite.h"

#define BYTES(text) (const unsigned char *)(text), sizeof(text) - 1
#define WORKERS     12

#define BEGIN                                                                                      \
	"\1\1\0\1\0\10\0\0"                                                                        \
	"\0\1\0\0\0\0\0\0"
#define ASK_CONNS                                                                                  \
	"\1\11\0\0\0\20\0\0"                                                                       \
	"\16\0"                                                                                    \
	"FCGI_MAX_CONNS"
#define CONNS                                                                                      \
	"\1\12\0\0\0\22\0\0"                                                                       \
	"\16\2"                                                                                    \
	"FCGI_MAX_CONNS"                                                                           \
	"12"

static int peer, ours;

static void connect_peer(void)
{
	int pair[2];
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	peer = pair[0];
	ours = pair[1];
}

static void disconnect_peer(void)
{
	close(peer);
	close(ours);
}

static const struct {
	const char *why;
	const unsigned char *said;
	size_t said_length;
	enum greeting_step step;
	const unsigned char *answer; /* all that the peer is sent */
	size_t answer_length;
	size_t left; /* bytes that stay in the socket */
} greetings[] = {
    {"nothing yet", BYTES(""), GREETING_WAITING, BYTES(""), 0},
    {"half a header", BYTES("\1\1\0"), GREETING_WAITING, BYTES(""), 3},
    {"a header without its content", BYTES("\1\1\0\1\0\10\0\0"), GREETING_WAITING, BYTES(""), 8},
    {"all but the last byte", (const unsigned char *)BEGIN, 15, GREETING_WAITING, BYTES(""), 15},
    {"a request begins, and stays for libfcgi", BYTES(BEGIN), GREETING_REQUEST, BYTES(""), 16},
    {"what follows stays, too", BYTES(BEGIN "\1\4"), GREETING_REQUEST, BYTES(""), 18},
    {"a question before the request is answered and taken", BYTES(ASK_CONNS BEGIN),
     GREETING_REQUEST, BYTES(CONNS), 16},
    {"two questions", BYTES(ASK_CONNS ASK_CONNS BEGIN), GREETING_REQUEST, BYTES(CONNS CONNS), 16},
    {"a question alone", BYTES(ASK_CONNS), GREETING_WAITING, BYTES(CONNS), 0},
    {"half a question", (const unsigned char *)ASK_CONNS, 20, GREETING_WAITING, BYTES(""), 0},
    {"padding belongs to the question",
     BYTES("\1\11\0\0\0\0\3\0"
	   "abc" BEGIN),
     GREETING_REQUEST, BYTES("\1\12\0\0\0\0\0\0"), 16},
    {"padding that is still to come",
     BYTES("\1\11\0\0\0\0\3\0"
	   "ab"),
     GREETING_WAITING, BYTES(""), 0},
    {"a management record of a type that is none",
     BYTES("\1\115\0\0\0\2\0\0"
	   "xx" BEGIN),
     GREETING_REQUEST,
     BYTES("\1\13\0\0\0\10\0\0"
	   "\115\0\0\0\0\0\0\0"),
     16},
    {"an authorizer is told, nothing is taken",
     BYTES("\1\1\1\2\0\10\0\0"
	   "\0\2\0\0\0\0\0\0"),
     GREETING_REFUSED,
     BYTES("\1\3\1\2\0\10\0\0"
	   "\0\0\0\0\3\0\0\0"),
     16},
    {"a role of more than a byte",
     BYTES("\1\1\0\1\0\10\0\0"
	   "\1\1\0\0\0\0\0\0"),
     GREETING_REFUSED,
     BYTES("\1\3\0\1\0\10\0\0"
	   "\0\0\0\0\3\0\0\0"),
     16},
    {"another version, seen at the first byte", BYTES("\2"), GREETING_BROKEN, BYTES(""), 1},
    {"HTTP", BYTES("GET / HTTP/1.0\r\n\r\n"), GREETING_BROKEN, BYTES(""), 18},
    {"parameters of no request", BYTES("\1\4\0\1\0\0\0\0"), GREETING_BROKEN, BYTES(""), 8},
    {"an abort of no request", BYTES("\1\2\0\1\0\0\0\0"), GREETING_BROKEN, BYTES(""), 8},
    {"a request without an id", BYTES("\1\1\0\0\0\10\0\0"), GREETING_BROKEN, BYTES(""), 8},
    {"a BEGIN_REQUEST of seven bytes", BYTES("\1\1\0\1\0\7\0\0"), GREETING_BROKEN, BYTES(""), 8},
    {"a BEGIN_REQUEST of 264 bytes", BYTES("\1\1\0\1\1\10\0\0"), GREETING_BROKEN, BYTES(""), 8},
    {"a question whose name is longer than the record",
     BYTES("\1\11\0\0\0\3\0\0"
	   "\5\0a"),
     GREETING_BROKEN, BYTES(""), 0},
};
#define GREETINGS (int)(sizeof(greetings) / sizeof(greetings[0]))

static size_t take_all(int fd, unsigned char *data, size_t size)
{
	ssize_t length = recv(fd, data, size, MSG_DONTWAIT);
	return length > 0 ? (size_t)length : 0;
}

static void check(int which, enum greeting_step step, const char *how)
{
	unsigned char got[256];
	const char *why = greetings[which].why;
	ck_assert_msg(step == greetings[which].step, "%s, %s: step %d", why, how, step);
	size_t length = take_all(peer, got, sizeof(got));
	ck_assert_msg(length == greetings[which].answer_length &&
			  memcmp(got, greetings[which].answer, length) == 0,
		      "%s, %s: %zu bytes of an answer", why, how, length);
	length = take_all(ours, got, sizeof(got));
	ck_assert_msg(length == greetings[which].left, "%s, %s: %zu bytes left", why, how, length);
}

START_TEST(each_greeting_is_understood_in_one_piece)
{
	struct greeting greeting = {0};
	struct error error;
	ck_assert_int_eq(write(peer, greetings[_i].said, greetings[_i].said_length),
			 (int)greetings[_i].said_length);
	enum greeting_step step = greeting_read(&greeting, ours, WORKERS, &error);
	check(_i, step, "whole");
	greeting_free(&greeting);
}
END_TEST

START_TEST(each_greeting_is_understood_byte_by_byte)
{
	struct greeting greeting = {0};
	struct error error;
	enum greeting_step step = GREETING_WAITING;
	size_t said = 0;
	for (; said < greetings[_i].said_length && step == GREETING_WAITING; said++) {
		ck_assert_int_eq(write(peer, greetings[_i].said + said, 1), 1);
		step = greeting_read(&greeting, ours, WORKERS, &error);
	}
	/* What was decided early leaves the rest unsaid: say it, so that the count of what is left
	 * holds. */
	ck_assert_int_eq(write(peer, greetings[_i].said + said, greetings[_i].said_length - said),
			 (int)(greetings[_i].said_length - said));
	check(_i, step, "byte by byte");
	greeting_free(&greeting);
}
END_TEST

START_TEST(a_peer_that_closes_is_noticed_wherever_it_was)
{
	for (size_t said = 0; said < sizeof(ASK_CONNS) - 1; said++) {
		/* Between records a header that is cut short stays unread, and its end unseen: the
		 * silent deadline's. */
		bool in_header = said > 0 && said < 8;
		struct greeting greeting = {0};
		struct error error;
		connect_peer();
		ck_assert_int_eq(write(peer, ASK_CONNS, said), (int)said);
		close(peer);
		enum greeting_step step = greeting_read(&greeting, ours, WORKERS, &error);
		ck_assert_msg(step == (in_header ? GREETING_WAITING : GREETING_CLOSED),
			      "%zu bytes: %d", said, step);
		greeting_free(&greeting);
		close(ours);
	}
}
END_TEST

START_TEST(a_peer_that_asks_for_ever_is_given_up)
{
	struct greeting greeting = {0};
	struct error error;
	enum greeting_step step = GREETING_WAITING;
	int asked = 0;
	while (step == GREETING_WAITING && asked < 100) {
		ck_assert_int_eq(write(peer, ASK_CONNS, sizeof(ASK_CONNS) - 1),
				 sizeof(ASK_CONNS) - 1);
		asked++;
		step = greeting_read(&greeting, ours, WORKERS, &error);
	}
	ck_assert_int_eq(step, GREETING_BROKEN);
	ck_assert_int_lt(asked, 100);
	greeting_free(&greeting);
}
END_TEST

START_TEST(a_peer_that_does_not_take_its_answer_is_given_up)
{
	struct greeting greeting = {0};
	struct error error;
	char filling[4096] = {0};
	while (send(ours, filling, sizeof(filling), MSG_DONTWAIT) > 0)
		;
	ck_assert_int_eq(write(peer, ASK_CONNS, sizeof(ASK_CONNS) - 1), sizeof(ASK_CONNS) - 1);
	ck_assert_int_eq(greeting_read(&greeting, ours, WORKERS, &error), GREETING_BROKEN);
	greeting_free(&greeting);
}
END_TEST

static const struct {
	const char *why;
	const unsigned char *content;
	size_t length;
	const unsigned char *answer; /* NULL: malformed */
	size_t answer_length;
} questions[] = {
    {"no name", NULL, 0, BYTES("\1\12\0\0\0\0\0\0")},
    {"all three, in an order of their own",
     BYTES("\17\0FCGI_MPXS_CONNS"
	   "\15\0FCGI_MAX_REQS"
	   "\16\0FCGI_MAX_CONNS"),
     BYTES("\1\12\0\0\0\65\0\0"
	   "\16\2FCGI_MAX_CONNS12"
	   "\15\2FCGI_MAX_REQS12"
	   "\17\1FCGI_MPXS_CONNS0")},
    {"a name that is none", BYTES("\4\0FCGI"), BYTES("\1\12\0\0\0\0\0\0")},
    {"a longer name that begins alike", BYTES("\16\0FCGI_MAX_REQSX"), BYTES("\1\12\0\0\0\0\0\0")},
    {"the same name three times is one answer",
     BYTES("\15\0FCGI_MAX_REQS"
	   "\15\0FCGI_MAX_REQS"
	   "\15\0FCGI_MAX_REQS"),
     BYTES("\1\12\0\0\0\21\0\0"
	   "\15\2FCGI_MAX_REQS12")},
    {"a value is passed over",
     BYTES("\1\3aFCG"
	   "\15\2FCGI_MAX_REQS99"),
     BYTES("\1\12\0\0\0\21\0\0"
	   "\15\2FCGI_MAX_REQS12")},
    {"lengths of four bytes", BYTES("\200\0\0\15\200\0\0\1FCGI_MAX_REQSx"),
     BYTES("\1\12\0\0\0\21\0\0"
	   "\15\2FCGI_MAX_REQS12")},
    {"only a name's length", BYTES("\1"), NULL, 0},
    {"a length of four bytes cut short", BYTES("\200\0\0"), NULL, 0},
    {"a name longer than the record", BYTES("\5\0FCGI"), NULL, 0},
    {"a value longer than the record", BYTES("\1\5abc"), NULL, 0},
    {"lengths whose sum overflows", BYTES("\377\377\377\377\377\377\377\377ab"), NULL, 0},
};
#define QUESTIONS (int)(sizeof(questions) / sizeof(questions[0]))

START_TEST(each_question_has_its_answer)
{
	struct buffer answer = {0};
	int result =
	    greeting_answer(9, questions[_i].content, questions[_i].length, WORKERS, &answer);
	ck_assert_msg((result == 0) == (questions[_i].answer != NULL), "%s: %d", questions[_i].why,
		      result);
	if (result == 0)
		ck_assert_msg(answer.length == questions[_i].answer_length &&
				  memcmp(answer.data, questions[_i].answer, answer.length) == 0,
			      "%s: %zu bytes", questions[_i].why, answer.length);
	buffer_free(&answer);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("greeting");
	TCase *read_case = tcase_create("read");
	tcase_add_checked_fixture(read_case, connect_peer, disconnect_peer);
	tcase_add_loop_test(read_case, each_greeting_is_understood_in_one_piece, 0, GREETINGS);
	tcase_add_loop_test(read_case, each_greeting_is_understood_byte_by_byte, 0, GREETINGS);
	tcase_add_test(read_case, a_peer_that_asks_for_ever_is_given_up);
	tcase_add_test(read_case, a_peer_that_does_not_take_its_answer_is_given_up);
	suite_add_tcase(suite, read_case);
	TCase *bare_case = tcase_create("bare");
	tcase_add_test(bare_case, a_peer_that_closes_is_noticed_wherever_it_was);
	tcase_add_loop_test(bare_case, each_question_has_its_answer, 0, QUESTIONS);
	suite_add_tcase(suite, bare_case);
	return suite_run(suite);
}
