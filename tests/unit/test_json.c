/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/json.h"

#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tables hold C strings; those of other lengths are tested apart. */
static struct json *parse(const char *text, struct error *why)
{
	/* from a copy of just that size, so that a step too far is seen */
	size_t length = strlen(text);
	char *copy = malloc(length > 0 ? length : 1);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, length);
	struct json *json = json_parse(copy, length, why);
	free(copy);
	return json;
}

static const struct {
	const char *text;
	const char *canonical;
	const char *why;
} good[] = {
    {"{}", "{}", "an empty object"},
    {"[]", "[]", "an empty array"},
    {" \t\r\n{ } \n", "{}", "blanks of all kinds"},
    {"null", "null", "a word"},
    {"true", "true", "another"},
    {" false ", "false", "and the last"},
    {"1.10", "1.1", "a number"},
    {"-0", "0", "no negative nothing"},
    {"\"\"", "\"\"", "an empty string"},
    {"{\"b\":1,\"a\":2}", "{\"a\":2,\"b\":1}", "members by name"},
    {"{\"aa\":1,\"a\":2,\"\":3}", "{\"\":3,\"a\":2,\"aa\":1}", "the shorter first"},
    {"{\"a\":{\"d\":1,\"c\":2},\"A\":0}", "{\"A\":0,\"a\":{\"c\":2,\"d\":1}}", "within others"},
    {"{\"\\u0062\":1,\"a\":2}", "{\"a\":2,\"b\":1}", "by what a name says, not by its escapes"},
    {"{\"\\ud83d\\ude00\":1,\"\\uffff\":2}", "{\"\xef\xbf\xbf\":2,\"\xf0\x9f\x98\x80\":1}",
     "by bytes of UTF-8, not by UTF-16"},
    {"[3,1,2]", "[3,1,2]", "arrays keep their order"},
    {"[[],{},[[]],[1],{\"a\":[]},0]", "[[],{},[[]],[1],{\"a\":[]},0]", "in one another"},
    {"[ 1 , 2 ]", "[1,2]", "blanks between"},
    {"{ \"a\" : 1 , \"b\" : 2 }", "{\"a\":1,\"b\":2}", "and round colons"},
    {"\"\\u0041\\u00e9\\u20ac\"", "\"A\xc3\xa9\xe2\x82\xac\"", "characters of one to three bytes"},
    {"\"\\uD83D\\uDE00\"", "\"\xf0\x9f\x98\x80\"", "and of four, by two halves"},
    {"\"\xf0\x9f\x98\x80\"", "\"\xf0\x9f\x98\x80\"", "or as it is"},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\u0008\\u000c\\u000a\\u000d\\u0009\"",
     "every escape"},
    {"\"\\u0000\"", "\"\\u0000\"", "NUL by escape"},
    {"\"\x7f\"", "\"\x7f\"", "DEL stands for itself"},
    {"[9007199254740993,9007199254740992]", "[9007199254740993,9007199254740992]",
     "whole numbers beyond doubles"},
    {"{\"amount\":10.50}", "{\"amount\":10.5}", "an amount"},
};

START_TEST(texts_that_say_the_same_have_one_canonical_form)
{
	struct error why = {.message = ""};
	struct buffer out = {.limit = 0};
	struct json *json = parse(good[_i].text, &why);
	ck_assert_msg(json != NULL, "%s: %s", good[_i].why, why.message);
	ck_assert_int_eq(json_canonical(json, &out), 0);
	ck_assert_msg(strcmp(buffer_text(&out), good[_i].canonical) == 0, "%s: %s", good[_i].why,
		      buffer_text(&out));
	json_free(json);
	buffer_free(&out);
}
END_TEST

START_TEST(a_canonical_form_is_its_own)
{
	struct error why = {.message = ""};
	struct buffer out = {.limit = 0};
	struct json *json = parse(good[_i].canonical, &why);
	ck_assert_msg(json != NULL, "%s: %s", good[_i].why, why.message);
	ck_assert_int_eq(json_canonical(json, &out), 0);
	ck_assert_str_eq(buffer_text(&out), good[_i].canonical);
	json_free(json);
	buffer_free(&out);
}
END_TEST

