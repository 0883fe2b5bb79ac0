/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "handler/cgi_response.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suite.h"

#define MAX_HEADER_BYTES 400

#define OUTPUT(literal) literal, sizeof(literal) - 1

/* Ten bytes of a header line, and ten lines of that. */
#define TEN   "X: 345678\n"
#define LINES TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

struct answer {
	const char *output;
	size_t length;
	int status; /* 0: malformed */
	const char *reason;
	const char *headers;
	int64_t content_length;
	const char *body;
	const char *error; /* part of the message when malformed */
	const char *why;
};

static const struct answer answers[] = {
    /* the status */
    {OUTPUT("Content-Type: text/plain\n\nhello"), 200, "", "Content-Type: text/plain\r\n", -1,
     "hello", NULL, "no Status is 200"},
    {OUTPUT("Status: 201 Created\nLocation: /o/1\nContent-Type: a/b\n\n{}"), 201, "Created",
     "Location: /o/1\r\nContent-Type: a/b\r\n", -1, "{}", NULL, "C46: 201 with Location stays 201"},
    {OUTPUT("Location: https://x.example/\n\n"), 302, "", "Location: https://x.example/\r\n", -1,
     "", NULL, "C46: an absolute Location without Status is 302"},
    {OUTPUT("Location: /here\n\n"), 302, "", "Location: /here\r\n", -1, "", NULL,
     "C46: so is a local one: there is no internal redirect from here"},
    {OUTPUT("location: /here\nstatus: 303\n\n"), 303, "", "location: /here\r\n", -1, "", NULL,
     "Status after Location counts; names have no case"},
    {OUTPUT("Location:\n\n"), 200, "", "Location: \r\n", -1, "", NULL,
     "an empty Location leads nowhere"},
    {OUTPUT("Status: 204\n\n"), 204, "", "", -1, "", NULL, "C56: Status alone is a header block"},
    {OUTPUT("Status: 304 Not Modified\nETag: \"a\"\n\n"), 304, "Not Modified", "ETag: \"a\"\r\n",
     -1, "", NULL, "C56: 304 with its fields"},
    {OUTPUT("Status:404\n\n"), 404, "", "", -1, "", NULL, "no blank after the colon"},
    {OUTPUT("Status:  418\tI'm a \xe9 teapot \n\n"), 418, "I'm a \xe9 teapot", "", -1, "", NULL,
     "blanks around, a reason of any bytes"},
    {OUTPUT("Status: 100\n\n"), 100, "", "", -1, "", NULL, "the lowest"},
    {OUTPUT("Status: 599\n\n"), 599, "", "", -1, "", NULL, "the highest"},
    {OUTPUT("Status: 099\n\n"), .error = "Status is not", .why = "below the lowest"},
    {OUTPUT("Status: 600\n\n"), .error = "Status is not", .why = "above the highest"},
    {OUTPUT("Status: 999\n\n"), .error = "Status is not", .why = "web servers would pass it on"},
    {OUTPUT("Status: abc\n\n"), .error = "Status is not", .why = "no number"},
    {OUTPUT("Status:\n\n"), .error = "Status is not", .why = "no value"},
    {OUTPUT("Status: 20\n\n"), .error = "Status is not", .why = "two digits"},
    {OUTPUT("Status: 2000\n\n"), .error = "Status is not", .why = "four digits"},
    {OUTPUT("Status: 200OK\n\n"), .error = "Status is not", .why = "no blank before the reason"},
    {OUTPUT("Status: +20\n\n"), .error = "Status is not", .why = "a sign is no digit"},
    {OUTPUT("Status: 200\nStatus: 500\n\n"), .error = "Status stands there twice",
     .why = "RFC 3875 6.3: which of the two would be kept?"},
    {OUTPUT("Status: 200 1234567890123456789012345678901234567890123456789012345678901234567\n\n"),
     200, "123456789012345678901234567890123456789012345678901234567890123", "", -1, "", NULL,
     "a long reason is cut"},
    {OUTPUT("Status: 200 1234567890123456789012345678901234567890123456789012345678901234\n\n"),
     200, "123456789012345678901234567890123456789012345678901234567890123", "", -1, "", NULL,
     "one that is too long by its end alone"},

    /* line ends */
    {OUTPUT("A: b\r\nC: d\r\n\r\n\nbody"), 200, "", "A: b\r\nC: d\r\n", -1, "\nbody", NULL,
     "C47: CRLF; the body's own first line end is body"},
    {OUTPUT("A: b\nC: d\r\n\nbody"), 200, "", "A: b\r\nC: d\r\n", -1, "body", NULL,
     "C47: mixed, ended by LF"},
    {OUTPUT("A: b\r\nC: d\n\r\nbody"), 200, "", "A: b\r\nC: d\r\n", -1, "body", NULL,
     "C47: mixed, ended by CRLF"},
    {OUTPUT("A: b\r\r\n\n"), .error = "control byte", .why = "a CR that is no line end"},
    {OUTPUT("A: b\rX: y\n\n"), .error = "control byte", .why = "nor is one inside"},
    {OUTPUT("A: b\n\r\r\n"), .error = "not a name", .why = "two CRs are no empty line"},

    /* fields */
    {OUTPUT("Set-Cookie: a=1\nX: y\nSet-Cookie: b=2\n\n"), 200, "",
     "Set-Cookie: a=1\r\nX: y\r\nSet-Cookie: b=2\r\n", -1, "", NULL,
     "C27: two lines stay two, in order"},
    {OUTPUT("Content-Encoding: gzip\nVary: Accept-Encoding\n\n\x1f\x8b"), 200, "",
     "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n", -1, "\x1f\x8b", NULL, "C26: both stay"},
    {OUTPUT("X: caf\xe9 \xff\n\n"), 200, "", "X: caf\xe9 \xff\r\n", -1, "", NULL,
     "C28: bytes from 0x80 up stay as they are"},
    {OUTPUT("X:\t a:b \t c \t\n\n"), 200, "", "X: a:b \t c\r\n", -1, "", NULL,
     "blanks go around the value, not inside"},
    {OUTPUT("X:\nY: \n\n"), 200, "", "X: \r\nY: \r\n", -1, "", NULL, "empty values are values"},
    {OUTPUT("!#$%&'*+-.^_`|~09azAZ: y\n\n"), 200, "", "!#$%&'*+-.^_`|~09azAZ: y\r\n", -1, "", NULL,
     "every byte of a token"},
    {OUTPUT("Connection: close\nkeep-alive: 5\nTE: x\nTrailer: y\nTransfer-Encoding: chunked\n"
	    "Upgrade: z\nProxy-Connection: w\nConnections: kept\nT: kept\n\n"),
     200, "", "Connections: kept\r\nT: kept\r\n", -1, "", NULL,
     "hop-by-hop fields go, and no others"},
    {OUTPUT("Transfer-Encoding: chunked\n\n"), 200, "", "", -1, "", NULL,
     "a dropped field is a field: the block is not empty"},

    /* what Connection nominates */
    {OUTPUT("X-Hop: a\nX: kept\nConnection: close, x-hop\t,Keep-Alive\nx-hop: b\nX-Hops: kept\n\n"),
     200, "", "X: kept\r\nX-Hops: kept\r\n", -1, "", NULL,
     "RFC 9110 7.6.1: such fields go, before it and after it, each time, whatever their case"},
    {OUTPUT("Connection: A\nB: x\nC: y\nConnection: B\nA: z\n\n"), 200, "", "C: y\r\n", -1, "",
     NULL, "by several Connection fields"},
    {OUTPUT("Connection: ,, \nConnection:\nX: y\n\n"), 200, "", "X: y\r\n", -1, "", NULL,
     "RFC 9110 5.6.1: empty list elements are nothing"},
    {OUTPUT("Connection: Content-Type, content-length, Status, Set-Cookie, Location\n"
	    "Status: 201\nContent-Type: a/b\nContent-Length: 2\nSet-Cookie: c=d\nLocation: /e\n"
	    "\nok"),
     201, "", "Content-Type: a/b\r\nSet-Cookie: c=d\r\nLocation: /e\r\n", 2, "ok", NULL,
     "a field that is for every recipient stays, whoever nominates it"},
    {OUTPUT("Location: /here\nConnection: location, x\nX: y\n\n"), 302, "", "Location: /here\r\n",
     -1, "", NULL, "and counts"},
    {OUTPUT("A: 1\nConnection: A\n\n"), 200, "", "", -1, "", NULL, "all may go"},

    /* the length */
    {OUTPUT("Content-Length: 5\nX: y\n\nhello"), 200, "", "X: y\r\n", 5, "hello", NULL,
     "it is taken out"},
    {OUTPUT("Content-Length: 0\n\n"), 200, "", "", 0, "", NULL, "nothing is a length too"},
    {OUTPUT("Content-Length: 9223372036854775807\n\n"), 200, "", "", INT64_MAX, "", NULL,
     "the largest"},
    {OUTPUT("Content-Length: 9223372036854775808\n\n"), .error = "Content-Length is not",
     .why = "one more than the largest"},
    {OUTPUT("Content-Length: 92233720368547758070\n\n"), .error = "Content-Length is not",
     .why = "a digit more than the largest"},
    {OUTPUT("Content-Length: -1\n\n"), .error = "Content-Length is not", .why = "negative"},
    {OUTPUT("Content-Length: 5x\n\n"), .error = "Content-Length is not", .why = "no number"},
    {OUTPUT("Content-Length:\n\n"), .error = "Content-Length is not", .why = "no value"},
    {OUTPUT("Content-Length: 5, 5\n\n"), .error = "Content-Length is not", .why = "a list"},
    {OUTPUT("Content-Length: 5\nContent-Length: 5\n\n"), 200, "", "", 5, "", NULL,
     "the same number again"},
    {OUTPUT("Content-Length: 5\nContent-Length: 6\n\n"), .error = "two numbers",
     .why = "another number"},

    /* what is no header block */
    {OUTPUT(""), .error = "no output", .why = "C44: nothing at all"},
    {OUTPUT("\nhello"), .error = "begins with an empty line", .why = "C45: LF first"},
    {OUTPUT("\r\nhello"), .error = "begins with an empty line", .why = "C45: CRLF first"},
    {OUTPUT("hello, world\n"), .error = "not a name", .why = "C45: text without headers"},
    {OUTPUT("<p>a: b</p>\n\n"), .error = "not a name", .why = "C45: text with a colon"},
    {OUTPUT("hello, world"), .error = "ends before", .why = "C45: text without a line end"},
    {OUTPUT("A: b\n"), .error = "ends before", .why = "C11: half a header block"},
    {OUTPUT("A: b\nC: "), .error = "ends before", .why = "C11: half a line"},
    {OUTPUT("A: b\n\r"), .error = "ends before", .why = "C11: half an empty line"},
    {OUTPUT("A: b\nno colon\n\n"), .error = "not a name", .why = "a line without a colon"},
    {OUTPUT(": b\n\n"), .error = "not a name", .why = "no name"},
    {OUTPUT("A : b\n\n"), .error = "not a name", .why = "RFC 9112 5.1: a blank before the colon"},
    {OUTPUT("A b: c\n\n"), .error = "not a name", .why = "a blank in the name"},
    {OUTPUT("\xc3\xa9: c\n\n"), .error = "not a name", .why = "a name is ASCII"},
    {OUTPUT("A: b\n folded\n\n"), .error = "begins with a blank", .why = "a continuation line"},
    {OUTPUT("A: b\n\tfolded: x\n\n"), .error = "begins with a blank", .why = "one by a tab"},
    {OUTPUT("A: b\n \n\n"), .error = "begins with a blank",
     .why = "a blank line is not an empty one"},
    {OUTPUT("A: b\0c\n\n"), .error = "control byte", .why = "NUL in a value"},
    {OUTPUT("A\0: b\n\n"), .error = "not a name", .why = "NUL in a name"},
    {OUTPUT("A: b\x7f\n\n"), .error = "control byte", .why = "DEL"},
    {OUTPUT("A: b\x1b[0m\n\n"), .error = "control byte", .why = "an escape sequence"},
    {OUTPUT("HTTP/1.1 200 OK\nA: b\n\n"), .error = "status line",
     .why = "an nph script's first line"},
    {OUTPUT("A: b\nHTTP/1.1 200 OK\n\n"), .error = "not a name", .why = "a status line later on"},

    /* limits; LINES is a hundred bytes */
    {OUTPUT(LINES LINES LINES LINES "\n"), .error = "max_header_bytes",
     .why = "a byte too many, and it is the empty line's"},
    {OUTPUT(LINES LINES LINES TEN TEN TEN TEN TEN TEN TEN TEN TEN "X: 34567\n\n"), 200, "", NULL,
     -1, "", NULL, "as long as may be, with the empty line"},
    {OUTPUT("no colon\n" LINES LINES LINES LINES), .error = "not a name",
     .why = "the first fault is told, not that it grows too long"},
    {OUTPUT("X: 345678901234567890123456789012345678901234567890123456789012345678901234567890"
	    "12345678901234567890123456789012345678901234567890123456789012345678901234567890123456"
	    "7890"
	    "12345678901234567890123456789012345678901234567890123456789012345678901234567890123456"
	    "7890"
	    "12345678901234567890123456789012345678901234567890123456789012345678901234567890123456"
	    "7890"
	    "12345678901234567890123456789012345678901234567890123456789012345678901234567890123456"
	    "7890"),
     .error = "max_header_bytes", .why = "a line without end"},
};

