/* SPDX-License-Identifier: ISC */
/*
 * What a peer sends, whatever it is: a greeting is understood in pieces as it is whole; a request
 * gives the parameters and the body that its records hold, and only a whole one is answered;
 * nothing keeps us waiting and no descriptor is lost. The first byte of the input says how it is
 * cut.
 */
#include <config.h>

#include "wrap/fcgi.h"

#include <fastcgi.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "tests/fuzz/driver.h"
#include "tests/fuzz/records.h"
#include "wrap/greeting.h"

#define MOST_BYTES    4096 /* so that what is said, and each answer to it, fits a socket */
#define MOST_LOOKUPS  32
#define WORKERS       12
#define DEADLINE_MS   10000 /* never met: the peer has said all and closed */
#define LEAVES_A_BODY 0x80  /* in the first byte: the handler does not read all of its body */

const char fuzz_corpus[] = "params";

static int next_descriptor(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	require(fd != -1);
	close(fd);
	return fd;
}

static void say(int peer, const uint8_t *data, size_t size)
{
	require(size == 0 || send(peer, data, size, MSG_DONTWAIT) == (ssize_t)size);
}

/* All that is in the socket. */
static void hear(int fd, struct buffer *heard)
{
	unsigned char piece[4096];
	ssize_t length;
	while ((length = recv(fd, piece, sizeof(piece), MSG_DONTWAIT)) > 0)
		require(buffer_append(heard, piece, (size_t)length) == 0);
}

struct greeted {
	enum greeting_step step;
	struct error error;
	struct buffer answer;
	struct buffer left; /* of what the peer has said */
};

static void greet(struct greeted *greeted, const uint8_t *data, size_t size, size_t most)
{
	struct greeting greeting = {0};
	int pair[2];
	*greeted = (struct greeted){.step = GREETING_WAITING};
	require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	size_t said = 0;
	while (said < size && greeted->step == GREETING_WAITING) {
		size_t piece = most < size - said ? most : size - said;
		say(pair[0], data + said, piece);
		said += piece;
		greeted->step = greeting_read(&greeting, pair[1], WORKERS, &greeted->error);
	}
	say(pair[0], data + said, size - said);
	hear(pair[0], &greeted->answer);
	hear(pair[1], &greeted->left);
	greeting_free(&greeting);
	close(pair[0]);
	close(pair[1]);
}

static void greeted_free(struct greeted *greeted)
{
	buffer_free(&greeted->answer);
	buffer_free(&greeted->left);
}

static bool equal(const struct buffer *one, const struct buffer *other)
{
	return one->length == other->length &&
	       (one->length == 0 || memcmp(one->data, other->data, one->length) == 0);
}

/* What a peer is told before its request: results, types that are none, and a refused role. */
static void require_greeted(const struct greeted *greeted)
{
	struct records records = {.at = greeted->answer.data, .left = greeted->answer.length};
	struct record record;
	bool refused = false;
	while (records_next(&records, &record)) {
		require(!refused);
		refused = record.type == FCGI_END_REQUEST;
		require(refused == (record.id != FCGI_NULL_REQUEST_ID));
		require(refused || record.type == FCGI_GET_VALUES_RESULT ||
			record.type == FCGI_UNKNOWN_TYPE);
	}
	require(records.left == 0);
	require(refused == (greeted->step == GREETING_REFUSED));
	if (greeted->step == GREETING_BROKEN || greeted->step == GREETING_REFUSED)
		require(greeted->error.kind == ERROR_INPUT && greeted->error.message[0] != '\0');
}

/* The greeting of all at once; what is left of it is the caller's. */
static enum greeting_step require_greeting(struct buffer *left, const uint8_t *data, size_t size,
					   size_t most)
{
	struct greeted whole, pieces;
	greet(&whole, data, size, size);
	greet(&pieces, data, size, most);
	require(whole.step == pieces.step);
	require(equal(&whole.answer, &pieces.answer));
	require(equal(&whole.left, &pieces.left));
	require(strcmp(whole.error.message, pieces.error.message) == 0);
	require_greeted(&whole);
	*left = whole.left;
	buffer_free(&whole.answer);
	greeted_free(&pieces);
	return whole.step;
}

/* What a handler's environment is made of: the library's own entry, then the peer's in order. */
static void require_entries(const struct params *params, struct expected *expected)
{
	const unsigned char *at = (const unsigned char *)buffer_text(&expected->params);
	const unsigned char *end = at + expected->params.length;
	size_t count = 1;
	require(params->count > 0 && strcmp(params->entries[0], "FCGI_ROLE=RESPONDER") == 0);
	for (struct pair pair; at != end; count++) {
		require(pair_next(&at, end, &pair) == PAIR_WHOLE);
		require(count < params->count);
		const char *entry = params->entries[count];
		require(memcmp(entry, pair.name, pair.name_length) == 0);
		require(entry[pair.name_length] == '=');
		require(memcmp(entry + pair.name_length + 1, pair.value, pair.value_length) == 0);
		require(entry[pair.name_length + 1 + pair.value_length] == '\0');
	}
	require(count == params->count);
}

/* The name's own value, as a search from its equals sign back finds it. */
static const char *value_in(const char *entry, const char *name)
{
	size_t length = strlen(name);
	if (strlen(entry) <= length || entry[length] != '=' || memcmp(entry, name, length) != 0)
		return NULL;
	return entry + length + 1;
}