static const struct {
	const char *text;
	size_t at; /* the byte that is told, from 1 */
	const char *why;
} bad[] = {
    {"", 1, "nothing"},
    {"  ", 3, "only blanks"},
    {"\xef\xbb\xbf{}", 1, "a byte order mark"},
    {"{", 2, "an object without end"},
    {"[", 2, "an array without end"},
    {"}", 1, "an end without beginning"},
    {"[}", 2, "the wrong end"},
    {"{]", 2, "the other wrong end"},
    {"[1", 3, "no end behind an element"},
    {"[1 2]", 4, "no comma"},
    {"[1,]", 4, "a comma before the end"},
    {"[,1]", 2, "a comma in front"},
    {"[1,,2]", 4, "two commas"},
    {"{\"a\":1,}", 8, "a comma before the end of an object"},
    {"{,}", 2, "only a comma"},
    {"{\"a\"}", 5, "no colon"},
    {"{\"a\":}", 6, "no value"},
    {"{\"a\" 1}", 6, "a blank for a colon"},
    {"{a:1}", 2, "a name without quotes"},
    {"{1:1}", 2, "a number for a name"},
    {"{'a':1}", 2, "single quotes"},
    {"{\"a\":1 \"b\":2}", 8, "no comma between members"},
    {"{\"a\":1,\"a\":2}", 14, "a name twice"},
    {"{\"a\":1,\"b\":2,\"\\u0061\":1}", 25, "a name twice, spelled otherwise"},
    {"[{\"a\":1,\"a\":1},2]", 15, "a name twice, within"},
    {"{} {}", 4, "two texts"},
    {"1 2", 3, "two numbers"},
    {"nul", 1, "half a word"},
    {"True", 1, "a word of another language"},
    {"nullx", 5, "a longer word"},
    {"NaN", 1, "no number"},
    {"-", 2, "only a sign"},
    {"01", 1, "a zero in front"},
    {"1.", 3, "a point without digits"},
    {"+1", 1, "a plus"},
    {"0x10", 2, "hexadecimal"},
    {"[1e1000000000000000000]", 23, "an exponent beyond the limit"},
    {"\"a", 3, "a string without end"},
    {"\"a\nb\"", 3, "a newline in a string"},
    {"\"\t\"", 2, "a tab in a string"},
    {"\"\\x41\"", 3, "an escape that is none"},
    {"\"\\", 3, "a backslash at the end"},
    {"\"\\u12\"", 4, "two digits"},
    {"\"\\u12g4\"", 4, "a letter that is no digit"},
    {"\"\\ud83d\"", 8, "the first half alone"},
    {"\"\\ud83dx\"", 8, "the first half, and a letter"},
    {"\"\\ud83d\\n\"", 9, "the first half, and another escape"},
    {"\"\\ud83d\\u0041\"", 14, "the first half, and a character"},
    {"\"\\ud83d\\ud83d\"", 14, "the first half twice"},
    {"\"\\ude00\"", 8, "the second half alone"},
    {"\"\xed\xa0\xbd\"", 2, "a half as UTF-8"},
    {"\"\xff\"", 2, "no UTF-8"},
    {"\"\xc3\"", 2, "a character cut short"},
    {"\"\xc0\xaf\"", 2, "overlong"},
    {"{\"\xff\":1}", 3, "no UTF-8 in a name"},
    {"[1]\v", 4, "a blank that is none"},
    {"// no\n1", 1, "a comment"},
};

START_TEST(what_is_no_json_is_refused_where_it_ceases_to_be)
{
	struct error why = {.message = ""};
	struct json *json = parse(bad[_i].text, &why);
	ck_assert_msg(json == NULL, "%s", bad[_i].why);
	ck_assert_int_eq(why.kind, ERROR_INPUT);
	size_t at = 0;
	ck_assert_msg(sscanf(why.message, "byte %zu: ", &at) == 1, "%s", why.message);
	ck_assert_msg(at == bad[_i].at, "%s: %s", bad[_i].why, why.message);
	for (const char *byte = why.message; *byte != '\0'; byte++)
		ck_assert(*byte >= 0x20 && *byte < 0x7f);
}
END_TEST

START_TEST(no_beginning_of_a_text_is_a_text)
{
	static const char text[] = "{\"a\":[1.5e3,true,null,\"\\u00e9\\ud83d\\ude00\"],\"b\":{}}";
	for (size_t length = 0; length < sizeof(text) - 1; length++) {
		struct error why = {.kind = ERROR_NONE};
		ck_assert_ptr_null(json_parse(text, length, &why));
		ck_assert_int_eq(why.kind, ERROR_INPUT);
	}
	struct error why;
	struct json *json = json_parse(text, sizeof(text) - 1, &why);
	ck_assert_ptr_nonnull(json);
	json_free(json);
}
END_TEST