/* What came of feeding `output` in pieces of `first` bytes, then `rest` at a time. */
struct outcome {
	struct cgi_response response;
	char body[128];
	size_t body_length;
};

static void feed(struct outcome *outcome, const char *output, size_t length, size_t first,
		 size_t rest)
{
	memset(outcome, 0, sizeof(*outcome));
	cgi_response_init(&outcome->response, MAX_HEADER_BYTES);
	for (size_t at = 0, piece = first; at < length; at += piece, piece = rest) {
		if (piece > length - at)
			piece = length - at;
		/* a piece of its own, so that reading past it is seen */
		char *copy = malloc(piece);
		ck_assert_ptr_nonnull(copy);
		memcpy(copy, output + at, piece);
		size_t head = cgi_response_feed(&outcome->response, copy, piece);
		ck_assert_uint_le(head, piece);
		if (outcome->response.state == CGI_RESPONSE_BODY) {
			ck_assert_uint_le(outcome->body_length + piece - head,
					  sizeof(outcome->body));
			memcpy(outcome->body + outcome->body_length, copy + head, piece - head);
			outcome->body_length += piece - head;
		} else {
			ck_assert_uint_eq(head, piece);
		}
		free(copy);
	}
	cgi_response_end(&outcome->response);
}

static void expect_good(const struct answer *answer, struct outcome *outcome)
{
	struct cgi_response *response = &outcome->response;
	ck_assert_msg(response->state == CGI_RESPONSE_BODY, "%s: %s", answer->why,
		      response->error.message);
	ck_assert_msg(response->status == answer->status, "%s: status %d", answer->why,
		      response->status);
	ck_assert_msg(strcmp(response->reason, answer->reason) == 0, "%s: %s", answer->why,
		      response->reason);
	ck_assert_msg(response->content_length == answer->content_length, "%s: length %jd",
		      answer->why, (intmax_t)response->content_length);
	if (answer->headers != NULL)
		ck_assert_msg(strcmp(buffer_text(&response->headers), answer->headers) == 0,
			      "%s: %s", answer->why, buffer_text(&response->headers));
	ck_assert_msg(outcome->body_length == strlen(answer->body) &&
			  memcmp(outcome->body, answer->body, outcome->body_length) == 0,
		      "%s: body %.*s", answer->why, (int)outcome->body_length, outcome->body);
}

