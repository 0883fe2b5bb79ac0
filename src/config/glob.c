/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/glob.h"

static int fold(char byte, bool fold_case)
{
	return fold_case && byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : (unsigned char)byte;
}

/* Does the set at `pattern` ("[a-z]", "[!0-9]", "]" first stands for itself) hold the byte? Returns
 * what comes after the set in *next. */
static bool set_holds(const char *pattern, char byte, bool fold_case, const char **next)
{
	const char *at = pattern + 1;
	bool inverted = *at == '!';
	at += inverted;
	bool holds = false;
	int wanted = fold(byte, fold_case);
	for (const char *first = at; *at != '\0' && (*at != ']' || at == first); at++) {
		int low = fold(at[0], fold_case), high = low;
		if (at[1] == '-' && at[2] != ']' && at[2] != '\0') {
			high = fold(at[2], fold_case);
			at += 2;
		}
		holds |= wanted >= low && wanted <= high;
	}
	*next = *at == ']' ? at + 1 : at;
	return holds != inverted;
}

/* Does the pattern's first element, which is no star, take the byte? */
static bool element_takes(const char *pattern, char byte, bool fold_case, const char **next)
{
	*next = pattern + 1;
	if (*pattern == '?')
		return true;
	if (*pattern == '[')
		return set_holds(pattern, byte, fold_case, next);
	return *pattern != '\0' && fold(*pattern, fold_case) == fold(byte, fold_case);
}

/* Only the last star is ever tried again. */
bool glob_matches(const char *pattern, const char *text, size_t length, bool fold_case)
{
	const char *end = text + length, *after_star = NULL, *retry = NULL, *next;
	while (text < end) {
		if (*pattern == '*') {
			after_star = ++pattern;
			retry = text;
		} else if (element_takes(pattern, *text, fold_case, &next)) {
			pattern = next;
			text++;
		} else if (after_star != NULL) {
			pattern = after_star;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

/* What comes after the pattern's first element. */
static const char *skip_element(const char *pattern)
{
	const char *next;
	if (*pattern != '[')
		return pattern + 1;
	set_holds(pattern, '\0', false, &next);
	return next;
}

/* Does the first element of `outer`, which is no star, take every byte that the one of `inner`
 * takes? A star of the inner one stands for more than one byte. */
static bool element_covers(const char *outer, const char *inner, bool fold_case)
{
	const char *next;
	if (*outer == '\0' || *inner == '*')
		return false;
	if (*inner != '?' && *inner != '[')
		return element_takes(outer, *inner, fold_case, &next);
	for (int byte = 1; byte <= 255; byte++)
		if (element_takes(inner, (char)byte, fold_case, &next) &&
		    !element_takes(outer, (char)byte, fold_case, &next))
			return false;
	return true;
}

/* As glob_matches, with the elements of the inner pattern in place of a text's bytes: a star of the
 * outer one takes any of them, stars too. */
bool glob_contains(const char *outer, const char *inner, bool fold_case)
{
	const char *after_star = NULL, *retry = NULL;
	while (*inner != '\0') {
		if (*outer == '*') {
			after_star = ++outer;
			retry = inner;
		} else if (element_covers(outer, inner, fold_case)) {
			outer = skip_element(outer);
			inner = skip_element(inner);
		} else if (after_star != NULL) {
			outer = after_star;
			retry = skip_element(retry);
			inner = retry;
		} else {
			return false;
		}
	}
	while (*outer == '*')
		outer++;
	return *outer == '\0';
}
