/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "doctor/findings.h"

#include "tests/unit/suite.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *word, *typed, *why;
} words[] = {
    {"/etc/oncewrap.conf", "/etc/oncewrap.conf", "plain"},
    {"", "''", "nothing is a word, too"},
    {"a b", "'a b'", "a blank"},
    {"it's", "'it'\\''s'", "a quote"},
    {"$(id)`id`", "'$(id)`id`'", "what a shell would run"},
    {"a\\b", "'a\\b'", "a backslash"},
    {"a\nb", "'a\nb'", "a line feed is quoted"},
    {"a\033[31m", "$'a\\x1b[31m'", "what a terminal would act on"},
    {"\xff'\\", "$'\\xff\\'\\\\'", "a byte that is no text, beside quotes"},
};

START_TEST(a_word_is_written_as_a_shell_reads_it)
{
	struct buffer out = {0};
	shell_append(&out, words[_i].word);
	ck_assert_msg(strcmp(buffer_text(&out), words[_i].typed) == 0, "%s: %s", words[_i].why,
		      buffer_text(&out));
	buffer_free(&out);
}
END_TEST

/* The proof is a shell's. */
START_TEST(bash_gives_the_word_back)
{
	struct buffer command = {0};
	char found[64] = "";
	buffer_append_text(&command, "exec bash -c ");
	struct buffer inner = {0};
	buffer_append_text(&inner, "printf %s ");
	shell_append(&inner, words[_i].word);
	buffer_append_byte(&command, '\'');
	for (const char *byte = buffer_text(&inner); *byte != '\0'; byte++)
		if (*byte == '\'')
			buffer_append_text(&command, "'\\''");
		else
			buffer_append_byte(&command, (unsigned char)*byte);
	buffer_append_byte(&command, '\'');
	FILE *output = popen(buffer_text(&command), "r");
	ck_assert_ptr_nonnull(output);
	size_t length = fread(found, 1, sizeof(found) - 1, output);
	found[length] = '\0';
	ck_assert_int_eq(pclose(output), 0);
	ck_assert_str_eq(found, words[_i].word);
	buffer_free(&command);
	buffer_free(&inner);
}
END_TEST

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
	enum { WORDS = sizeof(words) / sizeof(words[0]) };
	Suite *tests = suite_create("findings");
	TCase *all = tcase_create("findings");
	tcase_add_loop_test(all, a_word_is_written_as_a_shell_reads_it, 0, WORDS);
	tcase_add_loop_test(all, bash_gives_the_word_back, 0, WORDS);
	tcase_add_test(all, the_command_at_the_end_of_a_message_is_the_cure);
	tcase_add_test(all, a_cure_is_that_of_the_last_finding_and_the_later_one_counts);
	tcase_add_test(all, the_worst_counts_from_where_one_asks);
	suite_add_tcase(tests, all);
	return suite_run(tests);
}
