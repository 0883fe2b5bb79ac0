/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/rights.h"

#include "tests/unit/suite.h"

#include <string.h>

START_TEST(every_grant_of_the_file_is_read)
{
	struct rights rights;
	struct right right;
	unsigned read = 0, written = 0;
	for (const char *next = rights_text; (next = strstr(next, "\nGRANT ")) != NULL; next++)
		written++;
	rights_begin(&rights);
	while (rights_next(&rights, &right)) {
		read++;
		ck_assert_str_ne(right.account, "");
		ck_assert_str_ne(right.table, "");
		ck_assert_str_ne(right.privileges, "");
	}
	rights_end(&rights);
	ck_assert_uint_gt(written, 10);
	ck_assert_uint_eq(read, written);
}
END_TEST

START_TEST(the_wrapper_may_not_change_tables)
{
	struct rights rights;
	struct right right;
	bool found = false;
	rights_begin(&rights);
	while (rights_next(&rights, &right)) {
		if (strcmp(right.account, "oncewrap") != 0)
			continue;
		found = true;
		ck_assert_str_eq(right.privileges, "SELECT, INSERT, UPDATE, DELETE");
		ck_assert_str_ne(right.table, "*");
	}
	rights_end(&rights);
	ck_assert(found);
}
END_TEST

START_TEST(metrics_may_read_no_answer_and_change_nothing)
{
	struct rights rights;
	struct right right;
	static const char *const secrets[] = {"headers",         "body",   "reference",
					      "checkpoint_data", "finger", "digests"};
	bool found = false;
	rights_begin(&rights);
	while (rights_next(&rights, &right)) {
		if (strcmp(right.account, "oncewrap-metrics") != 0)
			continue;
		char *rest = right.privileges;
		const char *privilege = rights_privilege(&rest);
		ck_assert_int_eq(strncmp(privilege, "SELECT", strlen("SELECT")), 0);
		ck_assert_ptr_null(rights_privilege(&rest));
		if (strcmp(right.table, "once_record") != 0)
			continue;
		found = true;
		ck_assert_int_eq(strncmp(privilege, "SELECT (", strlen("SELECT (")), 0);
		for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
			ck_assert_ptr_null(strstr(privilege, secrets[i]));
	}
	rights_end(&rights);
	ck_assert(found);
}
END_TEST

START_TEST(a_list_is_cut_into_its_privileges)
{
	char list[] = "SELECT, CREATE TEMPORARY TABLES ,UPDATE (a, b) ,DELETE";
	static const char *const expected[] = {"SELECT", "CREATE TEMPORARY TABLES", "UPDATE (a, b)",
					       "DELETE"};
	char *rest = list;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		ck_assert_str_eq(rights_privilege(&rest), expected[i]);
	ck_assert_ptr_null(rights_privilege(&rest));
}
END_TEST

static const struct {
	const char *account, *quoted;
} accounts[] = {
    {"oncewrap@localhost", "'oncewrap'@'localhost'"},
    {"a@b@%", "'a@b'@'%'"},
    {"o'neill@10.%", "'o''neill'@'10.%'"},
    {"back\\slash@h", "'back\\\\slash'@'h'"},
    {"@localhost", "''@'localhost'"},
};

START_TEST(an_account_is_quoted_as_sql_takes_it)
{
	struct buffer out = {0};
	rights_quote_account(&out, accounts[_i].account);
	ck_assert_str_eq(buffer_text(&out), accounts[_i].quoted);
	buffer_free(&out);
}
END_TEST

int main(void)
{
	Suite *tests = suite_create("rights");
	TCase *all = tcase_create("rights");
	tcase_add_test(all, every_grant_of_the_file_is_read);
	tcase_add_test(all, the_wrapper_may_not_change_tables);
	tcase_add_test(all, metrics_may_read_no_answer_and_change_nothing);
	tcase_add_test(all, a_list_is_cut_into_its_privileges);
	tcase_add_loop_test(all, an_account_is_quoted_as_sql_takes_it, 0,
			    sizeof(accounts) / sizeof(accounts[0]));
	suite_add_tcase(tests, all);
	return suite_run(tests);
}
