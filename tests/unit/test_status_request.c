/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/request.h"

#include <stdlib.h>

#include "tests/unit/suite.h"

static const struct {
	const char *accept;
	enum status_format expected;
	const char *why;
} accepts[] = {
    {NULL, STATUS_TEXT, "nothing is asked for"},
    {"", STATUS_TEXT, "nothing is asked for"},
    {"*/*", STATUS_TEXT, "curl"},
    {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", STATUS_HTML,
     "a browser"},
    {"text/html, text/plain, text/sgml, */*;q=0.01", STATUS_HTML, "lynx"},
    {"text/*", STATUS_HTML, "any text"},
    {"application/json", STATUS_JSON, "a program"},
    {"application/json, */*;q=0.1", STATUS_JSON, "a program that takes anything"},
    {"application/*", STATUS_JSON, "whatever a program can read"},
    {"text/plain", STATUS_TEXT, "text"},
    {"text/html;q=0.5, text/plain", STATUS_TEXT, "text is liked better"},
    {"text/html;q=0.5, application/json;q=0.6", STATUS_JSON, "JSON is liked better"},
    {"text/html;q=0, */*", STATUS_TEXT, "all but HTML"},
    {"image/png", STATUS_TEXT, "nothing that we have"},
    {"text/html;q=nonsense", STATUS_TEXT, "a weight that is none"},
};

START_TEST(the_format_is_the_one_that_the_client_likes_best)
{
	ck_assert_msg(request_accept(accepts[_i].accept) == accepts[_i].expected, "%s",
		      accepts[_i].why);
}
END_TEST

static const struct {
	const char *method, *query;
	int status;
	struct status_request expected;
	const char *why;
} requests[] = {
    {"GET", "", 200, {.format = STATUS_HTML}, "by Accept"},
    {"GET", NULL, 200, {.format = STATUS_HTML}, "no query at all"},
    {"HEAD", "", 200, {.head = true, .format = STATUS_HTML}, "HEAD"},
    {"GET", "format=json", 200, {.format = STATUS_JSON}, "the query comes before Accept"},
    {"GET", "format=text", 200, {.format = STATUS_TEXT}, "text"},
    {"GET", "format=html", 200, {.format = STATUS_HTML}, "HTML"},
    {"GET", "form%61t=%6Ason", 200, {.format = STATUS_JSON}, "escaped"},
    {"GET", "format=json&format=text", 200, {.format = STATUS_TEXT}, "the last one counts"},
    {"GET", "&format=json&", 200, {.format = STATUS_JSON}, "nothing between two ampersands"},
    {"GET", "probe=ready", 200, {.probe = true, .format = STATUS_HTML}, "a probe"},
    {"HEAD", "probe=ready", 200, {.head = true, .probe = true, .format = STATUS_HTML}, "both"},
    {"GET", "format=xml", 400, {0}, "no such format"},
    {"GET", "format=", 400, {0}, "no format"},
    {"GET", "format", 400, {0}, "no value"},
    {"GET", "Format=json", 400, {0}, "names have a case"},
    {"GET", "probe=live", 400, {0}, "no such probe"},
    {"GET", "probe=ready2", 400, {0}, "no such probe"},
    {"GET", "refresh=1", 400, {0}, "unknown"},
    {"GET", "format=json%00", 400, {0}, "a NUL"},
    {"GET", "format=%", 400, {0}, "half an escape"},
    {"GET", "%", 400, {0}, "half an escape"},
    {"POST", "", 405, {0}, "no such method"},
    {"get", "", 405, {0}, "methods have a case"},
    {"", "", 405, {0}, "no method"},
    {NULL, "", 405, {0}, "no method at all"},
    {"GET ", "", 405, {0}, "a blank behind it"},
};

static void set(const char *name, const char *value)
{
	if (value != NULL)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

START_TEST(a_request_is_what_its_variables_say)
{
	struct status_request request, expected = requests[_i].expected;
	struct error error;
	set("REQUEST_METHOD", requests[_i].method);
	set("QUERY_STRING", requests[_i].query);
	set("HTTP_ACCEPT", "text/html");
	int status = request_read(&request, &error);
	ck_assert_msg(status == requests[_i].status, "%s: %d", requests[_i].why, status);
	if (status != 200)
		return;
	ck_assert_msg(request.head == expected.head && request.probe == expected.probe &&
			  request.format == expected.format,
		      "%s", requests[_i].why);
}
END_TEST

int main(void)
{
	Suite *tests = suite_create("status request");
	TCase *all = tcase_create("request");
	tcase_add_loop_test(all, the_format_is_the_one_that_the_client_likes_best, 0,
			    (int)(sizeof(accepts) / sizeof(accepts[0])));
	tcase_add_loop_test(all, a_request_is_what_its_variables_say, 0,
			    (int)(sizeof(requests) / sizeof(requests[0])));
	suite_add_tcase(tests, all);
	return suite_run(tests);
}
