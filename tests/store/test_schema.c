/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "tests/store/themes.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/schema.h"
#include "tests/store/database.h"

/* A database of its own, as the server's administrator. */
#define DATABASE "oncewrap_schema"

static struct config_store config;
static struct connection connection;
static struct schema schema;
static unsigned applied;

static void set_up(void)
{
	static char none[] = "", name[] = DATABASE;
	config = database_config();
	config.option_file = none;
	config.database = name;
	database_run("DROP DATABASE IF EXISTS " DATABASE);
	database_run("CREATE DATABASE " DATABASE);
	connection_init(&connection, &config, CONNECTION_MIGRATION, NULL);
	applied = 0;
}

static void tear_down(void)
{
	schema_free(&schema);
	connection_close(&connection);
	database_run("DROP DATABASE " DATABASE);
	database_leave();
}

static void count(void *context, const struct migration *migration)
{
	(void)context;
	(void)migration;
	applied++;
}

static enum schema_result up(void)
{
	return schema_up(&connection, "the tests", 60, count, NULL, test_error());
}

static enum schema_status read_status(void)
{
	schema_free(&schema);
	ck_assert_msg(schema_read(&connection, &schema, clock_now() + PATIENCE, test_error()) == 0,
		      "%s", test_error()->message);
	return schema_overall(&schema);
}

START_TEST(an_empty_database_is_pending_and_reading_writes_nothing)
{
	ck_assert_int_eq(read_status(), SCHEMA_PENDING);
	ck_assert_uint_eq(schema.count, migration_count - 1);
	ck_assert_uint_eq(schema.entries[0].version, 1);
	ck_assert_int_eq(schema.entries[0].applied_ms, 0);
	ck_assert_int_eq(database_number("SELECT COUNT(*) FROM information_schema.TABLES"
					 " WHERE TABLE_SCHEMA = '" DATABASE "'"),
			 0);
}
END_TEST

START_TEST(up_applies_what_is_pending_and_records_it)
{
	ck_assert_msg(up() == SCHEMA_DONE, "%s", test_error()->message);
	ck_assert_uint_eq(applied, migration_count - 1);
	ck_assert_int_eq(read_status(), SCHEMA_APPLIED);
	ck_assert_str_eq(schema.entries[0].file, "0001-records.sql");
	ck_assert_str_eq(schema.entries[0].applied_by, "the tests");
	ck_assert_int_eq(
	    schema.entries[0].applied_ms,
	    database_number("SELECT FLOOR(UNIX_TIMESTAMP(applied_at) * 1000) FROM " DATABASE
			    ".once_schema"));
	ck_assert_str_eq(database_text("SELECT GROUP_CONCAT(TABLE_NAME ORDER BY TABLE_NAME) FROM"
				       " information_schema.TABLES WHERE TABLE_SCHEMA = '" DATABASE
				       "'"),
			 "once_audit,once_lease,once_maintenance,once_natural_key,once_record,"
			 "once_schema");
}
END_TEST

START_TEST(up_a_second_time_changes_nothing)
{
	ck_assert_int_eq(up(), SCHEMA_DONE);
	char before[64];
	snprintf(before, sizeof(before), "%s",
		 database_text("SELECT applied_at FROM " DATABASE ".once_schema"));
	applied = 0;
	ck_assert_int_eq(up(), SCHEMA_DONE);
	ck_assert_uint_eq(applied, 0);
	ck_assert_str_eq(database_text("SELECT applied_at FROM " DATABASE ".once_schema"), before);
}
END_TEST

START_TEST(of_several_at_once_one_applies_and_all_are_content)
{
	enum { SEVERAL = 6 };
	pid_t children[SEVERAL];
	database_leave();
	for (int i = 0; i < SEVERAL; i++) {
		children[i] = fork();
		ck_assert_int_ge(children[i], 0);
		if (children[i] == 0)
			_exit(up() == SCHEMA_DONE ? (int)(10 + applied) : 1);
	}
	unsigned total = 0;
	for (int i = 0; i < SEVERAL; i++) {
		int status;
		ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) >= 10);
		total += (unsigned)WEXITSTATUS(status) - 10;
	}
	ck_assert_uint_eq(total, migration_count - 1);
	ck_assert_int_eq(read_status(), SCHEMA_APPLIED);
}
END_TEST

