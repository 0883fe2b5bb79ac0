/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/harmless.h"

#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text;
	size_t length;     /* 0: strlen */
	const char *utf8;  /* where the reader takes UTF-8 */
	const char *ascii; /* where he does not; NULL: the same */
	const char *why;
} texts[] = {
    {"", 0, "", NULL, "nothing"},
    {"order-17 ~", 0, "order-17 ~", NULL, "all of ASCII that is seen, blanks too"},
    {"\\", 0, "\\\\", NULL, "a backslash, or the escapes could be forged"},
    {"\\x1b", 0, "\\\\x1b", NULL, "what looks like an escape"},
    {"\x1b[31m", 0, "\\x1b[31m", NULL, "ESC"},
    {"a\nb\r\t", 0, "a\\x0ab\\x0d\\x09", NULL, "ends of lines, tabs"},
    {"a\0b", 3, "a\\x00b", NULL, "NUL"},
    {"\x7f", 0, "\\x7f", NULL, "DEL"},
    {"\xc2\x80\xc2\x9b\xc2\x9f", 0, "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f", NULL, "C1 controls"},
    {"\xc2\xa0", 0, "\xc2\xa0", "\\xc2\\xa0", "the first behind them"},
    {"\xc3\xa9", 0, "\xc3\xa9", "\\xc3\\xa9", "two bytes"},
    {"\xe2\x82\xac", 0, "\xe2\x82\xac", "\\xe2\\x82\\xac", "three bytes"},
    {"\xf0\x9f\x98\x80", 0, "\xf0\x9f\x98\x80", "\\xf0\\x9f\\x98\\x80", "four bytes"},
    {"\xe2\x80\x8b", 0, "\\xe2\\x80\\x8b", NULL, "a space of no width"},
    {"\xe2\x80\xa8", 0, "\\xe2\\x80\\xa8", NULL, "a line separator"},
    {"\xe2\x80\xae", 0, "\\xe2\\x80\\xae", NULL, "the other writing direction"},
    {"\xe2\x81\xa6", 0, "\\xe2\\x81\\xa6", NULL, "a direction isolate"},
    {"\xef\xbb\xbf", 0, "\\xef\\xbb\\xbf", NULL, "a byte order mark"},
    {"\xf3\xa0\x81\x81", 0, "\\xf3\\xa0\\x81\\x81", NULL, "a tag, which is not seen"},
    {"\x80", 0, "\\x80", NULL, "a continuation without its lead"},
    {"\xc3", 0, "\\xc3", NULL, "a lead at the end"},
    {"\xc3(", 0, "\\xc3(", NULL, "a lead without its continuation: the next is not eaten"},
    {"\xc0\xaf", 0, "\\xc0\\xaf", NULL, "an overlong form"},
    {"\xed\xa0\x80", 0, "\\xed\\xa0\\x80", NULL, "a surrogate"},
    {"\xf4\x90\x80\x80", 0, "\\xf4\\x90\\x80\\x80", NULL, "above U+10FFFF"},
};

static size_t length_of(int i)
{
	return texts[i].length > 0 ? texts[i].length : strlen(texts[i].text);
}

/* A copy of exact size, so that a read behind it is seen. */
static unsigned char *copy_of(int i)
{
	unsigned char *copy = malloc(length_of(i) + 1);
	ck_assert_ptr_nonnull(copy);
	copy = realloc(copy, length_of(i) > 0 ? length_of(i) : 1);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, texts[i].text, length_of(i));
	return copy;
}

START_TEST(what_plays_with_a_terminal_is_escaped_and_nothing_is_lost)
{
	unsigned char *text = copy_of(_i);
	struct buffer out = {0};
	harmless_append(&out, text, length_of(_i), true);
	ck_assert_msg(strcmp(buffer_text(&out), texts[_i].utf8) == 0, "%s: %s", texts[_i].why,
		      buffer_text(&out));
	buffer_clear(&out);
	harmless_append(&out, text, length_of(_i), false);
	const char *expected = texts[_i].ascii != NULL ? texts[_i].ascii : texts[_i].utf8;
	ck_assert_msg(strcmp(buffer_text(&out), expected) == 0, "%s: %s", texts[_i].why,
		      buffer_text(&out));
	buffer_free(&out);
	free(text);
}
END_TEST

static const struct {
	const char *text;
	size_t most, length;
	const char *why;
} prefixes[] = {
    {"abc", 0, 0, "none"},
    {"abc", 2, 2, "fewer than there are"},
    {"abc", 3, 3, "as many as there are"},
    {"abc", 4, 3, "more than there are"},
    {"\xc3\xa9\xc3\xa9", 1, 2, "a character is not split"},
    {"\xff\xff\xff", 2, 2, "what is no character counts by bytes"},
    {"\xe2\x82", 1, 1, "neither is half of one"},
};

START_TEST(a_prefix_ends_between_characters)
{
	ck_assert_msg(harmless_prefix(prefixes[_i].text, strlen(prefixes[_i].text),
				      prefixes[_i].most) == prefixes[_i].length,
		      "%s", prefixes[_i].why);
}
END_TEST

START_TEST(utf8_is_told_from_other_bytes)
{
	ck_assert(harmless_is_utf8(NULL, 0));
	ck_assert(harmless_is_utf8("a\0\x1b\xc3\xa9", 5));
	ck_assert(!harmless_is_utf8("ab\xc3", 3));
	ck_assert(!harmless_is_utf8("\xff", 1));
	ck_assert(!harmless_is_utf8("\xed\xa0\x80", 3));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("harmless");
	TCase *cases = tcase_create("harmless");
	tcase_add_loop_test(cases, what_plays_with_a_terminal_is_escaped_and_nothing_is_lost, 0,
			    sizeof(texts) / sizeof(texts[0]));
	tcase_add_loop_test(cases, a_prefix_ends_between_characters, 0,
			    sizeof(prefixes) / sizeof(prefixes[0]));
	tcase_add_test(cases, utf8_is_told_from_other_bytes);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