static void expect(const struct answer *answer, struct outcome *outcome)
{
	struct cgi_response *response = &outcome->response;
	if (answer->status != 0) {
		expect_good(answer, outcome);
		return;
	}
	ck_assert_msg(response->state == CGI_RESPONSE_MALFORMED, "%s", answer->why);
	ck_assert_msg(strstr(response->error.message, answer->error) != NULL, "%s: %s", answer->why,
		      response->error.message);
	size_t kept =
	    answer->length < CGI_RESPONSE_FIRST_BYTES ? answer->length : CGI_RESPONSE_FIRST_BYTES;
	ck_assert_msg(response->first_bytes.length == kept, "%s: %zu first bytes", answer->why,
		      response->first_bytes.length);
	if (kept > 0)
		ck_assert_mem_eq(response->first_bytes.data, answer->output, kept);
}

START_TEST(an_answer_is_read_alike_whole_and_in_any_pieces)
{
	const struct answer *answer = &answers[_i];
	struct outcome outcome;
	for (size_t first = 1; first <= answer->length; first++) {
		feed(&outcome, answer->output, answer->length, first, answer->length);
		expect(answer, &outcome);
		cgi_response_free(&outcome.response);
	}
	feed(&outcome, answer->output, answer->length, 1, 1);
	expect(answer, &outcome);
	cgi_response_free(&outcome.response);
}
END_TEST

