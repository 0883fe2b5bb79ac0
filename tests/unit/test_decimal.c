/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/decimal.h"

#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text;
	const char *spelling; /* NULL: refused */
	const char *why;
} numbers[] = {
    {"0", "0", "nothing"},
    {"-0", "0", "the same"},
    {"-0.00e5", "0", "the same, whatever its exponent"},
    {"0e999999", "0", "and however large"},
    {"1", "1", "a digit"},
    {"-1", "-1", "below nothing"},
    {"100", "100", "zeros behind"},
    {"1e2", "100", "by its exponent"},
    {"1E+2", "100", "with a plus and a capital"},
    {"1000e-1", "100", "by a negative one"},
    {"1.00e002", "100", "with zeros everywhere"},
    {"1.1", "1.1", "a fraction"},
    {"1.10", "1.1", "zeros behind it"},
    {"11e-1", "1.1", "by its exponent"},
    {"0.11e1", "1.1", "with a zero in front"},
    {"-0.05", "-0.05", "zeros behind the point"},
    {"5e-2", "0.05", "by its exponent"},
    {"10.50", "10.5", "an amount"},
    {"9007199254740992", "9007199254740992", "what a double holds"},
    {"9007199254740993", "9007199254740993", "and what it does not"},
    {"0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827",
     "nor is it one tenth"},
    {"1e30", "1000000000000000000000000000000", "thirty zeros are written"},
    {"1e31", "1e31", "more are not"},
    {"10e30", "1e31", "the same"},
    {"1e-31", "0.0000000000000000000000000000001", "thirty zeros behind the point"},
    {"1e-32", "1e-32", "more are not"},
    {"12e-50", "12e-50", "digits before an exponent are whole"},
    {"1.2e-49", "12e-50", "the same"},
    {"1e999999999999999999", "1e999999999999999999", "the largest exponent"},
    {"1e-999999999999999999", "1e-999999999999999999", "the smallest"},
    {"1.5e000000000000000000000000001", "15", "zeros before an exponent do not count"},
    {"1e1000000000000000000", NULL, "an exponent beyond"},
    {"1e-99999999999999999999999999", NULL, "far beyond"},
    {"", NULL, "no digit"},
    {"-", NULL, "only a sign"},
    {"+1", NULL, "a plus"},
    {"--1", NULL, "two signs"},
    {".5", NULL, "nothing before the point"},
    {"-.5", NULL, "nor behind the sign"},
    {"1.", NULL, "nothing behind the point"},
    {"1.e1", NULL, "but an exponent"},
    {"1e", NULL, "no exponent"},
    {"1e+", NULL, "only its sign"},
    {"01", NULL, "a zero in front"},
    {"-00", NULL, "two zeros"},
    {"Infinity", NULL, "no number"},
    {"NaN", NULL, "nor this"},
};

START_TEST(a_value_has_one_spelling_or_is_refused)
{
	const unsigned char *text = (const unsigned char *)numbers[_i].text;
	const unsigned char *next = text;
	struct buffer out = {.limit = 0};
	const char *rule = decimal_take(&next, text + strlen(numbers[_i].text), &out);
	ck_assert_msg((rule == NULL) == (numbers[_i].spelling != NULL), "%s", numbers[_i].why);
	if (rule == NULL) {
		ck_assert_msg(strcmp(buffer_text(&out), numbers[_i].spelling) == 0, "%s: %s",
			      numbers[_i].why, buffer_text(&out));
		ck_assert_uint_eq(*next, '\0');
	}
	buffer_free(&out);
}
END_TEST

START_TEST(a_spelling_is_its_own)
{
	if (numbers[_i].spelling == NULL)
		return;
	const unsigned char *text = (const unsigned char *)numbers[_i].spelling;
	const unsigned char *next = text;
	struct buffer out = {.limit = 0};
	ck_assert_ptr_null(decimal_take(&next, text + strlen(numbers[_i].spelling), &out));
	ck_assert_str_eq(buffer_text(&out), numbers[_i].spelling);
	buffer_free(&out);
}
END_TEST

START_TEST(a_number_ends_where_its_grammar_does)
{
	static const unsigned char text[] = "12,";
	const unsigned char *next = text;
	struct buffer out = {.limit = 0};
	ck_assert_ptr_null(decimal_take(&next, text + 3, &out));
	ck_assert_ptr_eq(next, text + 2);
	next = text;
	buffer_clear(&out);
	ck_assert_ptr_null(decimal_take(&next, text + 1, &out));
	ck_assert_str_eq(buffer_text(&out), "1");
	buffer_free(&out);
}
END_TEST

/* What takes the square of its length is not done within the test's time. */
START_TEST(a_number_of_a_million_digits_is_kept_whole)
{
	enum { DIGITS = 1000000 };
	unsigned char *text = malloc(DIGITS);
	ck_assert_ptr_nonnull(text);
	memset(text, '7', DIGITS);
	const unsigned char *next = text;
	struct buffer out = {.limit = 0};
	ck_assert_ptr_null(decimal_take(&next, text + DIGITS, &out));
	ck_assert_uint_eq(out.length, DIGITS);
	ck_assert_mem_eq(out.data, text, DIGITS);
	memset(text + 1, '0', DIGITS - 1);
	next = text;
	buffer_clear(&out);
	ck_assert_ptr_null(decimal_take(&next, text + DIGITS, &out));
	ck_assert_str_eq(buffer_text(&out), "7e999999");
	buffer_free(&out);
	free(text);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("decimal");
	TCase *cases = tcase_create("decimal");
	tcase_add_loop_test(cases, a_value_has_one_spelling_or_is_refused, 0, COUNT(numbers));
	tcase_add_loop_test(cases, a_spelling_is_its_own, 0, COUNT(numbers));
	tcase_add_test(cases, a_number_ends_where_its_grammar_does);
	TCase *bombs = tcase_create("bombs");
	tcase_set_timeout(bombs, 60);
	tcase_add_test(bombs, a_number_of_a_million_digits_is_kept_whole);
	suite_add_tcase(suite, cases);
	suite_add_tcase(suite, bombs);
	return suite_run(suite);
}
