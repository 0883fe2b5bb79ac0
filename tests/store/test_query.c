/* SPDX-License-Identifier: ISC */
/* Statements that admin programs put together: values and rows of any bytes, errors, transactions,
 * and servers that go away or say nothing. */
#include <config.h>

#include "tests/store/themes.h"

#include <mysqld_error.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/query.h"
#include "tests/store/database.h"

static struct config_store config;
static struct connection connection;
static struct query query;
static struct error error;

static void set_up(void)
{
	config = database_config();
	connection_init(&connection, &config, CONNECTION_ADMIN, NULL);
	query_init(&query, &connection);
	database_run("DELETE FROM once_lease");
}

static void tear_down(void)
{
	query_free(&query);
	connection_close(&connection);
	database_leave();
}

/* Numbers from 1, without a right on any table. */
#define SEQUENCE(most)                                                                             \
	"WITH RECURSIVE sequence AS"                                                               \
	" (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM sequence WHERE seq < " #most ") "

static int64_t soon(void)
{
	return clock_now() + PATIENCE;
}

static void write_text(const char *text)
{
	query_clear(&query);
	buffer_append_text(&query.text, text);
}

static void succeed(void)
{
	ck_assert_msg(query_run(&query, soon(), &error) == 0, "%s: %s", buffer_text(&query.text),
		      error.message);
}

static void succeed_with(const char *text)
{
	write_text(text);
	succeed();
}

static void fail_with_code(unsigned code)
{
	ck_assert_int_eq(query_run(&query, soon(), &error), -1);
	ck_assert_msg(connection.code == code, "%u, not %u: %s", connection.code, code,
		      error.message);
}

static void expect_row(void)
{
	ck_assert_msg(query_next(&query, &error), "no row: %s", error.message);
}

static void expect_no_row(void)
{
	ck_assert(!query_next(&query, &error));
	ck_assert_msg(error.kind == ERROR_NONE, "%s", error.message);
}

static void expect_cell(size_t column, const void *data, size_t length)
{
	struct query_cell cell = query_cell(&query, column);
	ck_assert_ptr_nonnull(cell.data);
	ck_assert_uint_eq(cell.length, length);
	ck_assert_int_eq(memcmp(cell.data, data, length), 0);
	ck_assert_int_eq(cell.data[length], '\0');
}

/* A value finds room in the row up to 63 bytes, and is fetched by itself beyond. */
static const size_t lengths[] = {0, 1, 62, 63, 64, 65, 255, 65535, 65536, 1000000};

START_TEST(bytes_come_back_as_they_went_whatever_they_are_and_however_many)
{
	size_t length = lengths[_i];
	char *data = malloc(length + 1);
	ck_assert_ptr_nonnull(data);
	for (size_t i = 0; i < length; i++)
		data[i] = (char)(i % 256); /* begins with a NUL; all bytes are in it */
	write_text("SELECT 'before', ?, OCTET_LENGTH(?), 'behind'");
	query_add_bytes(&query, data, length);
	query_add_bytes(&query, data, length);
	succeed();
	expect_row();
	expect_cell(0, "before", 6);
	expect_cell(1, data, length);
	ck_assert_int_eq(query_number(&query, 2), (int64_t)length);
	expect_cell(3, "behind", 6);
	expect_no_row();
	free(data);
}
END_TEST

START_TEST(what_looks_like_sql_is_a_value)
{
	const char *value = "'; DROP TABLE once_lease; -- \\' \" ` ? %s";
	write_text("SELECT ?, ?");
	query_add_text(&query, value);
	query_add_text(&query, "");
	succeed();
	expect_row();
	expect_cell(0, value, strlen(value));
	expect_cell(1, "", 0);
}
END_TEST

static const int64_t numbers[] = {0, 1, -1, INT64_MAX, INT64_MIN, 1234567890123};

