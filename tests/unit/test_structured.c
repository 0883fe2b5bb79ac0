/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/structured.h"

#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *value;
	const char *string; /* NULL: refused */
	const char *why;
} items[] = {
    /* RFC 8941 section 3.3.3 */
    {"\"8e03978e-40d5-43dd-bc93-6894a57f9324\"", "8e03978e-40d5-43dd-bc93-6894a57f9324",
     "the draft's example"},
    {"\"\"", "", "empty"},
    {"\" ~\"", " ~", "the ends of printable ASCII"},
    {"\"a,b;c=d\"", "a,b;c=d", "separators within quotes are content"},
    {"\"a\\\"b\\\\c\"", "a\"b\\c", "the two escapes"},
    {"\"\\\\\"", "\\", "an escaped backslash before the end"},
    {"\"a\x7f\"", NULL, "DEL"},
    {"\"a\x1f\"", NULL, "a control byte"},
    {"\"a\tb\"", NULL, "a tab"},
    {"\"a\x80\"", NULL, "not ASCII"},
    {"\"caf\xc3\xa9\"", NULL, "UTF-8 is not ASCII"},
    {"\"a\\n\"", NULL, "no other escape"},
    {"\"a\\", NULL, "a backslash at the end"},
    {"\"a\\\"", NULL, "the closing quote is escaped"},
    {"\"", NULL, "one quote"},
    {"\"abc", NULL, "no closing quote"},
    {"abc", NULL, "a token is no String"},
    {"'abc'", NULL, "single quotes"},
    {"", NULL, "nothing"},
    {":YWJj:", NULL, "a byte sequence is no String"},
    {"42", NULL, "a number is no String"},
    /* more than one value: case C19 */
    {"\"a\", \"b\"", NULL, "joined header lines"},
    {"\"a\",\"b\"", NULL, "joined without blank"},
    {"\"a\" , \"b\"", NULL, "joined with blanks"},
    {"\"a\", \"a\"", NULL, "joined, alike"},
    {"\"a\",", NULL, "a comma at the end"},
    {"\"a\";x=1, \"b\"", NULL, "joined behind a parameter"},
    {"\"a\" \"b\"", NULL, "two strings"},
    {"\"a\"b", NULL, "something directly behind"},
    /* parameters: RFC 8941 section 3.1.2 */
    {"\"k\";a", "k", "a parameter without value"},
    {"\"k\";a=1;b", "k", "two"},
    {"\"k\";  a=1", "k", "blanks behind the semicolon"},
    {"\"k\";a;a", "k", "one name twice: the last counts, and none counts here"},
    {"\"k\";*a-b_c.d*9=1", "k", "all that a name may hold"},
    {"\"k\" ;a", NULL, "a blank before the semicolon"},
    {"\"k\";", NULL, "no name"},
    {"\"k\";;a", NULL, "an empty parameter"},
    {"\"k\";A=1", NULL, "names are lower case"},
    {"\"k\";1a=1", NULL, "a name begins with no digit"},
    {"\"k\";-a=1", NULL, "nor with a hyphen"},
    {"\"k\";\ta=1", NULL, "a tab is no blank"},
    {"\"k\";a= 1", NULL, "a blank before the value"},
    {"\"k\";a=", NULL, "no value"},
    {"\"k\";a=1 ", NULL, "a blank behind, which the caller removes"},
    /* bare items: RFC 8941 section 3.3 */
    {"\"k\";a=-1", "k", "a negative integer"},
    {"\"k\";a=123456789012345", "k", "15 digits"},
    {"\"k\";a=1234567890123456", NULL, "16 digits"},
    {"\"k\";a=-", NULL, "a sign alone"},
    {"\"k\";a=--1", NULL, "two signs"},
    {"\"k\";a=+1", NULL, "a plus"},
    {"\"k\";a=123456789012.123", "k", "the longest decimal"},
    {"\"k\";a=1234567890123.1", NULL, "13 digits before the point"},
    {"\"k\";a=1.1234", NULL, "4 digits behind the point"},
    {"\"k\";a=1.", NULL, "none behind the point"},
    {"\"k\";a=.1", NULL, "none before the point"},
    {"\"k\";a=1.1.1", NULL, "two points"},
    {"\"k\";a=\"x \\\" y\"", "k", "a string"},
    {"\"k\";a=\"x, y\"", "k", "a comma within a string"},
    {"\"k\";a=\"x", NULL, "a string without end"},
    {"\"k\";a=\"\x01\"", NULL, "a control byte in a string"},
    {"\"k\";a=tok/en:x!#$%&'*+-.^_`|~", "k", "a token"},
    {"\"k\";a=*t", "k", "a token that begins with an asterisk"},
    {"\"k\";a=Upper", "k", "a token in upper case"},
    {"\"k\";a=(", NULL, "no item"},
    {"\"k\";a=tok(", NULL, "a byte that no token has"},
    {"\"k\";a=:YWJjZA==:", "k", "a byte sequence"},
    {"\"k\";a=::", "k", "an empty byte sequence"},
    {"\"k\";a=:YWJj", NULL, "a byte sequence without end"},
    {"\"k\";a=:Y-J:", NULL, "a byte that no base64 has"},
    {"\"k\";a=?1", "k", "true"},
    {"\"k\";a=?0", "k", "false"},
    {"\"k\";a=?", NULL, "neither"},
    {"\"k\";a=?2", NULL, "neither"},
    {"\"k\";a=?10", NULL, "too much"},
};

