/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/sender.h"
#include "tests/unit/recorder.h"
#include "tests/unit/suite.h"

#include <string.h>

static const struct {
	const char *why;
	const char *method;
	int status;
	const char *reason;
	const char *body;
	const char *wire;
} answers[] = {
    {"an answer carries its status, its lines, its true length and its body", "POST", 201,
     "Created", "hello", "Status: 201 Created\r\nA: b\r\nContent-Length: 5\r\n\r\nhello"},
    {"a status without a reason has no trailing blank", "POST", 299, "", "x",
     "Status: 299\r\nA: b\r\nContent-Length: 1\r\n\r\nx"},
    {"an empty body has length 0", "POST", 200, "OK", "",
     "Status: 200 OK\r\nA: b\r\nContent-Length: 0\r\n\r\n"},
    {"C56: 204 has neither body nor length", "DELETE", 204, "No Content", "stray",
     "Status: 204 No Content\r\nA: b\r\n\r\n"},
    {"C56: 304 has neither body nor length", "GET", 304, "Not Modified", "stray",
     "Status: 304 Not Modified\r\nA: b\r\n\r\n"},
    {"C56: 1xx has neither body nor length", "POST", 103, "Early Hints", "stray",
     "Status: 103 Early Hints\r\nA: b\r\n\r\n"},
    {"C56: HEAD has the length its GET would have and no body", "HEAD", 200, "OK", "hello",
     "Status: 200 OK\r\nA: b\r\nContent-Length: 5\r\n\r\n"},
};

START_TEST(each_answer_goes_out_as_its_status_and_method_say)
{
	struct recorder recorder;
	recorder_init(&recorder);
	int sent = sender_send(&recorder.reply,
			       &(struct outgoing){.method = answers[_i].method,
						  .status = answers[_i].status,
						  .reason = answers[_i].reason,
						  .headers = "A: b\r\n",
						  .headers_length = 6,
						  .body = answers[_i].body,
						  .body_length = strlen(answers[_i].body)});
	ck_assert_int_eq(sent, 0);
	ck_assert_msg(strcmp(buffer_text(&recorder.wire), answers[_i].wire) == 0, "%s: got %s",
		      answers[_i].why, buffer_text(&recorder.wire));
	recorder_free(&recorder);
}
END_TEST

static const struct {
	const char *why;
	const char *lines;
	const char *names[3];
	size_t count;
	const char *left;
} filters[] = {
    {"names are compared without case", "Set-COOKIE: a\r\nX: y\r\n", {"Set-Cookie"}, 1, "X: y\r\n"},
    {"every line of a name goes", "A: 1\r\nB: 2\r\na: 3\r\n", {"A"}, 1, "B: 2\r\n"},
    {"a name is compared whole",
     "Dated: 1\r\nDat: 2\r\nDate: 3\r\n",
     {"Date"},
     1,
     "Dated: 1\r\nDat: 2\r\n"},
    {"an entry may be a whole line",
     "Idempotent-Replayed: false\r\nX: y\r\n",
     {"Idempotent-Replayed: true"},
     1,
     "X: y\r\n"},
    {"nothing named, nothing goes", "A: 1\r\n", {0}, 0, "A: 1\r\n"},
    {"no lines, no lines", "", {"A"}, 1, ""},
};

START_TEST(lines_are_filtered_by_field_name)
{
	struct buffer out = {0};
	ck_assert_int_eq(sender_filter_lines(&out, filters[_i].lines, strlen(filters[_i].lines),
					     (char *const *)filters[_i].names, filters[_i].count),
			 0);
	ck_assert_msg(strcmp(buffer_text(&out), filters[_i].left) == 0, "%s: got %s",
		      filters[_i].why, buffer_text(&out));
	buffer_free(&out);
}
END_TEST

static const struct {
	const char *why;
	const char *lines;
	const char *value; /* NULL: there is none */
} fields[] = {
    {"a field by its name, without case and blanks", "A: b\r\nlocation: \t/x y \r\n", "/x y"},
    {"the first of several", "Location: /1\r\nLocation: /2\r\n", "/1"},
    {"an empty value is there", "Location:\r\n", ""},
    {"a longer name is another", "Location-Not: /1\r\n", NULL},
    {"a shorter name is another", "Loc: /1\r\n", NULL},
    {"no fields at all", "", NULL},
};

START_TEST(a_field_is_found_by_its_name)
{
	struct buffer lines = {0}, value = {0};
	buffer_append_text(&lines, fields[_i].lines);
	bool found = sender_field(&value, &lines, "Location");
	ck_assert_msg(found == (fields[_i].value != NULL), "%s", fields[_i].why);
	if (found)
		ck_assert_str_eq(buffer_text(&value), fields[_i].value);
	buffer_free(&lines);
	buffer_free(&value);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sender");
	TCase *cases = tcase_create("sender");
	tcase_add_loop_test(cases, each_answer_goes_out_as_its_status_and_method_say, 0,
			    sizeof(answers) / sizeof(answers[0]));
	tcase_add_loop_test(cases, lines_are_filtered_by_field_name, 0,
			    sizeof(filters) / sizeof(filters[0]));
	tcase_add_loop_test(cases, a_field_is_found_by_its_name, 0,
			    sizeof(fields) / sizeof(fields[0]));
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
