/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "doctor/findings.h"

#include "tests/unit/suite.h"

START_TEST(the_command_at_the_end_of_a_message_is_the_cure)
{
	struct findings findings = {0};
	findings_begin(&findings, "one");
	findings_add_message(&findings, FINDING_FAIL, "f: mode 644; run: chmod 600 f");
	findings_add_message(&findings, FINDING_WARN, "no command");
	ck_assert_str_eq(findings.items[0].reason, "f: mode 644");
	ck_assert_str_eq(findings.items[0].cure, "chmod 600 f");
	ck_assert_str_eq(findings.items[0].check, "one");
	ck_assert_str_eq(findings.items[1].reason, "no command");
	ck_assert_ptr_null(findings.items[1].cure);
	findings_free(&findings);
}
END_TEST

START_TEST(a_cure_is_that_of_the_last_finding_and_the_later_one_counts)
{
	struct findings findings = {0};
	findings_cure(&findings, "nobody's");
	findings_add(&findings, FINDING_OK, "%s", "first");
	findings_add(&findings, FINDING_WARN, "%s", "second");
	findings_cure(&findings, "old");
	findings_cure_file(&findings, "a b", "rm");
	ck_assert_ptr_null(findings.items[0].cure);
	ck_assert_str_eq(findings.items[1].cure, "rm 'a b'");
	ck_assert(!findings.failed);
	findings_free(&findings);
}
END_TEST

START_TEST(the_worst_counts_from_where_one_asks)
{
	struct findings findings = {0};
	ck_assert_int_eq(findings_worst(&findings, 0), FINDING_OK);
	findings_add(&findings, FINDING_FAIL, "a");
	findings_add(&findings, FINDING_SKIP, "b");
	findings_add(&findings, FINDING_WARN, "c");
	ck_assert_int_eq(findings_worst(&findings, 0), FINDING_FAIL);
	ck_assert_int_eq(findings_worst(&findings, 1), FINDING_WARN);
	findings_free(&findings);
}
END_TEST

int main(void)
{
	Suite *tests = suite_create("findings");
	TCase *all = tcase_create("findings");
	tcase_add_test(all, the_command_at_the_end_of_a_message_is_the_cure);
	tcase_add_test(all, a_cure_is_that_of_the_last_finding_and_the_later_one_counts);
	tcase_add_test(all, the_worst_counts_from_where_one_asks);
	suite_add_tcase(tests, all);
	return suite_run(tests);
}