START_TEST(a_string_item_gives_its_content_and_anything_else_is_refused)
{
	/* a copy of exact size without NUL, so that a read behind it is seen */
	size_t length = strlen(items[_i].value);
	char *value = malloc(length + (length == 0));
	ck_assert_ptr_nonnull(value);
	memcpy(value, items[_i].value, length);
	struct buffer out = {.limit = 0};
	struct error why = {.kind = ERROR_NONE};
	int result = structured_string(value, length, &out, &why);
	ck_assert_msg((result == 0) == (items[_i].string != NULL), "%s: %s", items[_i].value,
		      items[_i].why);
	if (items[_i].string != NULL) {
		ck_assert_msg(strcmp(buffer_text(&out), items[_i].string) == 0, "%s",
			      items[_i].why);
	} else {
		ck_assert_int_eq(why.kind, ERROR_INPUT);
		ck_assert_uint_gt(strlen(why.message), 0);
	}
	buffer_free(&out);
	free(value);
}
END_TEST

/* A value by pieces; `complete`: after each byte of the piece the value is whole so far. */
static const struct {
	const char *piece;
	bool complete;
} pieces[] = {
    {"\"a\\\"b", false},  {"\"", true}, {";", false},  {"n", true},       {"=-", false},
    {"12", true},         {".", false}, {"5", true},   {";", false},      {"s", true},
    {"=\"x\\\\y", false}, {"\"", true}, {";", false},  {"t", true},       {"=", false},
    {"tok/en", true},     {";", false}, {"b", true},   {"=:YQ==", false}, {":", true},
    {";", false},         {"f", true},  {"=?", false}, {"1", true},
};

START_TEST(a_value_fed_byte_by_byte_is_taken_whenever_it_is_whole)
{
	char value[128];
	size_t length = 0;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		for (const char *next = pieces[i].piece; *next != '\0'; next++) {
			value[length++] = *next;
			char *exact = malloc(length); /* so that a read behind it is seen */
			ck_assert_ptr_nonnull(exact);
			memcpy(exact, value, length);
			struct buffer out = {.limit = 0};
			struct error why;
			int result = structured_string(exact, length, &out, &why);
			ck_assert_msg((result == 0) == pieces[i].complete, "%.*s", (int)length,
				      exact);
			if (result == 0)
				ck_assert_str_eq(buffer_text(&out), "a\"b");
			buffer_free(&out);
			free(exact);
		}
	}
}
END_TEST

START_TEST(every_single_byte_behind_the_string_but_none_is_refused)
{
	for (int byte = 0; byte < 256; byte++) {
		char value[] = {'"', 'k', '"', (char)byte};
		struct buffer out = {.limit = 0};
		struct error why;
		ck_assert_int_eq(structured_string(value, sizeof(value), &out, &why), -1);
		buffer_free(&out);
	}
}
END_TEST

START_TEST(joined_values_are_told_as_sent_twice)
{
	struct buffer out = {.limit = 0};
	struct error why;
	static const char value[] = "\"a\" , \"b\"";
	ck_assert_int_eq(structured_string(value, strlen(value), &out, &why), -1);
	ck_assert_ptr_nonnull(strstr(why.message, "sent twice"));
	buffer_free(&out);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("structured");
	TCase *cases = tcase_create("structured");
	tcase_add_loop_test(cases, a_string_item_gives_its_content_and_anything_else_is_refused, 0,
			    sizeof(items) / sizeof(items[0]));
	tcase_add_test(cases, a_value_fed_byte_by_byte_is_taken_whenever_it_is_whole);
	tcase_add_test(cases, every_single_byte_behind_the_string_but_none_is_refused);
	tcase_add_test(cases, joined_values_are_told_as_sent_twice);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