struct saying {
	const char *fields;
	enum once_outcome outcome;
	int64_t retention; /* -1: not said */
	const char *reference;
	const char *trouble; /* the message, or its part; "": none */
	const char *why;
};

static const struct saying sayings[] = {
    {"X: y\n", ONCE_OUTCOME_NONE, -1, "", "", "nothing is said"},
    {"Once: y\nOnceOutcome: store\n", ONCE_OUTCOME_NONE, -1, "", "",
     "names that are not ours are the client's"},
    {"Once-Outcome: store\n", ONCE_OUTCOME_STORE, -1, "", "", "store"},
    {"once-outcome:release\n", ONCE_OUTCOME_RELEASE, -1, "", "", "release, in small letters"},
    {"ONCE-OUTCOME:\tUnknown \n", ONCE_OUTCOME_UNKNOWN, -1, "", "", "unknown, in any case"},
    {"Once-Retention: 3600\n", ONCE_OUTCOME_NONE, 3600000, "", "", "an hour"},
    {"Once-Retention: 0\n", ONCE_OUTCOME_NONE, 0, "", "", "any number is a number"},
    {"Once-Retention: 9223372036854775\n", ONCE_OUTCOME_NONE, INT64_C(9223372036854775000), "", "",
     "the largest"},
    {"Once-Reference: order 7/\xc3\xa9\n", ONCE_OUTCOME_NONE, -1, "order 7/\xc3\xa9", "",
     "printable text"},
    {"Once-Outcome: store\nOnce-Retention: 1\nX: y\nOnce-Reference: r\n", ONCE_OUTCOME_STORE, 1000,
     "r", "", "all three"},
    {"Connection: Once-Outcome\nOnce-Outcome: store\n", ONCE_OUTCOME_STORE, -1, "", "",
     "it is for us, the next hop"},

    {"Once-Outcome: stored\n", ONCE_OUTCOME_NONE, -1, "",
     "Once-Outcome is ignored: it is none of store, release and unknown", "another word"},
    {"Once-Outcome:\n", ONCE_OUTCOME_NONE, -1, "", "none of store", "no word"},
    {"Once-Outcome: none\n", ONCE_OUTCOME_NONE, -1, "", "none of store", "not a word of it"},
    {"Once-Outcome: store\nOnce-Outcome: release\n", ONCE_OUTCOME_NONE, -1, "",
     "Once-Outcome is ignored: it stands there twice", "which of the two?"},
    {"Once-Outcome: store\nonce-outcome: store\nOnce-Outcome: store\n", ONCE_OUTCOME_NONE, -1, "",
     "stands there twice", "thrice the same is no better"},
    {"Once-Retention: 1h\n", ONCE_OUTCOME_NONE, -1, "", "it is not a number of seconds", "a unit"},
    {"Once-Retention: -1\n", ONCE_OUTCOME_NONE, -1, "", "not a number", "a sign"},
    {"Once-Retention: 1.5\n", ONCE_OUTCOME_NONE, -1, "", "not a number", "a fraction"},
    {"Once-Retention:\n", ONCE_OUTCOME_NONE, -1, "", "not a number", "none"},
    {"Once-Retention: 9223372036854776\n", ONCE_OUTCOME_NONE, -1, "", "not a number",
     "one more than the largest"},
    {"Once-Retention: 5\nOnce-Retention: 5\n", ONCE_OUTCOME_NONE, -1, "", "twice", "twice"},
    {"Once-Reference:\n", ONCE_OUTCOME_NONE, -1, "", "1 to 1024 bytes", "an empty one is none"},
    {"Once-Reference: a\xff\n", ONCE_OUTCOME_NONE, -1, "", "printable UTF-8", "no UTF-8"},
    {"Once-Reference: a\tb\n", ONCE_OUTCOME_NONE, -1, "", "printable UTF-8", "a tab"},
    {"Once-Reference: a\xc2\x9b\n", ONCE_OUTCOME_NONE, -1, "", "printable UTF-8",
     "a terminal would obey it"},
    {"Once-Reference: a\nOnce-Reference: b\n", ONCE_OUTCOME_NONE, -1, "", "twice", "two names"},
    {"Once-Reply: yes\n", ONCE_OUTCOME_NONE, -1, "",
     "Once-Reply is ignored: there are only Once-Outcome, Once-Retention and Once-Reference",
     "a name of ours that there is not"},
    {"Once-: x\nOnce-Retention: x\nOnce-Outcome: store\n", ONCE_OUTCOME_STORE, -1, "",
     "Once- is ignored", "the first trouble is told; what is understood counts"},
};

