/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/form.h"

#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>

/* From a copy of just that size, so that a step too far is seen. */
static int parse(struct form *form, const char *body, size_t length, struct error *why)
{
	char *copy = malloc(length > 0 ? length : 1);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, body, length);
	int result = form_parse(form, copy, length, why);
	free(copy);
	return result;
}

static const struct {
	const char *body;
	const char *canonical;
	const char *why;
} good[] = {
    {"", "", "no pair"},
    {"a=1", "a=1", "a pair"},
    {"b=2&a=1", "a=1&b=2", "pairs by name"},
    {"a=2&b=0&a=1", "a=2&a=1&b=0", "one name keeps its order"},
    {"ab=1&a=2&=3", "=3&a=2&ab=1", "the shorter first"},
    {"a=1+2", "a=1%202", "a plus is a blank"},
    {"a=1%2b2", "a=1%2B2", "an escaped one is a plus"},
    {"%61=%31", "a=1", "escapes of what needs none"},
    {"a=%c3%A9", "a=%C3%A9", "hex digits of both cases"},
    {"a=\xc3\xa9", "a=%C3%A9", "bytes that should have been escaped"},
    {"a%3D=%3D", "a%3D=%3D", "an escaped equals sign"},
    {"a=b=c", "a=b%3Dc", "the first equals sign parts name and value"},
    {"a%26b=%26", "a%26b=%26", "an escaped ampersand"},
    {"a", "a=", "no equals sign"},
    {"a=", "a=", "no value"},
    {"=", "=", "neither name nor value"},
    {"=&=", "=&=", "twice"},
    {"&&a=1&&b=2&", "a=1&b=2", "nothing between ampersands"},
    {"a=%00", "a=%00", "NUL"},
    {"a=-._~*", "a=-._~%2A", "what is unreserved"},
    {"a;b=1", "a%3Bb=1", "a semicolon parts nothing"},
};

START_TEST(forms_that_say_the_same_have_one_canonical_form)
{
	struct form form;
	struct error why = {.message = ""};
	struct buffer out = {.limit = 0};
	const char *body = good[_i].body;
	ck_assert_msg(parse(&form, body, strlen(body), &why) == 0, "%s: %s", good[_i].why,
		      why.message);
	ck_assert_int_eq(form_canonical(&form, &out), 0);
	ck_assert_msg(strcmp(buffer_text(&out), good[_i].canonical) == 0, "%s: %s", good[_i].why,
		      buffer_text(&out));
	form_free(&form);
	buffer_clear(&out);
	ck_assert_int_eq(parse(&form, good[_i].canonical, strlen(good[_i].canonical), &why), 0);
	ck_assert_int_eq(form_canonical(&form, &out), 0);
	ck_assert_msg(strcmp(buffer_text(&out), good[_i].canonical) == 0, "its own: %s",
		      good[_i].why);
	form_free(&form);
	buffer_free(&out);
}
END_TEST

static const struct {
	const char *body;
	const char *told;
	const char *why;
} bad[] = {
    {"%", "byte 1: two hex digits must follow %", "only a percent sign"},
    {"a=%4", "byte 3: two hex digits must follow %", "one digit"},
    {"a=%4&b=1", "byte 3: two hex digits must follow %", "one digit before an ampersand"},
    {"a=%zz", "byte 3: two hex digits must follow %", "letters that are no digits"},
    {"a=100%", "byte 6: two hex digits must follow %", "a percent sign at the end"},
    {"%4=1", "byte 1: two hex digits must follow %", "in a name"},
    {"a=1&b%=1", "byte 6: two hex digits must follow %", "in a later name"},
    {"a=%-1", "byte 3: two hex digits must follow %", "a sign is no digit"},
    {"a=% 1", "byte 3: two hex digits must follow %", "nor is a blank"},
};

START_TEST(an_escape_that_is_none_is_refused)
{
	struct form form;
	struct error why = {.message = ""};
	ck_assert_msg(parse(&form, bad[_i].body, strlen(bad[_i].body), &why) == -1, "%s",
		      bad[_i].why);
	ck_assert_int_eq(why.kind, ERROR_INPUT);
	ck_assert_str_eq(why.message, bad[_i].told);
}
END_TEST

START_TEST(values_may_hold_nul_bytes)
{
	struct form form;
	struct error why;
	ck_assert_int_eq(parse(&form, "a%00=\0b", 7, &why), 0);
	ck_assert_uint_eq(form.count, 1);
	ck_assert_uint_eq(form.pairs[0].name_length, 2);
	ck_assert_uint_eq(form.pairs[0].value_length, 2);
	ck_assert_mem_eq(form.pairs[0].value, "\0b", 2);
	form_free(&form);
}
END_TEST

static int parse_many(struct form *form, const char *unit, size_t times, struct error *why)
{
	struct buffer body = {.limit = 0};
	for (size_t i = 0; i < times; i++)
		buffer_append_text(&body, unit);
	ck_assert(!body.failed);
	int result = form_parse(form, body.data, body.length, why);
	buffer_free(&body);
	return result;
}

START_TEST(the_number_of_pairs_is_limited)
{
	struct form form;
	struct error why;
	ck_assert_int_eq(parse_many(&form, "a=1&", FORM_MOST_PAIRS, &why), 0);
	ck_assert_uint_eq(form.count, FORM_MOST_PAIRS);
	form_free(&form);
	ck_assert_int_eq(parse_many(&form, "a=1&", FORM_MOST_PAIRS + 1, &why), -1);
	ck_assert_int_eq(why.kind, ERROR_LIMIT);
	ck_assert_int_eq(parse_many(&form, "&", 4000000, &why), 0);
	ck_assert_uint_eq(form.count, 0);
	form_free(&form);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("form");
	TCase *cases = tcase_create("form");
	tcase_add_loop_test(cases, forms_that_say_the_same_have_one_canonical_form, 0, COUNT(good));
	tcase_add_loop_test(cases, an_escape_that_is_none_is_refused, 0, COUNT(bad));
	tcase_add_test(cases, values_may_hold_nul_bytes);
	TCase *bombs = tcase_create("bombs");
	tcase_set_timeout(bombs, 60);
	tcase_add_test(bombs, the_number_of_pairs_is_limited);
	suite_add_tcase(suite, cases);
	suite_add_tcase(suite, bombs);
	return suite_run(suite);
}
