/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/show/request_file.h"

#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text;
	size_t length; /* 0: strlen */
	const char *method, *path, *query, *type, *body;
	const char *header; /* a parameter that is there; NULL: none is asked for */
	const char *why;
} requests[] = {
    {"POST /a HTTP/1.1\r\n\r\nb", 0, "POST", "/a", "", "", "b", NULL, "the form of RFC 9112"},
    {"POST /a HTTP/1.1\n\nb\n", 0, "POST", "/a", "", "", "b\n", NULL, "an editor's line ends"},
    {"GET /a", 0, "GET", "/a", "", "", "", NULL, "a request line is enough"},
    {"GET /a\n", 0, "GET", "/a", "", "", "", NULL, "... with its end"},
    {"GET /a\n\n", 0, "GET", "/a", "", "", "", NULL, "... and that of the head"},
    {"GET /a HTTP/2\n\n", 0, "GET", "/a", "", "", "", NULL, "any version"},
    {"GET /a%20%2fb?c=%20&d#e HTTP/1.1\n", 0, "GET", "/a /b", "c=%20&d", "", "", NULL,
     "the path is decoded, the query is not, a fragment is neither"},
    {"GET //a///b/ HTTP/1.1\n", 0, "GET", "/a/b/", "", "", "", NULL, "runs of slashes are one"},
    {"GET http://h:1/a?b HTTP/1.1\n", 0, "GET", "/a", "b", "", "", NULL, "the absolute form"},
    {"GET https://h\n", 0, "GET", "/", "", "", "", NULL, "... without a path"},
    {"GET /a?b=://c\n", 0, "GET", "/a", "b=://c", "", "", NULL, "a query that looks so"},
    {"PUT /a\nContent-Type:\ttext/plain \nX-A: b\n\n", 0, "PUT", "/a", "", "text/plain", "",
     "HTTP_X_A=b", "blanks around a value are not part of it"},
    {"PUT /a\nCONTENT-TYPE: x\nx-a:\n\n", 0, "PUT", "/a", "", "x", "",
     "HTTP_X_A=", "names in any case, an empty value"},
    {"PUT /a\nX-A: b: c\n\n", 0, "PUT", "/a", "", "", "", "HTTP_X_A=b: c", "a colon in a value"},
    {"PUT /a\nContent-Length: 3\n\nabc\n", 0, "PUT", "/a", "", "", "abc", NULL,
     "what stands behind the declared length is not read"},
    {"PUT /a\nContent-Length: 0\n\nabc", 0, "PUT", "/a", "", "", "", NULL, "... of none"},
    {"PUT /a\n\na\0\n\xff", 12, "PUT", "/a", "", "", "a\0\n\xff", NULL, "any bytes in a body"},
    {"PUT /a\n\n\nb\n\nc", 0, "PUT", "/a", "", "", "\nb\n\nc", NULL, "empty lines in a body"},
    {"> PUT /a HTTP/1.1\r\n> X-A: b\r\n> \r\nbody", 0, "PUT", "/a", "", "", "body", "HTTP_X_A=b",
     "as curl -v tells it"},
    {"*   Trying 127.0.0.1...\n* Connected\n> PUT /a HTTP/1.1\n* remark\n> X-A: b\n>\n> body", 0,
     "PUT", "/a", "", "", "> body", "HTTP_X_A=b", "... with its remarks; a body is as it is"},
};

static size_t length_of(int i)
{
	return requests[i].length > 0 ? requests[i].length : strlen(requests[i].text);
}

static bool has_entry(const struct params *params, const char *entry)
{
	for (size_t i = 0; i < params->count; i++)
		if (strcmp(params->entries[i], entry) == 0)
			return true;
	return false;
}

START_TEST(a_saved_request_is_read_as_the_wrapper_sees_it)
{
	struct request_file request;
	struct error error;
	ck_assert_msg(request_file_parse(&request, requests[_i].text, length_of(_i), &error) == 0,
		      "%s: %s", requests[_i].why, error.message);
	const struct fingerprint_source *source = &request.source;
	ck_assert_msg(strcmp(source->method, requests[_i].method) == 0, "%s", requests[_i].why);
	ck_assert_msg(strcmp(source->path, requests[_i].path) == 0, "%s: %s", requests[_i].why,
		      source->path);
	ck_assert_msg(strcmp(source->query, requests[_i].query) == 0, "%s: %s", requests[_i].why,
		      source->query);
	ck_assert_msg(strcmp(source->content_type, requests[_i].type) == 0, "%s: %s",
		      requests[_i].why, source->content_type);
	/* A body with a NUL byte has the length that the text leaves for it. */
	size_t length = requests[_i].length > 0 ? 4 : strlen(requests[_i].body);
	unsigned char digest[DIGEST_LENGTH];
	digest_of(requests[_i].body, length, digest);
	ck_assert_msg(memcmp(digest, source->body_digest, DIGEST_LENGTH) == 0, "%s",
		      requests[_i].why);
	ck_assert_msg(requests[_i].header == NULL || has_entry(source->params, requests[_i].header),
		      "%s", requests[_i].why);
	request_file_free(&request);
}
END_TEST

