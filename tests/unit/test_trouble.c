/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/trouble.h"

#include "tests/unit/suite.h"

#include <string.h>

/* docs/design.md section 4, "Errors". */
static const struct {
	unsigned code;
	enum trouble trouble;
	bool doubt;
	const char *cure; /* part of the message */
	const char *why;
} errors[] = {
    {1205, TROUBLE_BUSY, false, "", "somebody is at work on the row"},
    {1213, TROUBLE_DEADLOCK, false, "", "rolled back: nothing happened"},
    {1020, TROUBLE_DEADLOCK, false, "", "innodb_snapshot_isolation: nothing happened"},
    {1969, TROUBLE_STOPPED, true, "disk is slow", "max_statement_time"},
    {1317, TROUBLE_STOPPED, true, "", "KILL QUERY"},
    {2006, TROUBLE_GONE, true, "database runs", "killed while idle"},
    {2013, TROUBLE_GONE, true, "database runs", "killed while at work"},
    {2002, TROUBLE_GONE, false, "database runs", "nothing listens"},
    {1047, TROUBLE_GONE, false, "Galera", "a node outside its cluster does nothing"},
    {1040, TROUBLE_GONE, false, "max_connections", "refused at the door"},
    {1045, TROUBLE_REFUSED, false, "store.option_file", "wrong password"},
    {1049, TROUBLE_REFUSED, false, "once-migrate up", "no such database"},
    {1146, TROUBLE_REFUSED, false, "once-migrate up", "no such table"},
    {1054, TROUBLE_REFUSED, false, "once-migrate up", "no such column"},
    {1142, TROUBLE_REFUSED, false, "grants.sql", "no right on the table"},
    {1290, TROUBLE_REFUSED, false, "read-only", "a replica"},
    {1114, TROUBLE_REFUSED, false, "free space", "table full"},
    {1021, TROUBLE_REFUSED, false, "free space", "disk full"},
    {1665, TROUBLE_REFUSED, false, "binlog_format", "statement format and READ COMMITTED"},
    {2026, TROUBLE_REFUSED, false, "store.tls_ca", "TLS"},
    {1062, TROUBLE_REFUSED, false, "", "not in the table: told as it is"},
    {0, TROUBLE_REFUSED, false, "", "from this side of the connection"},
};

START_TEST(an_error_is_taken_for_what_it_is)
{
	ck_assert_msg(trouble_of(errors[_i].code) == errors[_i].trouble, "%s", errors[_i].why);
	ck_assert_msg(trouble_leaves_doubt(errors[_i].code) == errors[_i].doubt, "%s",
		      errors[_i].why);
}
END_TEST

START_TEST(a_message_keeps_the_servers_words_and_names_the_cure)
{
	struct error error;
	trouble_describe(&error, errors[_i].code, "the server's words");
	ck_assert_int_eq(error.kind, ERROR_STORE);
	ck_assert_ptr_eq(strstr(error.message, "the server's words"), error.message);
	ck_assert_msg(strstr(error.message, errors[_i].cure) != NULL, "%s", error.message);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("trouble");
	TCase *tests = tcase_create("errors");
	tcase_add_loop_test(tests, an_error_is_taken_for_what_it_is, 0, COUNT(errors));
	tcase_add_loop_test(tests, a_message_keeps_the_servers_words_and_names_the_cure, 0,
			    COUNT(errors));
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