static void expect_saying(const struct saying *saying, struct outcome *outcome)
{
	struct cgi_response *response = &outcome->response;
	ck_assert_msg(response->state == CGI_RESPONSE_BODY, "%s: %s", saying->why,
		      response->error.message);
	ck_assert_msg(response->outcome == saying->outcome, "%s: outcome %d", saying->why,
		      (int)response->outcome);
	ck_assert_msg(response->once_retention == saying->retention, "%s: retention %jd",
		      saying->why, (intmax_t)response->once_retention);
	ck_assert_msg(strcmp(buffer_text(&response->once_reference), saying->reference) == 0,
		      "%s: %s", saying->why, buffer_text(&response->once_reference));
	ck_assert_msg(strstr(response->once_trouble.message, saying->trouble) != NULL &&
			  (response->once_trouble.message[0] == '\0') ==
			      (saying->trouble[0] == '\0'),
		      "%s: %s", saying->why, response->once_trouble.message);
	ck_assert_msg(strcasestr(buffer_text(&response->headers), "once-") == NULL, "%s: %s",
		      saying->why, buffer_text(&response->headers));
}

START_TEST(what_is_said_to_us_is_heard_alike_in_any_pieces_and_goes_no_further)
{
	struct outcome outcome;
	char output[256];
	int length = snprintf(output, sizeof(output), "Status: 201\n%s\n", sayings[_i].fields);
	for (size_t piece = 1; piece <= (size_t)length; piece++) {
		feed(&outcome, output, (size_t)length, piece, piece);
		expect_saying(&sayings[_i], &outcome);
		cgi_response_free(&outcome.response);
	}
}
END_TEST