START_TEST(a_number_comes_back_as_that_number)
{
	write_text("SELECT ?, ? + 0");
	query_add_number(&query, numbers[_i]);
	query_add_number(&query, numbers[_i]);
	succeed();
	expect_row();
	ck_assert_int_eq(query_number(&query, 0), numbers[_i]);
	ck_assert_int_eq(query_number(&query, 1), numbers[_i]);
}
END_TEST

START_TEST(null_is_told_from_nothing_and_from_zero)
{
	write_text("SELECT ?, ?, ?, ? IS NULL, ? IS NULL");
	query_add_null(&query);
	query_add_bytes(&query, NULL, 0);
	query_add_number(&query, 0);
	query_add_null(&query);
	query_add_bytes(&query, NULL, 0);
	succeed();
	expect_row();
	ck_assert_ptr_null(query_cell(&query, 0).data);
	ck_assert_int_eq(query_number(&query, 0), 0);
	expect_cell(1, "", 0);
	expect_cell(2, "0", 1);
	ck_assert_int_eq(query_number(&query, 3), 1);
	ck_assert_int_eq(query_number(&query, 4), 0);
}
END_TEST

START_TEST(times_are_in_the_words_of_the_database)
{
	succeed_with("SELECT TIMESTAMP'2040-02-29 23:59:59.000007', CAST('2026-01-01' AS DATE)");
	expect_row();
	expect_cell(0, "2040-02-29 23:59:59.000007", 26);
	expect_cell(1, "2026-01-01", 10);
}
END_TEST

START_TEST(a_row_does_not_see_what_was_in_the_one_before)
{
	succeed_with(SEQUENCE(900) "SELECT IF(seq % 3 = 0, NULL,"
				   " REPEAT(seq % 10, IF(seq % 2 = 0, 5000, 3))) FROM sequence");
	for (int row = 1; row <= 900; row++) {
		expect_row();
		struct query_cell cell = query_cell(&query, 0);
		ck_assert_int_eq(cell.data == NULL, row % 3 == 0);
		if (cell.data == NULL)
			continue;
		ck_assert_uint_eq(cell.length, row % 2 == 0 ? 5000 : 3);
		for (size_t i = 0; i < cell.length; i++)
			ck_assert_int_eq(cell.data[i], '0' + row % 10);
		ck_assert_int_eq(cell.data[cell.length], '\0');
	}
	expect_no_row();
}
END_TEST

START_TEST(the_rows_that_a_statement_changed_are_counted)
{
	const char *once = "INSERT IGNORE INTO once_lease (token, lease_until) " SEQUENCE(
	    10) "SELECT UNHEX(MD5(seq)), '2026-01-01' FROM sequence";
	succeed_with(once);
	ck_assert_uint_eq(query_changed(&query), 10);
	expect_no_row();
	succeed_with(once);
	ck_assert_uint_eq(query_changed(&query), 0);
	write_text("UPDATE once_lease SET lease_until = ? WHERE token IN (?, ?)");
	query_add_text(&query, "2026-01-02");
	query_add_bytes(&query, "\xc4\xca\x42\x38\xa0\xb9\x23\x82\x0d\xcc\x50\x9a\x6f\x75\x84\x9b",
			16);
	query_add_bytes(&query, "none", 4);
	succeed();
	ck_assert_uint_eq(query_changed(&query), 1);
	succeed_with("DELETE FROM once_lease");
	ck_assert_uint_eq(query_changed(&query), 10);
}
END_TEST

START_TEST(a_refused_statement_says_why_and_the_next_one_is_done)
{
	write_text("SELECT FROM WHERE");
	fail_with_code(ER_PARSE_ERROR);
	ck_assert_ptr_nonnull(strstr(error.message, "(1064)"));
	expect_no_row();
	write_text("INSERT INTO once_lease (token, lease_until) VALUES (?, '2026-01-01')");
	query_add_text(&query, "twice");
	succeed();
	fail_with_code(ER_DUP_ENTRY);
	write_text("SELECT * FROM once_schema");
	fail_with_code(ER_TABLEACCESS_DENIED_ERROR);
	ck_assert_ptr_nonnull(strstr(error.message, "sql/grants.sql"));
	ck_assert(connection.open);
	succeed_with("SELECT 1");
	ck_assert_uint_eq(connection.code, 0);
	expect_row();
}
END_TEST