static void require_found(const struct params *params, const char *name)
{
	const char *first = NULL, *first_filled = NULL;
	size_t count = 0, filled = 0;
	for (size_t i = params->count; i-- > 0;) {
		const char *value = value_in(params->entries[i], name);
		if (value == NULL)
			continue;
		first = value;
		count++;
		if (value[0] == '\0')
			continue;
		first_filled = value;
		filled++;
	}
	require(params_get(params, name) == first);
	require(params_get_filled(params, name) == first_filled);
	require(params_count(params, name) == count);
	require(params_count_filled(params, name) == filled);
}

/* The parameter's name that a header of that name is sought under. */
static void require_header_name(const char *header)
{
	size_t size = strlen("HTTP_") + strlen(header) + 1;
	char *name = malloc(size);
	require(name != NULL);
	require(params_header_name(name, size - 1, header) == -1);
	require(params_header_name(name, size, header) == 0);
	require(name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0');
	require((strncmp(name, "HTTP_", 5) == 0 && strlen(name) == size - 1) ||
		strcmp(name, "CONTENT_TYPE") == 0 || strcmp(name, "CONTENT_LENGTH") == 0);
	free(name);
}

static void require_lookups(const struct params *params)
{
	for (size_t i = 0; i < params->count && i < MOST_LOOKUPS; i++) {
		const char *entry = params->entries[i];
		char *name = strndup(entry, strcspn(entry, "="));
		require(name != NULL);
		require_found(params, name);
		require_header_name(name);
		if (name[0] != '\0')
			name[strlen(name) - 1] = '\0'; /* and one that another begins with */
		require_found(params, name);
		free(name);
	}
}

/* Whole and answered with "hello", else without a word; in either case ended once, or not at all,
 * and others' requests refused. */
static void require_answer(const struct buffer *heard, const struct expected *expected,
			   bool answered)
{
	struct records records = {.at = heard->data, .left = heard->length};
	struct record record;
	struct buffer said = {.limit = 0};
	bool ended = false;
	while (records_next(&records, &record)) {
		if (record.id != expected->id) {
			require(record.type == FCGI_END_REQUEST && record.length == 8);
			require(record.content[4] == FCGI_CANT_MPX_CONN);
			continue;
		}
		require(!ended);
		ended = record.type == FCGI_END_REQUEST;
		require(ended || record.type == FCGI_STDOUT);
		if (ended)
			require(record.length == 8 && record.content[3] == 3 &&
				record.content[4] == FCGI_REQUEST_COMPLETE);
		else if (record.length > 0)
			require(buffer_append(&said, record.content, record.length) == 0);
	}
	require(records.left == 0);
	require(!answered || ended);
	require(strcmp(buffer_text(&said), answered ? "hello" : "") == 0);
	buffer_free(&said);
}

/* The body as it was sent, or its beginning, and an answer where it is in order. */
static bool require_body(struct fcgi *fcgi, const struct expected *expected, size_t most,
			 bool leave)
{
	struct error error;
	struct buffer body = {.limit = 0};
	size_t got = most;
	while (got == most && !(leave && body.length > 0)) {
		unsigned char *piece = buffer_reserve(&body, most);
		require(piece != NULL);
		got = fcgi_read(fcgi, piece, most);
		require(got <= most);
		body.length += got;
	}
	bool left = got == most;
	bool in_order = fcgi_read_end(fcgi, &error);
	require(in_order || error.kind == ERROR_INPUT);
	require(left || in_order == (expected->end == EXPECTED_WHOLE));
	require(left ? body.length <= expected->body.length : body.length == expected->body.length);
	require(body.length == 0 || memcmp(body.data, expected->body.data, body.length) == 0);
	const struct reply *reply = fcgi_reply(fcgi);
	require(reply->write(reply->context, "hello", 5) == (in_order ? 0 : -1));
	buffer_free(&body);
	return in_order;
}

static struct fcgi *start_library(void)
{
	struct error error;
	struct fcgi *fcgi = fcgi_new(
	    &(struct fcgi_limits){.request_timeout = DEADLINE_MS, .reply_timeout = DEADLINE_MS},
	    &error);
	require(fcgi != NULL);
	signal(SIGPIPE, SIG_IGN);
	return fcgi;
}

static void require_request(struct expected *expected, const uint8_t *data, size_t most, bool leave)
{
	static struct fcgi *fcgi;
	struct params params;
	struct error error;
	struct buffer heard = {.limit = 0};
	int pair[2];
	if (fcgi == NULL)
		fcgi = start_library();
	int before = next_descriptor();
	const int room = 64 * MOST_BYTES;
	require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	require(setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) == 0);
	say(pair[0], data, expected->length);
	require(shutdown(pair[0], SHUT_WR) == 0);
	bool begun = fcgi_begin(fcgi, pair[1], &params, &error) == 0;
	require(begun == (expected->end != EXPECTED_CUT_IN_PARAMS));
	bool answered = false;
	if (begun) {
		require_entries(&params, expected);
		require_lookups(&params);
		answered = require_body(fcgi, expected, most, leave);
		fcgi_end(fcgi, 3);
	} else {
		require(error.kind == ERROR_INPUT);
	}
	hear(pair[0], &heard);
	require_answer(&heard, expected, answered);
	buffer_free(&heard);
	close(pair[0]);
	require(next_descriptor() == before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || size > MOST_BYTES)
		return 0;
	size_t most = (size_t)1 << (data[0] & 7);
	bool leave = (data[0] & LEAVES_A_BODY) != 0;
	struct buffer left;
	struct expected expected;
	if (require_greeting(&left, data + 1, size - 1, most) == GREETING_REQUEST) {
		if (expected_read(&expected, left.data, left.length))
			require_request(&expected, left.data, most, leave);
		expected_free(&expected);
	}
	buffer_free(&left);
	return 0;
}