static const struct {
	const char *text;
	size_t length; /* 0: strlen */
	const char *message;
} refused[] = {
    {"", 0, "line 1: is no request line: one reads METHOD /path HTTP/1.1"},
    {"\n", 0, "line 1: is no request line: one reads METHOD /path HTTP/1.1"},
    {"POST", 0, "line 1: is no request line: one reads METHOD /path HTTP/1.1"},
    {"POST ", 0, "line 1: is no request line: one reads METHOD /path HTTP/1.1"},
    {"POST  /a", 0, "line 1: is no request line: one reads METHOD /path HTTP/1.1"},
    {"P(ST /a", 0, "line 1: is no request line: one reads METHOD /path HTTP/1.1"},
    {"POST /a b", 0, "line 1: is no request line: one reads METHOD /path HTTP/1.1"},
    {"{\"a\": 1}", 0, "line 1: is no request line: one reads METHOD /path HTTP/1.1"},
    {"POST a", 0, "line 1: the path must begin with / and have proper %XX escapes"},
    {"POST *", 0, "line 1: the path must begin with / and have proper %XX escapes"},
    {"POST /%zz", 0, "line 1: the path must begin with / and have proper %XX escapes"},
    {"POST /%00", 0, "line 1: the path must begin with / and have proper %XX escapes"},
    {"POST /a\nb\n", 0, "line 2: is no header line: one reads Name: value"},
    {"POST /a\nA: b\n C\n", 0, "line 3: is no header line: one reads Name: value"},
    {"POST /a\n: b\n", 0, "line 2: is no header line: one reads Name: value"},
    {"POST /a\nA b: c\n", 0, "line 2: is no header line: one reads Name: value"},
    {"POST /a\nA: b\0c\n", 15, "line 2: holds a NUL byte"},
    {"PO\0ST /a\n", 9, "line 1: holds a NUL byte"},
    {"> POST /a\nA: b\n", 0, "line 2: other lines of the head begin with \">\""},
    {"POST /a\nContent-Length: x\n\n", 0, "Content-Length is no number"},
    {"POST /a\nContent-Length: -1\n\n", 0, "Content-Length is no number"},
    {"POST /a\nContent-Length: 99999999999999999999\n\n", 0, "Content-Length is no number"},
    {"POST /a\nContent-Length: 4\n\nabc", 0,
     "the body has 3 bytes, but Content-Length says 4; put the whole body behind the empty line"},
};

START_TEST(what_is_no_request_is_refused_and_told_with_its_line)
{
	struct request_file request;
	struct error error;
	size_t length = refused[_i].length > 0 ? refused[_i].length : strlen(refused[_i].text);
	ck_assert_int_eq(request_file_parse(&request, refused[_i].text, length, &error), -1);
	ck_assert_int_eq(error.kind, ERROR_INPUT);
	ck_assert_str_eq(error.message, refused[_i].message);
	request_file_free(&request);
}
END_TEST

/* Whatever is cut off, it is read or refused, within the bytes that there are. */
START_TEST(a_request_cut_anywhere_is_read_or_refused)
{
	for (size_t length = 0; length <= length_of(_i); length++) {
		char *cut = malloc(length > 0 ? length : 1);
		ck_assert_ptr_nonnull(cut);
		memcpy(cut, requests[_i].text, length);
		struct request_file request;
		struct error error;
		if (request_file_parse(&request, cut, length, &error) < 0)
			ck_assert_int_eq(error.kind, ERROR_INPUT);
		request_file_free(&request);
		free(cut);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("request_file");
	TCase *cases = tcase_create("saved requests");
	tcase_add_loop_test(cases, a_saved_request_is_read_as_the_wrapper_sees_it, 0,
			    sizeof(requests) / sizeof(requests[0]));
	tcase_add_loop_test(cases, what_is_no_request_is_refused_and_told_with_its_line, 0,
			    sizeof(refused) / sizeof(refused[0]));
	tcase_add_loop_test(cases, a_request_cut_anywhere_is_read_or_refused, 0,
			    sizeof(requests) / sizeof(requests[0]));
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