START_TEST(a_reference_is_as_long_as_the_record_has_room_for)
{
	char long_reference[ONCE_REFERENCE_LENGTH + 1];
	for (size_t length = ONCE_REFERENCE_LENGTH; length <= ONCE_REFERENCE_LENGTH + 1; length++) {
		struct cgi_response response;
		memset(long_reference, 'r', length);
		cgi_response_init(&response, 4096);
		cgi_response_feed(&response, "Once-Reference: ", 16);
		cgi_response_feed(&response, long_reference, length);
		cgi_response_feed(&response, "\n\n", 2);
		ck_assert_int_eq(response.state, CGI_RESPONSE_BODY);
		ck_assert_uint_eq(response.once_reference.length,
				  length == ONCE_REFERENCE_LENGTH ? length : 0);
		cgi_response_free(&response);
	}
}
END_TEST

START_TEST(what_is_said_alone_is_a_header_block)
{
	struct outcome outcome;
	feed(&outcome, OUTPUT("Once-Outcome: unknown\n\nbody"), 1, 1);
	ck_assert_int_eq(outcome.response.state, CGI_RESPONSE_BODY);
	ck_assert_int_eq(outcome.response.status, 200);
	ck_assert_uint_eq(outcome.response.headers.length, 0);
	cgi_response_free(&outcome.response);
}
END_TEST