START_TEST(an_error_inside_a_result_leaves_the_connection_usable)
{
	write_text(SEQUENCE(2) "SELECT (SELECT seq FROM sequence WHERE seq >= s.seq)"
			       " FROM sequence AS s");
	fail_with_code(ER_SUBQUERY_NO_1_ROW);
	succeed_with("SELECT 7");
	expect_row();
	ck_assert_int_eq(query_number(&query, 0), 7);
}
END_TEST

START_TEST(more_than_the_server_takes_is_refused_before_it_is_sent)
{
	size_t length = (size_t)database_number("SELECT @@max_allowed_packet") + 1;
	char *data = calloc(length, 1);
	ck_assert_ptr_nonnull(data);
	succeed_with("SELECT CONNECTION_ID()");
	expect_row();
	int64_t before = query_number(&query, 0);
	write_text("SELECT OCTET_LENGTH(?)");
	query_add_bytes(&query, data, length);
	ck_assert_int_eq(query_run(&query, soon(), &error), -1);
	ck_assert_int_eq(error.kind, ERROR_LIMIT);
	ck_assert_ptr_nonnull(strstr(error.message, "max_allowed_packet"));
	succeed_with("SELECT CONNECTION_ID()");
	expect_row();
	ck_assert_int_eq(query_number(&query, 0), before);
	free(data);
}
END_TEST

static void add_lease(const char *token)
{
	write_text("INSERT INTO once_lease (token, lease_until) VALUES (?, '2026-01-01')");
	query_add_text(&query, token);
	succeed();
}

static int64_t leases(void)
{
	return database_number("SELECT COUNT(*) FROM once_lease");
}

START_TEST(a_transaction_is_done_whole_or_not_at_all)
{
	ck_assert_int_eq(query_begin(&connection, soon(), &error), 0);
	add_lease("one");
	add_lease("two");
	ck_assert_int_eq(leases(), 0);
	query_rollback(&connection, soon());
	ck_assert_int_eq(leases(), 0);
	ck_assert_int_eq(query_begin(&connection, soon(), &error), 0);
	add_lease("one");
	add_lease("two");
	ck_assert_int_eq(query_commit(&connection, soon(), &error), 0);
	ck_assert_int_eq(leases(), 2);
}
END_TEST

START_TEST(a_rollback_keeps_the_number_of_what_it_is_for)
{
	ck_assert_int_eq(query_begin(&connection, soon(), &error), 0);
	add_lease("one");
	fail_with_code(ER_DUP_ENTRY);
	query_rollback(&connection, soon());
	ck_assert_uint_eq(connection.code, ER_DUP_ENTRY);
	ck_assert_int_eq(leases(), 0);
}
END_TEST

static void kill_connection(void)
{
	succeed_with("SELECT CONNECTION_ID()");
	expect_row();
	database_run("KILL %s", query_cell(&query, 0).data);
	while (database_number("SELECT COUNT(*) FROM information_schema.processlist WHERE id = %s",
			       query_cell(&query, 0).data) > 0)
		;
}

START_TEST(a_lost_connection_fails_the_statement_and_is_made_anew_for_the_next)
{
	kill_connection();
	write_text("SELECT 1");
	ck_assert_int_eq(query_run(&query, soon(), &error), -1);
	ck_assert_uint_ne(connection.code, 0);
	ck_assert(!connection.open);
	expect_no_row();
	succeed();
	expect_row();
}
END_TEST

START_TEST(what_was_begun_on_a_lost_connection_is_not_gone_on_with_on_another)
{
	ck_assert_int_eq(query_begin(&connection, soon(), &error), 0);
	add_lease("one");
	kill_connection();
	write_text("INSERT INTO once_lease (token, lease_until) VALUES ('two', '2026-01-01')");
	ck_assert_int_eq(query_run(&query, soon(), &error), -1);
	query_rollback(&connection, soon());
	ck_assert_int_eq(leases(), 0);
}
END_TEST

