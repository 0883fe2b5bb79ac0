/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/option_file.h"

#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64];
static char path[96];

static void make_directory(void)
{
	snprintf(directory, sizeof(directory), "/tmp/option_file.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/once.cnf", directory);
}

static void remove_directory(void)
{
	unlink(path);
	ck_assert_int_eq(rmdir(directory), 0);
}

static void write_file(const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

static const struct {
	const char *text;
	bool found;
	const char *user;
	const char *password;
	const char *why;
} good[] = {
    {"", false, NULL, NULL, "empty"},
    {"[client]\nuser=x\npassword=y\nssl-ca=z\n", false, NULL, NULL, "another's group"},
    {"[oncewrap]\n", true, NULL, NULL, "an empty group"},
    {"[oncewrap]\nuser=u\npassword=p\n", true, "u", "p", "plain"},
    {"[oncewrap]\nuser=u\npassword=p", true, "u", "p", "no newline at the end"},
    {"  [ oncewrap ] \r\n user = u \r\n\tpassword =\tp w \r\n", true, "u", "p w", "blanks, CRLF"},
    {"# c\n; c\n[oncewrap]\n# user=no\nuser=u\n", true, "u", NULL, "comments"},
    {"[oncewrap]\nuser='u'\npassword=\" p \"\n", true, "u", " p ", "quotes"},
    {"[oncewrap]\npassword=a=b#c;d\n", true, NULL, "a=b#c;d", "=, # and ; inside a value"},
    {"[oncewrap]\npassword=a\\\\b\\tc\\s\\\"\\'\\x\\\n", true, NULL, "a\\b\tc \"'\\x\\",
     "escapes as the clients read them"},
    {"[oncewrap]\npassword=\n", true, NULL, "", "an empty password is one"},
    {"[oncewrap]\nuser=a\nuser=b\n", true, "b", NULL, "the last one counts"},
    {"[client]\nuser=x\n[oncewrap]\nuser=u\n[mysqld]\nuser=y\n", true, "u", NULL,
     "only between its head and the next"},
    {"[oncewrap]\nuser=u\n[other]\n[oncewrap]\npassword=p\n", true, "u", "p", "in two pieces"},
    {"[oncewrap-admin]\nuser=a\n", false, NULL, NULL, "a longer name is another name"},
};

static void check_text(const char *found, const char *expected, const char *why)
{
	ck_assert_msg((found == NULL) == (expected == NULL), "%s", why);
	if (expected != NULL)
		ck_assert_str_eq(found, expected);
}

START_TEST(the_groups_user_and_password_are_read)
{
	struct credentials credentials;
	struct error error = {0};
	bool found;
	write_file(good[_i].text, 0600);
	ck_assert_msg(option_file_read(path, "oncewrap", &credentials, &found, &error) == 0,
		      "%s: %s", good[_i].why, error.message);
	ck_assert_msg(found == good[_i].found, "%s", good[_i].why);
	check_text(credentials.user, good[_i].user, good[_i].why);
	check_text(credentials.password, good[_i].password, good[_i].why);
	credentials_free(&credentials);
}
END_TEST

static const struct {
	const char *text;
	const char *message; /* part of it */
} bad[] = {
    {"[oncewrap]\nuser=u\nhost=x\n", "once.cnf:3:"},
    {"[oncewrap]\nssl-verify-server-cert=0\n", "oncewrap.conf"},
    {"[oncewrap]\nuser\n", "once.cnf:2:"},
    {"!include /etc/other.cnf\n", "!include"},
    {"[client]\n!includedir /etc/mysql\n", "once.cnf:2:"},
    {"[oncewrap\nuser=u\n", "without its ]"},
};

START_TEST(what_would_be_passed_over_in_silence_is_refused)
{
	struct credentials credentials;
	struct error error = {0};
	bool found;
	write_file(bad[_i].text, 0600);
	ck_assert_int_eq(option_file_read(path, "oncewrap", &credentials, &found, &error), -1);
	ck_assert_msg(strstr(error.message, bad[_i].message) != NULL, "%s", error.message);
	ck_assert_ptr_null(credentials.user);
}
END_TEST

static const struct {
	mode_t mode;
	bool accepted;
} modes[] = {
    {0600, true},  {0400, true},  {0640, true},  {0440, true},  {0644, false},
    {0604, false}, {0660, false}, {0602, false}, {0666, false},
};

START_TEST(a_file_that_others_may_write_or_everybody_may_read_is_refused)
{
	struct credentials credentials;
	struct error error = {0};
	bool found;
	write_file("[oncewrap]\nuser=u\n", modes[_i].mode);
	int result = option_file_read(path, "oncewrap", &credentials, &found, &error);
	ck_assert_msg((result == 0) == modes[_i].accepted, "mode %o", (unsigned)modes[_i].mode);
	if (!modes[_i].accepted)
		ck_assert_msg(strstr(error.message, "chmod") != NULL, "%s", error.message);
	credentials_free(&credentials);
}
END_TEST

static void check_refused(const char *name, const char *message)
{
	struct credentials credentials;
	struct error error = {0};
	bool found;
	ck_assert_int_eq(option_file_read(name, "oncewrap", &credentials, &found, &error), -1);
	ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
}

START_TEST(only_a_regular_file_of_that_very_name_is_read)
{
	check_refused("once.cnf", "absolute path");
	check_refused(path, "No such file");
	check_refused(directory, "not a regular file");
	ck_assert_int_eq(symlink("/dev/null", path), 0);
	check_refused(path, "symbolic link");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	check_refused(path, "not a regular file");
}
END_TEST

START_TEST(a_file_of_another_account_is_refused)
{
	if (geteuid() != 0)
		return; /* nobody else can make one */
	write_file("[oncewrap]\nuser=u\n", 0600);
	ck_assert_int_eq(chown(path, 65534, 65534), 0);
	check_refused(path, "chown root");
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("option_file");
	TCase *tests = tcase_create("option_file");
	tcase_add_checked_fixture(tests, make_directory, remove_directory);
	tcase_add_loop_test(tests, the_groups_user_and_password_are_read, 0, COUNT(good));
	tcase_add_loop_test(tests, what_would_be_passed_over_in_silence_is_refused, 0, COUNT(bad));
	tcase_add_loop_test(tests, a_file_that_others_may_write_or_everybody_may_read_is_refused, 0,
			    COUNT(modes));
	tcase_add_test(tests, only_a_regular_file_of_that_very_name_is_read);
	tcase_add_test(tests, a_file_of_another_account_is_refused);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
