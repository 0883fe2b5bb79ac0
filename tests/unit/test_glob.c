/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/glob.h"

#include "tests/unit/suite.h"

#include <string.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* How patterns match is told by test_route. */

static const struct {
	const char *why, *outer, *inner;
	bool contains;
} pairs[] = {
    {"itself", "/a", "/a", true},
    {"another", "/a", "/b", false},
    {"longer", "/a", "/ab", false},
    {"shorter", "/ab", "/a", false},
    {"a star holds a text", "/a*", "/abc", true},
    {"a star holds nothing, too", "/a*", "/a", true},
    {"a text holds no star", "/a", "/a*", false},
    {"a star holds a star", "/*", "/a*", true},
    {"a star in the middle", "/*/x", "/a/b/x", true},
    {"a star in the middle, another end", "/*/x", "/a/b/y", false},
    {"an end that goes on", "/*x", "/ax*", false},
    {"the last star is tried again", "/*ab", "/aab", true},
    {"stars in both", "/a*c", "/ab*bc", true},
    {"what a star may end with is open", "/a*c", "/a*", false},
    {"a narrower one holds no wider", "/a*", "/*", false},
    {"everything", "*", "/any/thing?[a-c]*", true},
    {"everything is in nothing less", "/*", "*", false},
    {"one byte holds a literal", "/?", "/a", true},
    {"one byte holds one byte", "/?", "/?", true},
    {"one byte holds no star", "/?", "/*", false},
    {"a literal holds not any byte", "/a", "/?", false},
    {"a star holds any byte", "/*", "/??", true},
    {"a set holds what is in it", "/[a-c]", "/b", true},
    {"a set holds nothing else", "/[a-c]", "/d", false},
    {"a set holds a part of it", "/[a-c]", "/[ab]", true},
    {"a part holds not the whole", "/[ab]", "/[a-c]", false},
    {"one byte holds any set", "/?", "/[!a]", true},
    {"a set holds not any byte", "/[!a]", "/?", false},
    {"but for the NUL, which no text has", "/[\x01-\xff]", "/?", true},
    {"one set in another", "/[!a]", "/[!ab]", true},
    {"a bracket in a set", "/[]a]", "/]", true},
    {"sets behind a star", "/*[0-9]x", "/a[1-3]x", true},
    {"stars next to each other", "/**a", "/*a", true},
    {"likewise within", "/*a", "/**a", true},
    {"not recognised, though the same", "/*?", "/?*", false},
    {"nothing", "", "", true},
    {"a star holds nothing at all", "*", "", true},
};

START_TEST(one_pattern_is_within_another)
{
	ck_assert_msg(glob_contains(pairs[_i].outer, pairs[_i].inner, false) == pairs[_i].contains,
		      "%s", pairs[_i].why);
}
END_TEST

START_TEST(capitals_count_unless_told_otherwise)
{
	ck_assert(!glob_contains("*.X", "a.x", false));
	ck_assert(glob_contains("*.X", "a.x", true));
	ck_assert(glob_contains("[A-C]", "[ab]", true));
	ck_assert(!glob_contains("[A-C]", "[ab]", false));
}
END_TEST

/* All patterns of up to four elements over a small alphabet against those of up to three: where
 * containment is claimed, no text of up to five bytes tells otherwise. */

static void write_word(int number, const char *bytes, int base, char *word)
{
	for (; number > 0; number = (number - 1) / base)
		*word++ = bytes[(number - 1) % base];
	*word = '\0';
}

/* A text that the inner one matches and the outer one does not, or "". */
static void find_counterexample(const char *outer, const char *inner, char text[8])
{
	for (int t = 0; t < 364; t++) { /* 1 + 3 + 9 + 27 + 81 + 243 */
		write_word(t, "abc", 3, text);
		if (glob_matches(inner, text, strlen(text), false) &&
		    !glob_matches(outer, text, strlen(text), false))
			return;
	}
	text[0] = '\0';
}

START_TEST(what_is_said_to_be_within_matches_nothing_else)
{
	char inner[8], outer[8], text[8];
	int claimed = 0;
	for (int o = 0; o < 85; o++) { /* 1 + 4 + 16 + 64 */
		write_word(o, "ab?*", 4, outer);
		for (int i = 0; i < 341; i++) { /* and 256 */
			write_word(i, "ab?*", 4, inner);
			if (!glob_contains(outer, inner, false))
				continue;
			claimed++;
			find_counterexample(outer, inner, text);
			if (text[0] != '\0')
				ck_abort_msg("%s is in %s, not in %s", text, inner, outer);
		}
	}
	ck_assert_int_gt(claimed, 85); /* each at least itself */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("glob");
	TCase *cases = tcase_create("glob");
	tcase_add_loop_test(cases, one_pattern_is_within_another, 0, COUNT(pairs));
	tcase_add_test(cases, capitals_count_unless_told_otherwise);
	tcase_add_test(cases, what_is_said_to_be_within_matches_nothing_else);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
