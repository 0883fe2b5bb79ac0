/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/request_id.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/suite.h"

static struct source sources[] = {
    {SOURCE_ENV, (char[]){"UNIQUE_ID"}},
    {SOURCE_HEADER, (char[]){"X-Request-Id"}},
};

static const struct source_list both = {sources, 2};

static void choose(char id[REQUEST_ID_SIZE], const struct source_list *list,
		   char *const *environment)
{
	struct params params = params_of(environment);
	memset(id, '!', REQUEST_ID_SIZE);
	request_id_choose(id, list, &params);
	ck_assert_ptr_nonnull(memchr(id, '\0', REQUEST_ID_SIZE));
}

/* What is made when nothing good is given. */
static bool is_made(const char *id)
{
	return strlen(id) == 32 && strspn(id, "0123456789abcdef") == 32;
}

static const struct {
	const char *why;
	const char *value;
	bool taken;
} values[] = {
    {"mod_unique_id", "aSz3Cn8AAQEAAB@-l3kAAAAA", true},
    {"nginx", "444535f9378a3dfa1b8604bc9e05a303", true},
    {"a UUID", "7da7a728-f910-11e6-942a-68f728c1ba70", true},
    {"base64", "YWJj+/8=", true},
    {"a trace id of a cloud", "Root=1-67891233-abcdef012345678912345678", true},
    {"one letter", "x", true},
    {"empty", "", false},
    {"a blank inside", "a b", false},
    {"a blank behind", "a ", false},
    {"two, joined by a web server", "a, b", false},
    {"two, joined without a blank", "a,b", false},
    {"a quote, for the log", "a\"b", false},
    {"a line feed, for the answer's header", "a\nSet-Cookie: x=1", false},
    {"a carriage return", "a\rb", false},
    {"markup, for a page", "<script>", false},
    {"a terminal's escape", "a\033[2J", false},
    {"DEL", "a\x7f", false},
    {"beyond ASCII", "\xc3\xa9", false},
    {"no UTF-8", "a\xff", false},
    {"a percent sign", "%n%n", false},
};

START_TEST(only_a_short_word_of_harmless_letters_is_taken)
{
	char id[REQUEST_ID_SIZE];
	for (int header = 0; header < 2; header++) {
		char entry[512];
		snprintf(entry, sizeof(entry), "%s=%s", header ? "HTTP_X_REQUEST_ID" : "UNIQUE_ID",
			 values[_i].value);
		choose(id, &both, (char *[]){entry, NULL});
		if (values[_i].taken)
			ck_assert_msg(strcmp(id, values[_i].value) == 0, "%s: %s", values[_i].why,
				      id);
		else
			ck_assert_msg(is_made(id), "%s: %s", values[_i].why, id);
	}
}
END_TEST

START_TEST(the_longest_is_128_bytes)
{
	for (size_t length = 120; length < 200; length++) {
		char id[REQUEST_ID_SIZE], entry[256] = "UNIQUE_ID=";
		memset(entry + strlen(entry), 'x', length);
		choose(id, &both, (char *[]){entry, NULL});
		if (length <= 128)
			ck_assert_uint_eq(strlen(id), length);
		else
			ck_assert(is_made(id));
	}
}
END_TEST

static const struct {
	const char *why;
	const char *entries[4];
	const char *id; /* NULL: made */
} orders[] = {
    {"the first source before the second",
     {"HTTP_X_REQUEST_ID=client", "UNIQUE_ID=server"},
     "server"},
    {"the second where the first has none", {"HTTP_X_REQUEST_ID=client"}, "client"},
    {"the second where the first is hostile",
     {"UNIQUE_ID=<x>", "HTTP_X_REQUEST_ID=client"},
     "client"},
    {"a header that came twice is nobody's",
     {"HTTP_X_REQUEST_ID=one", "HTTP_X_REQUEST_ID=two"},
     NULL},
    {"another header is not looked at", {"HTTP_X_REQUEST_IDS=client"}, NULL},
    {"nothing", {NULL}, NULL},
};

START_TEST(the_first_source_with_a_good_one_decides)
{
	char id[REQUEST_ID_SIZE];
	choose(id, &both, (char *const *)(const void *)orders[_i].entries);
	if (orders[_i].id != NULL)
		ck_assert_msg(strcmp(id, orders[_i].id) == 0, "%s: %s", orders[_i].why, id);
	else
		ck_assert_msg(is_made(id), "%s: %s", orders[_i].why, id);
}
END_TEST

START_TEST(without_sources_each_is_made_and_no_two_are_equal)
{
	char one[REQUEST_ID_SIZE], other[REQUEST_ID_SIZE];
	char *environment[] = {(char[]){"UNIQUE_ID=server"}, NULL};
	choose(one, &(struct source_list){0}, environment);
	choose(other, &(struct source_list){0}, environment);
	ck_assert(is_made(one) && is_made(other));
	ck_assert_str_ne(one, other);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("request_id");
	TCase *cases = tcase_create("request_id");
	tcase_add_loop_test(cases, only_a_short_word_of_harmless_letters_is_taken, 0,
			    COUNT(values));
	tcase_add_test(cases, the_longest_is_128_bytes);
	tcase_add_loop_test(cases, the_first_source_with_a_good_one_decides, 0, COUNT(orders));
	tcase_add_test(cases, without_sources_each_is_made_and_no_two_are_equal);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
