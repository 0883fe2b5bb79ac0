/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/shell.h"

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
    {"a\nb", "$'a\\x0ab'", "a line feed, which a line of output cannot hold"},
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

int main(void)
{
	enum { WORDS = sizeof(words) / sizeof(words[0]) };
	Suite *tests = suite_create("shell");
	TCase *all = tcase_create("shell");
	tcase_add_loop_test(all, a_word_is_written_as_a_shell_reads_it, 0, WORDS);
	tcase_add_loop_test(all, bash_gives_the_word_back, 0, WORDS);
	suite_add_tcase(tests, all);
	return suite_run(tests);
}
