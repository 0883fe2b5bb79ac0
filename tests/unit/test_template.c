/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/template.h"
#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct template_values values = {
    .code = "in_flight",
    .title = "Request in progress",
    .detail = "say \"<&>'\\\" twice",
    .status = 409,
    .retry_after = 5,
    .docs = "https://example.org/?a=1&b=2",
    .retryable = true,
    .location = "",
    .first_seen = "2026-01-02T03:04:05.678Z",
};

#define JSON  "application/json"
#define HTML  "text/html; charset=utf-8"
#define PLAIN "text/plain"

static const struct {
	const char *text, *type, *expected, *why;
} expansions[] = {
    {"", JSON, "", "nothing is nothing"},
    {"plain text", JSON, "plain text", "text without braces"},
    {"{code}", JSON, "in_flight", "a placeholder alone"},
    {"{code}{title}", PLAIN, "in_flightRequest in progress", "two, side by side"},
    {"{status} {retry_after} {retryable}", JSON, "409 5 true", "numbers and truth, unquoted"},
    {"[{location}] {first_seen}", JSON, "[] 2026-01-02T03:04:05.678Z",
     "what is not known is empty"},
    {"{\"error\":{\"code\":\"{code}\",\"details\":{}}}", JSON,
     "{\"error\":{\"code\":\"in_flight\",\"details\":{}}}", "braces of JSON stand for themselves"},
    {"{{code}}", PLAIN, "{in_flight}", "a brace before a placeholder"},
    {"{code", PLAIN, "{code", "a word that is not closed"},
    {"{code {code}", PLAIN, "{code in_flight", "nor is this, before one that is"},
    {"{", PLAIN, "{", "a brace at the end"},
    {"}{}", PLAIN, "}{}", "nothing in it"},
    {"{Code} { code } {code1}", PLAIN, "{Code} { code } {code1}", "no word of small letters"},
    {"{colour}", PLAIN, "{colour}", "what is not known goes out as it is"},
    {"%s %n {status}%d", PLAIN, "%s %n 409%d", "a template is no format"},
    {"\"{detail}\"", JSON, "\"say \\\"<&>'\\\\\\\" twice\"", "RFC 8259 7: quotes and backslashes"},
    {"<p>{detail}</p>", HTML, "<p>say &#34;&#60;&#38;&#62;&#39;\\&#34; twice</p>",
     "entities in HTML, the template's own tags as they are"},
    {"<a href='{docs}'>", "application/problem+xml", "<a href='https://example.org/?a=1&#38;b=2'>",
     "and in XML"},
    {"{detail}", PLAIN, "say \"<&>'\\\" twice", "plain text is not escaped"},
    {"{detail}", "image/png", "say &#34;&#60;&#38;&#62;&#39;\\&#34; twice",
     "a type that no check let through is escaped with care"},
};

START_TEST(placeholders_are_replaced_and_nothing_else)
{
	struct buffer out = {0};
	ck_assert_int_eq(buffer_append_text(&out, "before "), 0);
	ck_assert_int_eq(template_expand(&out, expansions[_i].text, expansions[_i].type, &values),
			 0);
	ck_assert_msg(strcmp(buffer_text(&out) + strlen("before "), expansions[_i].expected) == 0,
		      "%s: %s", expansions[_i].why, buffer_text(&out));
	buffer_free(&out);
}
END_TEST

/* A value that somebody else chose. */
#define HOSTILE                                                                                    \
	"a\x01\r\nb\x7f\x1b[c\xc2\x9b"                                                             \
	"d\xff"                                                                                    \
	"e\xef\xbf\xbf"                                                                            \
	"f\xc3\xa9"

static const struct {
	const char *type, *expected;
} hostile[] = {
    {"application/json", "a\\u0001\\r\\nb\\u007f\\u001b[c\\u009bd\\ufffde\xef\xbf\xbf"
			 "f\xc3\xa9"},
    {"application/vnd.api+json; profile=x",
     "a\\u0001\\r\\nb\\u007f\\u001b[c\\u009bd\\ufffde\xef\xbf\xbf"
     "f\xc3\xa9"},
    {"text/xml", "ab[cd\xef\xbf\xbd"
		 "e\xef\xbf\xbd"
		 "f\xc3\xa9"},
    {"TEXT/HTML", "ab[cd\xef\xbf\xbd"
		  "e\xef\xbf\xbd"
		  "f\xc3\xa9"},
    {"text/plain;charset=utf-8", "ab[cd\xff"
				 "e\xef\xbf\xbf"
				 "f\xc3\xa9"},
};