START_TEST(rows_of_a_connection_that_was_given_up_are_an_error)
{
	succeed_with(SEQUENCE(3) "SELECT REPEAT('x', 100000) FROM sequence");
	expect_row();
	connection_drop(&connection);
	ck_assert(!query_next(&query, &error));
	ck_assert_int_eq(error.kind, ERROR_STORE);
	expect_no_row();
}
END_TEST

/* A server that accepts and says nothing. */
static void fall_silent(int64_t deadline, int64_t least, int64_t most)
{
	succeed_with("SELECT 1");
	database_leave();
	database_server("freeze");
	write_text("SELECT 2");
	int64_t began = clock_now();
	int result = query_run(&query, deadline, &error);
	int64_t spent = clock_now() - began;
	database_server("thaw");
	ck_assert_int_eq(result, -1);
	ck_assert_msg(spent >= least && spent < most, "%lld ms", (long long)spent);
	ck_assert(!connection.open);
	ck_assert_uint_ne(connection.code, 0);
	succeed();
	expect_row();
}

START_TEST(a_silent_server_is_waited_for_as_long_as_was_configured)
{
	config.read_timeout = config.connect_timeout = 2000;
	fall_silent(CLOCK_NEVER, 1900, 10000);
}
END_TEST

START_TEST(a_silent_server_is_not_waited_for_beyond_the_deadline)
{
	fall_silent(clock_now() + 1000, 0, 10000);
}
END_TEST

START_TEST(a_slow_statement_is_stopped_by_the_server_and_the_connection_lives)
{
	config.read_timeout = 2000;
	/* SLEEP alone would end early without an error. */
	write_text(SEQUENCE(1000) "SELECT COUNT(*) FROM sequence AS a, sequence AS b,"
				  " sequence AS c WHERE a.seq + b.seq + c.seq = 0");
	fail_with_code(ER_STATEMENT_TIMEOUT);
	ck_assert(connection.open);
	succeed_with("SELECT 1");
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

TCase *query_tests(void)
{
	TCase *tests = tcase_create("query");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, bytes_come_back_as_they_went_whatever_they_are_and_however_many,
			    0, COUNT(lengths));
	tcase_add_test(tests, what_looks_like_sql_is_a_value);
	tcase_add_loop_test(tests, a_number_comes_back_as_that_number, 0, COUNT(numbers));
	tcase_add_test(tests, null_is_told_from_nothing_and_from_zero);
	tcase_add_test(tests, times_are_in_the_words_of_the_database);
	tcase_add_test(tests, a_row_does_not_see_what_was_in_the_one_before);
	tcase_add_test(tests, the_rows_that_a_statement_changed_are_counted);
	tcase_add_test(tests, a_refused_statement_says_why_and_the_next_one_is_done);
	tcase_add_test(tests, an_error_inside_a_result_leaves_the_connection_usable);
	tcase_add_test(tests, more_than_the_server_takes_is_refused_before_it_is_sent);
	tcase_add_test(tests, a_transaction_is_done_whole_or_not_at_all);
	tcase_add_test(tests, a_rollback_keeps_the_number_of_what_it_is_for);
	tcase_add_test(tests, a_lost_connection_fails_the_statement_and_is_made_anew_for_the_next);
	tcase_add_test(tests, what_was_begun_on_a_lost_connection_is_not_gone_on_with_on_another);
	tcase_add_test(tests, rows_of_a_connection_that_was_given_up_are_an_error);
	tcase_add_test(tests, a_silent_server_is_waited_for_as_long_as_was_configured);
	tcase_add_test(tests, a_silent_server_is_not_waited_for_beyond_the_deadline);
	tcase_add_test(tests, a_slow_statement_is_stopped_by_the_server_and_the_connection_lives);
	return tests;
}