START_TEST(a_nul_byte_is_no_blank)
{
	struct error why;
	ck_assert_ptr_null(json_parse("1\0", 2, &why));
	ck_assert_ptr_null(json_parse("\"\0\"", 3, &why));
}
END_TEST

static const struct {
	const char *pointer;
	const char *text; /* NULL: nothing there */
	int kind;
	const char *why;
} pointers[] = {
    {"/cart/id", "c-1", JSON_STRING, "a member of a member"},
    {"/amount", "10.5", JSON_NUMBER, "a number, canonical"},
    {"/cart", "", JSON_OBJECT, "an object"},
    {"", "", JSON_OBJECT, "the whole"},
    {"/", "nameless", JSON_STRING, "the empty name"},
    {"/a~1b", "slash", JSON_STRING, "an escaped slash"},
    {"/m~0n", "tilde", JSON_STRING, "an escaped tilde"},
    {"/~01", "both", JSON_STRING, "~01 is ~1 and not a slash"},
    {"/list/0", "zero", JSON_STRING, "the first element"},
    {"/list/1/x", "1", JSON_NUMBER, "within the second"},
    {"/list/2", "", JSON_NULL, "null is there"},
    {"/yes", "", JSON_TRUE, "true is there"},
    {"/list/3", NULL, 0, "behind the end"},
    {"/list/00", NULL, 0, "a zero in front"},
    {"/list/01", NULL, 0, "and a one"},
    {"/list/-", NULL, 0, "the element behind the last"},
    {"/list/-0", NULL, 0, "a sign"},
    {"/list/", NULL, 0, "no digit"},
    {"/list/0x", NULL, 0, "a letter behind"},
    {"/list/4294967296", NULL, 0, "what would wrap to the first"},
    {"/list/18446744073709551616", NULL, 0, "and wider"},
    {"/list/x", NULL, 0, "a name in an array"},
    {"/none", NULL, 0, "no such member"},
    {"/Cart/id", NULL, 0, "names have a case"},
    {"/cart/id/x", NULL, 0, "within a string"},
    {"/list/2/x", NULL, 0, "within null"},
    {"cart", NULL, 0, "no slash in front"},
    {"/a~2b", NULL, 0, "an escape that is none"},
    {"/m~", NULL, 0, "a tilde at the end"},
    {"/0", "digit", JSON_STRING, "digits name members of objects"},
    {"/caf\xc3\xa9", "drink", JSON_STRING, "UTF-8"},
};

START_TEST(a_pointer_finds_what_it_names)
{
	static const char text[] =
	    "{\"cart\":{\"id\":\"c-1\"},\"amount\":10.50,\"\":\"nameless\",\"a/b\":\"slash\","
	    "\"m~n\":\"tilde\",\"~1\":\"both\",\"/\":\"wrong\",\"list\":[\"zero\",{\"x\":1},null],"
	    "\"yes\":true,\"0\":\"digit\",\"caf\\u00e9\":\"drink\"}";
	struct error why;
	struct json *json = parse(text, &why);
	ck_assert_ptr_nonnull(json);
	struct json_value value = {.text = NULL};
	bool found = json_find(json, pointers[_i].pointer, &value);
	ck_assert_msg(found == (pointers[_i].text != NULL), "%s", pointers[_i].why);
	if (found) {
		ck_assert_int_eq((int)value.kind, pointers[_i].kind);
		ck_assert_uint_eq(value.length, strlen(pointers[_i].text));
		ck_assert_mem_eq(value.text, pointers[_i].text, value.length);
	}
	json_free(json);
}
END_TEST

START_TEST(a_nul_in_a_string_is_part_of_its_text)
{
	struct error why;
	struct json_value value;
	struct json *json = parse("{\"a\\u0000b\":\"c\\u0000d\"}", &why);
	ck_assert_ptr_nonnull(json);
	ck_assert(!json_find(json, "/a", &value));
	json_free(json);
	json = parse("\"c\\u0000d\"", &why);
	ck_assert(json_find(json, "", &value));
	ck_assert_uint_eq(value.length, 3);
	ck_assert_mem_eq(value.text, "c\0d", 3);
	json_free(json);
}
END_TEST

