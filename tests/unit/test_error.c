/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/error.h"

#include "tests/unit/suite.h"

#include <errno.h>
#include <string.h>

START_TEST(an_error_holds_its_kind_and_message)
{
	struct error error;
	error_set(&error, ERROR_INPUT, "%s: %d is below the minimum of %d", "lease", 0, 1);
	ck_assert_int_eq(error.kind, ERROR_INPUT);
	ck_assert_str_eq(error.message, "lease: 0 is below the minimum of 1");
}
END_TEST

START_TEST(an_errno_is_told_in_words_behind_the_message)
{
	struct error error;
	error_set_errno(&error, ENOSPC, "/var/spool/%s", "body");
	ck_assert_int_eq(error.kind, ERROR_SYSTEM);
	ck_assert_str_eq(error.message, "/var/spool/body: No space left on device");
}
END_TEST

START_TEST(a_prefix_keeps_kind_and_message)
{
	struct error error;
	error_set(&error, ERROR_LIMIT, "too long");
	error_prefix(&error, "header %s", "Idempotency-Key");
	ck_assert_int_eq(error.kind, ERROR_LIMIT);
	ck_assert_str_eq(error.message, "header Idempotency-Key: too long");
}
END_TEST

START_TEST(a_message_may_be_made_of_the_one_before)
{
	struct error error;
	error_set(&error, ERROR_INPUT, "one");
	error_set(&error, ERROR_INPUT, "%s, two", error.message);
	error_prefix(&error, "<%s>", error.message);
	ck_assert_str_eq(error.message, "<one, two>: one, two");
}
END_TEST

START_TEST(a_long_message_is_cut_and_ended)
{
	char text[2 * sizeof(((struct error *)0)->message)];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	struct error error;
	error_set(&error, ERROR_INPUT, "%s", text);
	ck_assert_uint_eq(strlen(error.message), sizeof(error.message) - 1);
	error_prefix(&error, "front");
	ck_assert_uint_eq(strlen(error.message), sizeof(error.message) - 1);
	ck_assert_int_eq(strncmp(error.message, "front: xxx", 10), 0);
	error_set_errno(&error, EIO, "%s", text);
	ck_assert_uint_eq(strlen(error.message), sizeof(error.message) - 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("error");
	TCase *cases = tcase_create("error");
	tcase_add_test(cases, an_error_holds_its_kind_and_message);
	tcase_add_test(cases, an_errno_is_told_in_words_behind_the_message);
	tcase_add_test(cases, a_prefix_keeps_kind_and_message);
	tcase_add_test(cases, a_message_may_be_made_of_the_one_before);
	tcase_add_test(cases, a_long_message_is_cut_and_ended);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