START_TEST(hostile_bytes_of_a_value_do_no_harm_in_its_content_type)
{
	struct template_values stranger = values;
	struct buffer out = {0};
	stranger.location = HOSTILE;
	ck_assert_int_eq(template_expand(&out, "{location}", hostile[_i].type, &stranger), 0);
	ck_assert_msg(strcmp(buffer_text(&out), hostile[_i].expected) == 0, "%s: %s",
		      hostile[_i].type, buffer_text(&out));
	buffer_free(&out);
}
END_TEST

static const struct {
	const char *text;
	const char *part; /* of the message; NULL: it is good */
} checks[] = {
    {"", NULL},
    {"{code}{title}{detail}{status}{retry_after}{retryable}{docs}{location}{first_seen}", NULL},
    {"{\"error\": {} }", NULL},
    {"{Retry} {", NULL},
    {"{code} {retry}", "{retry} is no placeholder; there are {code}, {title}, {detail}, {status}, "
		       "{retry_after}, {retryable}, {docs}, {location} and {first_seen}"},
    {"{{codes}}", "{codes} is no placeholder"},
    {"{_}", "{_} is no placeholder"},
    {"{abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz}",
     "{abcdefghijklmnopqrstuvwxyzabcdefghijklmn} is no placeholder"},
};

START_TEST(a_placeholder_that_there_is_not_is_told_with_those_that_there_are)
{
	struct error error = {0};
	int result = template_check(checks[_i].text, &error);
	ck_assert_int_eq(result, checks[_i].part == NULL ? 0 : -1);
	if (checks[_i].part != NULL)
		ck_assert_msg(strstr(error.message, checks[_i].part) == error.message, "%s",
			      error.message);
}
END_TEST

static const struct {
	const char *type;
	bool good;
} types[] = {
    {"application/json", true},
    {"Application/JSON;charset=utf-8", true},
    {"application/problem+json", true},
    {"application/xml", true},
    {"text/xml", true},
    {"application/xhtml+xml", true},
    {"text/html", true},
    {"text/plain ; charset=utf-8", true},
    {"", false},
    {"application/jsonp", false},
    {"xapplication/json", false},
    {"json", false},
    {"+json", false},
    {"x+json", false},
    {"image/svg", false},
    {"text/csv", false},
    {"text/plain\r\nX: y", false},
    {"text/plain; x=\xc3\xa9", false},
};

START_TEST(content_types_are_those_whose_escapes_are_known)
{
	struct error error = {0};
	int result = template_check_content_type(types[_i].type, &error);
	ck_assert_msg((result == 0) == types[_i].good, "%s: %s", types[_i].type, error.message);
	ck_assert((error.message[0] == '\0') == types[_i].good);
}
END_TEST

START_TEST(expansion_takes_time_in_proportion_to_the_text)
{
	static const size_t size = 1 << 20; /* minutes, were it the square of that */
	char *text = malloc(size + 1);
	struct buffer out = {0};
	struct error error = {0};
	ck_assert_ptr_nonnull(text);
	memset(text, '{', size / 2);
	memset(text + size / 2, 'a', size - size / 2);
	text[size] = '\0';
	ck_assert_int_eq(template_check(text, &error), 0);
	ck_assert_int_eq(template_expand(&out, text, JSON, &values), 0);
	ck_assert_uint_eq(out.length, size);
	ck_assert_int_eq(memcmp(out.data, text, size), 0);
	buffer_free(&out);
	free(text);
}
END_TEST

START_TEST(what_finds_no_room_is_told)
{
	struct buffer out = {.limit = 4};
	ck_assert_int_eq(template_expand(&out, "12345", PLAIN, &values), -1);
	buffer_free(&out);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("template");
	TCase *cases = tcase_create("template");
	tcase_add_loop_test(cases, placeholders_are_replaced_and_nothing_else, 0,
			    COUNT(expansions));
	tcase_add_loop_test(cases, hostile_bytes_of_a_value_do_no_harm_in_its_content_type, 0,
			    COUNT(hostile));
	tcase_add_loop_test(cases,
			    a_placeholder_that_there_is_not_is_told_with_those_that_there_are, 0,
			    COUNT(checks));
	tcase_add_loop_test(cases, content_types_are_those_whose_escapes_are_known, 0,
			    COUNT(types));
	tcase_add_test(cases, expansion_takes_time_in_proportion_to_the_text);
	tcase_add_test(cases, what_finds_no_room_is_told);
	tcase_set_timeout(cases, 60);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