/* `unit` as often as `times`, between before and after. */
static struct json *parse_many(const char *before, const char *unit, size_t times,
			       const char *after, struct error *why)
{
	struct buffer text = {.limit = 0};
	size_t length = strlen(unit);
	buffer_append_text(&text, before);
	for (size_t i = 0; i < times; i++)
		buffer_append(&text, unit, length);
	buffer_append_text(&text, after);
	ck_assert(!text.failed);
	struct json *json = json_parse(text.data, text.length, why);
	buffer_free(&text);
	return json;
}

START_TEST(depth_is_limited_and_costs_no_stack)
{
	struct error why;
	struct buffer out = {.limit = 0};
	char closing[JSON_MOST_DEPTH + 1];
	memset(closing, ']', JSON_MOST_DEPTH);
	closing[JSON_MOST_DEPTH] = '\0';
	struct json *json = parse_many("", "[", JSON_MOST_DEPTH, closing, &why);
	ck_assert_ptr_nonnull(json);
	ck_assert_int_eq(json_canonical(json, &out), 0);
	ck_assert_uint_eq(out.length, 2 * JSON_MOST_DEPTH);
	json_free(json);
	buffer_free(&out);
	ck_assert_ptr_null(parse_many("[", "[", JSON_MOST_DEPTH, "]", &why));
	ck_assert_int_eq(why.kind, ERROR_LIMIT);
	ck_assert_ptr_null(parse_many("", "[", 2000000, "", &why));
	ck_assert_int_eq(why.kind, ERROR_LIMIT);
	ck_assert_ptr_null(parse_many("", "{\"a\":", 2000000, "", &why));
	ck_assert_int_eq(why.kind, ERROR_LIMIT);
}
END_TEST

START_TEST(the_number_of_values_is_limited)
{
	struct error why;
	struct json *json = parse_many("[", "0,", JSON_MOST_VALUES - 2, "0]", &why);
	ck_assert_ptr_nonnull(json);
	json_free(json);
	ck_assert_ptr_null(parse_many("[", "0,", JSON_MOST_VALUES - 1, "0]", &why));
	ck_assert_int_eq(why.kind, ERROR_LIMIT);
}
END_TEST

/* What takes the square of their number is not done within the test's time. */
START_TEST(a_hundred_thousand_members_are_sorted)
{
	enum { MEMBERS = 100000 };
	struct buffer text = {.limit = 0};
	buffer_append_byte(&text, '{');
	for (int i = MEMBERS; i > 0; i--)
		buffer_printf(&text, "\"%06d\":%d%s", i, i, i > 1 ? "," : "}");
	struct error why;
	struct json *json = json_parse(text.data, text.length, &why);
	ck_assert_ptr_nonnull(json);
	struct buffer out = {.limit = 0};
	ck_assert_int_eq(json_canonical(json, &out), 0);
	ck_assert_uint_eq(out.length, text.length);
	ck_assert_int_eq(strncmp(buffer_text(&out), "{\"000001\":1,\"000002\":2,", 23), 0);
	json_free(json);
	buffer_free(&out);
	buffer_free(&text);
}
END_TEST

START_TEST(a_canonical_form_that_its_buffer_cannot_hold_is_a_failure)
{
	struct error why;
	struct json *json = parse("[1,2,3]", &why);
	struct buffer out = {.limit = 6};
	ck_assert_int_eq(json_canonical(json, &out), -1);
	json_free(json);
	buffer_free(&out);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("json");
	TCase *cases = tcase_create("json");
	tcase_add_loop_test(cases, texts_that_say_the_same_have_one_canonical_form, 0, COUNT(good));
	tcase_add_loop_test(cases, a_canonical_form_is_its_own, 0, COUNT(good));
	tcase_add_loop_test(cases, what_is_no_json_is_refused_where_it_ceases_to_be, 0, COUNT(bad));
	tcase_add_test(cases, no_beginning_of_a_text_is_a_text);
	tcase_add_test(cases, a_nul_byte_is_no_blank);
	tcase_add_loop_test(cases, a_pointer_finds_what_it_names, 0, COUNT(pointers));
	tcase_add_test(cases, a_nul_in_a_string_is_part_of_its_text);
	tcase_add_test(cases, a_canonical_form_that_its_buffer_cannot_hold_is_a_failure);
	TCase *bombs = tcase_create("bombs");
	tcase_set_timeout(bombs, 60);
	tcase_add_test(bombs, depth_is_limited_and_costs_no_stack);
	tcase_add_test(bombs, the_number_of_values_is_limited);
	tcase_add_test(bombs, a_hundred_thousand_members_are_sorted);
	suite_add_tcase(suite, cases);
	suite_add_tcase(suite, bombs);
	return suite_run(suite);
}