/* `count` fields of four bytes, and the empty line. */
static void feed_fields(struct cgi_response *response, int count)
{
	cgi_response_init(response, 4096);
	for (int i = 0; i < count; i++)
		ck_assert_uint_eq(cgi_response_feed(response, "a:b\n", 4), 4);
	cgi_response_feed(response, "\n", 1);
}

START_TEST(fields_are_counted_up_to_a_limit)
{
	struct cgi_response response;
	feed_fields(&response, CGI_RESPONSE_MAX_FIELDS);
	ck_assert_int_eq(response.state, CGI_RESPONSE_BODY);
	ck_assert_uint_eq(response.headers.length, 6 * CGI_RESPONSE_MAX_FIELDS);
	cgi_response_free(&response);
	feed_fields(&response, CGI_RESPONSE_MAX_FIELDS + 1);
	ck_assert_int_eq(response.state, CGI_RESPONSE_MALFORMED);
	ck_assert_int_eq(response.error.kind, ERROR_LIMIT);
	cgi_response_free(&response);
}
END_TEST

START_TEST(a_malformed_answer_never_becomes_good_again)
{
	struct cgi_response response;
	cgi_response_init(&response, 4096);
	ck_assert_uint_eq(cgi_response_feed(&response, "no header\nA: b\n\nbody", 20), 20);
	ck_assert_uint_eq(cgi_response_feed(&response, "A: b\n\nbody", 10), 10);
	cgi_response_end(&response);
	ck_assert_int_eq(response.state, CGI_RESPONSE_MALFORMED);
	ck_assert_str_eq(response.error.message,
			 "a header line is not a name, a colon and a value");
	ck_assert_str_eq(buffer_text(&response.first_bytes), "no header\nA: b\n\nbodyA: b\n\nbody");
	cgi_response_free(&response);
}
END_TEST

START_TEST(the_body_is_left_alone)
{
	struct cgi_response response;
	cgi_response_init(&response, 16);
	ck_assert_uint_eq(cgi_response_feed(&response, "A: b\n\nbody", 10), 6);
	ck_assert_uint_eq(cgi_response_feed(&response, "B: c\0\r\n\n and more than the limit", 29),
			  0);
	cgi_response_end(&response);
	ck_assert_int_eq(response.state, CGI_RESPONSE_BODY);
	ck_assert_str_eq(buffer_text(&response.headers), "A: b\r\n");
	cgi_response_free(&response);
}
END_TEST

static const struct {
	const char *name;
	bool hop;
} names[] = {
    {"Connection", true},  {"CONNECTION", true}, {"keep-alive", true}, {"Transfer-Encoding", true},
    {"te", true},          {"trailer", true},    {"upgrade", true},    {"Proxy-Connection", true},
    {"t", false},          {"tee", false},       {"", false},          {"Content-Length", false},
    {"Set-Cookie", false},
};

START_TEST(hop_by_hop_fields_are_known_by_their_whole_name)
{
	ck_assert_msg(header_is_hop_by_hop(names[_i].name, strlen(names[_i].name)) == names[_i].hop,
		      "%s", names[_i].name);
}
END_TEST

START_TEST(a_name_is_only_as_long_as_it_is_said_to_be)
{
	ck_assert(header_is_hop_by_hop("TExxx", 2));
	ck_assert(!header_is_hop_by_hop("Connection", 9));
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("cgi_response");
	TCase *tests = tcase_create("cgi_response");
	tcase_add_loop_test(tests, an_answer_is_read_alike_whole_and_in_any_pieces, 0,
			    COUNT(answers));
	tcase_add_loop_test(tests,
			    what_is_said_to_us_is_heard_alike_in_any_pieces_and_goes_no_further, 0,
			    COUNT(sayings));
	tcase_add_test(tests, a_reference_is_as_long_as_the_record_has_room_for);
	tcase_add_test(tests, what_is_said_alone_is_a_header_block);
	tcase_add_test(tests, fields_are_counted_up_to_a_limit);
	tcase_add_test(tests, a_malformed_answer_never_becomes_good_again);
	tcase_add_test(tests, the_body_is_left_alone);
	tcase_add_loop_test(tests, hop_by_hop_fields_are_known_by_their_whole_name, 0,
			    COUNT(names));
	tcase_add_test(tests, a_name_is_only_as_long_as_it_is_said_to_be);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