static const struct {
	const char *change;
	enum schema_status status;
} states[] = {
    {"UPDATE " DATABASE ".once_schema SET dirty = TRUE WHERE version = 1", SCHEMA_DIRTY},
    {"UPDATE " DATABASE ".once_schema SET checksum = REPEAT('x', 32) WHERE version = 1",
     SCHEMA_CHANGED},
    {"INSERT INTO " DATABASE ".once_schema VALUES (999, '0999-later.sql', REPEAT('x', 32), FALSE,"
     " UTC_TIMESTAMP(6), 'a later version')",
     SCHEMA_NEWER},
    {"INSERT INTO " DATABASE ".once_schema VALUES (999, '0999-later.sql', REPEAT('x', 32), TRUE,"
     " UTC_TIMESTAMP(6), 'a later version')",
     SCHEMA_NEWER},
};

START_TEST(what_a_person_must_look_at_is_told_and_left_alone)
{
	ck_assert_int_eq(up(), SCHEMA_DONE);
	database_run("%s", states[_i].change);
	ck_assert_int_eq(read_status(), states[_i].status);
	applied = 0;
	ck_assert_int_eq(up(), SCHEMA_REFUSED);
	ck_assert_uint_eq(applied, 0);
	ck_assert_ptr_nonnull(strstr(test_error()->message, schema_status_name(states[_i].status)));
}
END_TEST

START_TEST(a_migration_that_is_cut_short_stays_marked_and_names_the_statement)
{
	database_run("CREATE TABLE " DATABASE ".once_maintenance (other INT)");
	ck_assert_int_eq(up(), SCHEMA_FAILED);
	ck_assert_msg(strstr(test_error()->message, "0001-records.sql, statement 6") != NULL, "%s",
		      test_error()->message);
	ck_assert_int_eq(read_status(), SCHEMA_DIRTY);
	/* mended, and its mark taken away: what is there is passed over */
	database_run("DROP TABLE " DATABASE ".once_maintenance");
	database_run("DELETE FROM " DATABASE ".once_schema WHERE version = 1");
	ck_assert_msg(up() == SCHEMA_DONE, "%s", test_error()->message);
}
END_TEST

START_TEST(a_lock_that_is_held_is_not_waited_for_longer_than_asked)
{
	database_run("DO GET_LOCK('oncewrap-migrate:" DATABASE "', 0)");
	ck_assert_int_eq(schema_up(&connection, "", 0, count, NULL, test_error()), SCHEMA_LOCKED);
	database_run("DO RELEASE_LOCK('oncewrap-migrate:" DATABASE "')");
	ck_assert_int_eq(up(), SCHEMA_DONE);
}
END_TEST

START_TEST(the_migration_accounts_rights_are_enough)
{
	struct config_store granted = database_config();
	struct connection own;
	connection_init(&own, &granted, CONNECTION_MIGRATION, "oncewrap-migrate");
	ck_assert_msg(schema_up(&own, "the tests", 60, count, NULL, test_error()) == SCHEMA_DONE,
		      "%s", test_error()->message);
	ck_assert_str_eq(database_text("SELECT USER FROM information_schema.PROCESSLIST"
				       " WHERE USER LIKE 'oncewrap%%'"),
			 "oncewrap-migrate");
	connection_close(&own);
}
END_TEST

TCase *schema_tests(void)
{
	TCase *tests = tcase_create("schema");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, an_empty_database_is_pending_and_reading_writes_nothing);
	tcase_add_test(tests, up_applies_what_is_pending_and_records_it);
	tcase_add_test(tests, up_a_second_time_changes_nothing);
	tcase_add_test(tests, of_several_at_once_one_applies_and_all_are_content);
	tcase_add_loop_test(tests, what_a_person_must_look_at_is_told_and_left_alone, 0,
			    (int)(sizeof(states) / sizeof(states[0])));
	tcase_add_test(tests, a_migration_that_is_cut_short_stays_marked_and_names_the_statement);
	tcase_add_test(tests, a_lock_that_is_held_is_not_waited_for_longer_than_asked);
	tcase_add_test(tests, the_migration_accounts_rights_are_enough);
	return tests;
}
