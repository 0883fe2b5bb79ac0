/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/cookie.h"

#include "tests/unit/suite.h"

#include <string.h>

static const struct {
	const char *entries[3];
	size_t count;
	const char *value; /* of the first; NULL: none */
	const char *why;
} requests[] = {
    {{"HTTP_COOKIE=key=abc"}, 1, "abc", "one cookie"},
    {{"HTTP_COOKIE=a=1; key=abc; b=2"}, 1, "abc", "among others"},
    {{"HTTP_COOKIE=a=1;key=abc;b=2"}, 1, "abc", "without blanks"},
    {{"HTTP_COOKIE= \tkey = abc\t ; a=1"}, 1, "abc", "with too many"},
    {{"HTTP_COOKIE=key=\"abc\""}, 1, "abc", "in quotes"},
    {{"HTTP_COOKIE=key=\"a b\"; x=\""}, 1, "a b", "with a blank in them"},
    {{"HTTP_COOKIE=key=\"abc"}, 1, "\"abc", "one quote is part of it"},
    {{"HTTP_COOKIE=key=\""}, 1, "\"", "and so is it alone"},
    {{"HTTP_COOKIE=key=a=b"}, 1, "a=b", "an equals sign in the value"},
    {{"HTTP_COOKIE=key="}, 1, "", "there, and empty"},
    {{"HTTP_COOKIE=key=\"\""}, 1, "", "in quotes too"},
    {{"HTTP_COOKIE=key=abc; key=abc"}, 2, "abc", "twice, though alike"},
    {{"HTTP_COOKIE=key=abc", "HTTP_COOKIE=key=abd"}, 2, "abc", "in two fields"},
    {{"HTTP_COOKIE=a=1", "HTTP_OTHER=key=no", "HTTP_COOKIE=key=abc"},
     1,
     "abc",
     "in the second of two fields"},
    {{"HTTP_COOKIE=Key=abc"}, 0, NULL, "names have a case"},
    {{"HTTP_COOKIE=keys=abc; xkey=abc; k=key"}, 0, NULL, "nor are they cut"},
    {{"HTTP_COOKIE=key"}, 0, NULL, "no equals sign"},
    {{"HTTP_COOKIE="}, 0, NULL, "an empty field"},
    {{"HTTP_COOKIE=;;; ;"}, 0, NULL, "only semicolons"},
    {{"HTTP_COOKIE=a=\"x; key=abc\""}, 1, "abc\"", "quotes hold no semicolon (RFC 6265 4.1.1)"},
    {{"HTTP_COOKIE2=key=abc"}, 0, NULL, "another field"},
    {{NULL}, 0, NULL, "none at all"},
};

START_TEST(a_cookie_is_found_by_its_name)
{
	struct params params = {.entries = requests[_i].entries, .count = 0};
	while (params.count < 3 && params.entries[params.count] != NULL)
		params.count++;
	struct cookie cookie = {NULL, 0};
	ck_assert_msg(cookie_find(&params, "key", &cookie) == requests[_i].count, "%s",
		      requests[_i].why);
	if (requests[_i].value == NULL)
		return;
	ck_assert_msg(cookie.length == strlen(requests[_i].value), "%s", requests[_i].why);
	ck_assert_mem_eq(cookie.value, requests[_i].value, cookie.length);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cookie");
	TCase *cases = tcase_create("cookie");
	tcase_add_loop_test(cases, a_cookie_is_found_by_its_name, 0,
			    sizeof(requests) / sizeof(requests[0]));
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
