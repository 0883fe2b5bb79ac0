/* SPDX-License-Identifier: ISC */
/* What a person must cure: told with the cure, and over as soon as it is cured (docs/design.md
 * section 4, "Errors"). */
#include <config.h>

#include "tests/store/themes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/store/database.h"

static struct config_store config;
static struct store *store;
static struct record record;
static struct store_claim claim;

static void set_up(void)
{
	config = database_config();
	store = store_new(&config);
	ck_assert_ptr_nonnull(store);
	record_init(&record);
	claim = claim_new();
}

static void tear_down(void)
{
	record_free(&record);
	store_free(store);
	database_leave();
}

static enum store_result claim_now(void)
{
	return store_claim(store, &claim, &record, clock_now() + PATIENCE, test_error());
}

static const struct {
	const char *ill, *well; /* what makes it so, and what takes it back */
	const char *code;
	const char *cure;
} illnesses[] = {
    {"RENAME TABLE once_record TO once_moved", "RENAME TABLE once_moved TO once_record", "(1146)",
     "once-migrate up"},
    {"ALTER TABLE once_record RENAME COLUMN flags TO banners",
     "ALTER TABLE once_record RENAME COLUMN banners TO flags", "(1054)", "once-migrate up"},
    {"REVOKE INSERT ON once_record FROM 'oncewrap'@'localhost'",
     "GRANT INSERT ON once_record TO 'oncewrap'@'localhost'", "(1142)", "sql/grants.sql"},
    {"SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0", "(1290)", "read-only"},
};

#define ILLNESSES ((int)(sizeof(illnesses) / sizeof(illnesses[0])))

START_TEST(what_a_person_must_cure_is_told_at_once_with_the_cure)
{
	database_run("%s", illnesses[_i].ill);
	int64_t begin = clock_now();
	enum store_result result = claim_now();
	int64_t waited = clock_now() - begin;
	database_run("%s", illnesses[_i].well);
	ck_assert_int_eq(result, STORE_DOWN);
	ck_assert_int_eq(test_error()->kind, ERROR_STORE);
	ck_assert_msg(strstr(test_error()->message, illnesses[_i].code) != NULL, "%s",
		      test_error()->message);
	ck_assert_msg(strstr(test_error()->message, illnesses[_i].cure) != NULL, "%s",
		      test_error()->message);
	ck_assert_int_lt(waited, PATIENCE / 4);
	expect(claim_now(), STORE_DONE);
	ck_assert(is_mine(&record, &claim));
}
END_TEST

START_TEST(a_cure_works_on_a_connection_whose_statements_are_prepared)
{
	struct store_claim first = claim_new();
	claim_first(store, &first);
	database_run("%s", illnesses[_i].ill);
	enum store_result result = claim_now();
	database_run("%s", illnesses[_i].well);
	ck_assert_int_eq(result, STORE_DOWN);
	expect(claim_now(), STORE_DONE);
	settle_with(store, &claim, 200, "");
}
END_TEST

START_TEST(a_table_altered_under_a_prepared_statement_is_no_error)
{
	struct store_claim first = claim_new();
	claim_first(store, &first);
	database_run("ALTER TABLE once_record ADD COLUMN more INT NULL FIRST");
	enum store_result result = claim_now();
	database_run("ALTER TABLE once_record DROP COLUMN more");
	ck_assert_int_eq(result, STORE_DONE);
	settle_with(store, &claim, 200, "made");
}
END_TEST

START_TEST(a_locked_table_makes_a_claim_busy)
{
	config.read_timeout = 2000;
	database_run("LOCK TABLES once_record WRITE");
	enum store_result result = claim_now();
	database_run("UNLOCK TABLES");
	ck_assert_int_eq(result, STORE_BUSY);
	expect(claim_now(), STORE_DONE);
}
END_TEST

static char option_file[128];

static void write_option_file(const char *user, const char *password, mode_t mode)
{
	snprintf(option_file, sizeof(option_file), "%s/bad.cnf", getenv("STORE_SCRATCH"));
	FILE *file = fopen(option_file, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "[oncewrap]\nuser=%s\npassword=%s\n", user, password);
	fclose(file);
	ck_assert_int_eq(chmod(option_file, mode), 0);
	config.option_file = option_file;
}

static void check_down(const char *message)
{
	int64_t begin = clock_now();
	expect(claim_now(), STORE_DOWN);
	ck_assert_msg(strstr(test_error()->message, message) != NULL, "%s", test_error()->message);
	ck_assert_int_lt(clock_now() - begin, PATIENCE / 4);
}

START_TEST(a_wrong_password_points_to_the_option_file)
{
	write_option_file("oncewrap", "wrong", 0600);
	check_down("store.option_file");
}
END_TEST

START_TEST(an_option_file_that_everybody_may_read_is_refused)
{
	write_option_file("oncewrap", "wrong", 0644);
	check_down("chmod");
}
END_TEST

START_TEST(a_missing_option_file_is_refused)
{
	static char missing[] = "/nonexistent/once.cnf";
	config.option_file = missing;
	check_down("/nonexistent/once.cnf");
}
END_TEST

START_TEST(an_option_file_without_the_group_is_refused)
{
	static char another[] = "another";
	config.option_group = another;
	check_down("has no group [another]");
}
END_TEST

START_TEST(a_database_that_is_not_ours_is_refused)
{
	static char elsewhere[] = "somebody_elses";
	config.database = elsewhere;
	check_down("sql/grants.sql");
}
END_TEST

START_TEST(a_socket_where_nobody_listens_is_told_by_name)
{
	static char silent[] = "/nonexistent/mysqld.sock";
	config.socket = silent;
	expect(store_connect(store, clock_now() + PATIENCE, test_error()), STORE_DOWN);
	ck_assert_msg(strstr(test_error()->message, "/nonexistent/mysqld.sock") != NULL, "%s",
		      test_error()->message);
	ck_assert_ptr_nonnull(strstr(test_error()->message, "store.socket"));
}
END_TEST

START_TEST(the_configured_user_wins_over_that_of_the_option_file)
{
	static char somebody[] = "somebody";
	config.user = somebody;
	check_down("'somebody'");
}
END_TEST

START_TEST(without_a_user_the_running_account_logs_in)
{
	static char none[] = "";
	config.option_file = none;
	expect(claim_now(), STORE_DONE);
}
END_TEST

TCase *refused_tests(void)
{
	TCase *tests = tcase_create("refused");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, what_a_person_must_cure_is_told_at_once_with_the_cure, 0,
			    ILLNESSES);
	tcase_add_loop_test(tests, a_cure_works_on_a_connection_whose_statements_are_prepared, 0,
			    ILLNESSES);
	tcase_add_test(tests, a_table_altered_under_a_prepared_statement_is_no_error);
	tcase_add_test(tests, a_locked_table_makes_a_claim_busy);
	tcase_add_test(tests, a_wrong_password_points_to_the_option_file);
	tcase_add_test(tests, an_option_file_that_everybody_may_read_is_refused);
	tcase_add_test(tests, a_missing_option_file_is_refused);
	tcase_add_test(tests, an_option_file_without_the_group_is_refused);
	tcase_add_test(tests, a_database_that_is_not_ours_is_refused);
	tcase_add_test(tests, a_socket_where_nobody_listens_is_told_by_name);
	tcase_add_test(tests, the_configured_user_wins_over_that_of_the_option_file);
	tcase_add_test(tests, without_a_user_the_running_account_logs_in);
	return tests;
}
