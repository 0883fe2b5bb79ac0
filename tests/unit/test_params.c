/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/params.h"

#include "tests/unit/suite.h"

#include <string.h>

static char *environment[] = {
    (char[]){"REQUEST_METHOD=POST"},
    (char[]){"HTTP_X=first"},
    (char[]){"HTTP_X=second"},
    (char[]){"HTTP_X_LONGER=other"},
    (char[]){"EMPTY="},
    (char[]){"LATE="},
    (char[]){"LATE=filled"},
    (char[]){"EQUALS=a=b=c"},
    (char[]){"NO_VALUE"},
    (char[]){"=no name"},
    NULL,
};

static const struct {
	const char *name;
	const char *value;  /* NULL: none */
	const char *filled; /* NULL: none */
	size_t count, count_filled;
	const char *why;
} lookups[] = {
    {"REQUEST_METHOD", "POST", "POST", 1, 1, "a plain one"},
    {"HTTP_X", "first", "first", 2, 2, "the first of two, and not the longer name"},
    {"HTTP_", NULL, NULL, 0, 0, "a part of a name"},
    {"HTTP_X_LONGER", "other", "other", 1, 1, "a name that another begins"},
    {"http_x", NULL, NULL, 0, 0, "names are exact"},
    {"EMPTY", "", NULL, 1, 0, "present and empty"},
    {"LATE", "", "filled", 2, 1, "empty first, filled later"},
    {"EQUALS", "a=b=c", "a=b=c", 1, 1, "only the first equals sign parts"},
    {"NO_VALUE", NULL, NULL, 0, 0, "no equals sign: not an entry"},
    {"NO_VALU", NULL, NULL, 0, 0, "nor a part of it"},
    {"", "no name", "no name", 1, 1, "the empty name is a name like another"},
    {"ABSENT", NULL, NULL, 0, 0, "not there"},
};

static void expect_value(const char *value, const char *expected, const char *why)
{
	if (expected == NULL)
		ck_assert_msg(value == NULL, "%s", why);
	else
		ck_assert_msg(value != NULL && strcmp(value, expected) == 0, "%s", why);
}

START_TEST(a_parameter_is_found_by_its_exact_name)
{
	struct params params = params_of(environment);
	ck_assert_uint_eq(params.count, sizeof(environment) / sizeof(environment[0]) - 1);
	expect_value(params_get(&params, lookups[_i].name), lookups[_i].value, lookups[_i].why);
	expect_value(params_get_filled(&params, lookups[_i].name), lookups[_i].filled,
		     lookups[_i].why);
	ck_assert_msg(params_count(&params, lookups[_i].name) == lookups[_i].count, "%s",
		      lookups[_i].why);
	ck_assert_msg(params_count_filled(&params, lookups[_i].name) == lookups[_i].count_filled,
		      "%s", lookups[_i].why);
}
END_TEST

START_TEST(an_empty_environment_has_no_parameters)
{
	struct params params = params_of((char *[]){NULL});
	ck_assert_uint_eq(params.count, 0);
	ck_assert_ptr_null(params_get(&params, "X"));
}
END_TEST

static const struct {
	const char *header;
	size_t size;
	const char *name; /* NULL: refused */
	const char *why;
} headers[] = {
    {"Idempotency-Key", 64, "HTTP_IDEMPOTENCY_KEY", "RFC 3875 4.1.18"},
    {"idempotency_key", 64, "HTTP_IDEMPOTENCY_KEY",
     "hyphen and underscore are one parameter (C19)"},
    {"X", 64, "HTTP_X", "one letter"},
    {"X-2.b", 64, "HTTP_X_2_B", "digits stay, everything else is an underscore"},
    {"content-type", 64, "CONTENT_TYPE", "has a name of its own"},
    {"Content-Length", 64, "CONTENT_LENGTH", "has a name of its own"},
    {"Content-Type-X", 64, "HTTP_CONTENT_TYPE_X", "only the exact name has"},
    {"Key", sizeof("HTTP_KEY"), "HTTP_KEY", "fits exactly"},
    {"Key", sizeof("HTTP_KEY") - 1, NULL, "one byte short"},
    {"Key", 3, NULL, "shorter than the name itself"},
    {"Key", 0, NULL, "no room at all"},
};

START_TEST(a_header_is_sought_under_its_parameter_name)
{
	char name[64];
	int result = params_header_name(name, headers[_i].size, headers[_i].header);
	ck_assert_msg((result == 0) == (headers[_i].name != NULL), "%s", headers[_i].why);
	if (headers[_i].name != NULL)
		ck_assert_str_eq(name, headers[_i].name);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("params");
	TCase *cases = tcase_create("params");
	tcase_add_loop_test(cases, a_parameter_is_found_by_its_exact_name, 0,
			    sizeof(lookups) / sizeof(lookups[0]));
	tcase_add_test(cases, an_empty_environment_has_no_parameters);
	tcase_add_loop_test(cases, a_header_is_sought_under_its_parameter_name, 0,
			    sizeof(headers) / sizeof(headers[0]));
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
