/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/field_value.h"

#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *value;
	const char *word;
	const char *parameters; /* name=text|name=text; NULL: malformed */
	const char *why;
} fields[] = {
    {"text/plain", "text/plain", "", "only a word"},
    {"  text/plain \t", "text/plain", "", "with blanks around"},
    {"", "", "", "nothing"},
    {"form-data; name=a", "form-data", "name=a", "a parameter"},
    {"form-data;name=a", "form-data", "name=a", "without a blank"},
    {"form-data ; name = a ; x=y", "form-data", "name=a|x=y", "with blanks everywhere"},
    {"form-data; NAME=A", "form-data", "name=A", "names in any case, values as they are"},
    {"form-data; name=\"a b\"; filename=\"\"", "form-data", "name=a b|filename=", "quoted"},
    {"f; name=\"a;b=c\"", "f", "name=a;b=c", "a semicolon in quotes"},
    {"f; name=\"a\\\"b\\\\c\"", "f", "name=a\"b\\c", "escapes"},
    {"f; filename=\"C:\\dir\\x\"", "f", "filename=C:\\dir\\x", "other backslashes stand"},
    {"f; boundary=----=_Part_1:/?", "f", "boundary=----=_Part_1:/?",
     "what needs quotes and has none"},
    {"f;; a=b;", "f", "a=b", "empty parameters"},
    {"f; filename*=utf-8''%e2%82%ac", "f", "filename*=utf-8''%e2%82%ac", "an extended name"},
    {"f; a", "f", NULL, "no equals sign"},
    {"f; a=", "f", NULL, "no value"},
    {"f; a=;b=c", "f", NULL, "no value before another"},
    {"f; =b", "f", NULL, "no name"},
    {"f; a=\"b", "f", NULL, "no closing quote"},
    {"f; a=\"b\\\"", "f", NULL, "an escaped one is none"},
    {"f; a=\"b\"c", "f", NULL, "something behind the quote"},
    {"f a=b", "f", NULL, "no semicolon"},
    {"f; a=b c", "f", NULL, "two words"},
};

START_TEST(a_value_is_a_word_and_parameters)
{
	size_t length = strlen(fields[_i].value);
	char *copy = malloc(length > 0 ? length : 1);
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, fields[_i].value, length);
	struct field_value field;
	field_value_open(&field, copy, length);
	ck_assert_uint_eq(field.word_length, strlen(fields[_i].word));
	ck_assert_mem_eq(field.word, fields[_i].word, field.word_length);

	struct buffer name = {.limit = 0};
	struct buffer text = {.limit = 0};
	struct buffer seen = {.limit = 0};
	enum field_value_taken taken;
	while ((taken = field_value_next(&field, &name, &text)) == FIELD_VALUE_PARAMETER)
		buffer_printf(&seen, "%s%s=%s", seen.length > 0 ? "|" : "", buffer_text(&name),
			      buffer_text(&text));
	ck_assert_msg((taken == FIELD_VALUE_END) == (fields[_i].parameters != NULL), "%s",
		      fields[_i].why);
	if (fields[_i].parameters != NULL)
		ck_assert_msg(strcmp(buffer_text(&seen), fields[_i].parameters) == 0, "%s: %s",
			      fields[_i].why, buffer_text(&seen));
	buffer_free(&name);
	buffer_free(&text);
	buffer_free(&seen);
	free(copy);
}
END_TEST

START_TEST(a_word_has_no_case_and_no_more_letters)
{
	struct field_value field;
	field_value_open(&field, "Form-DATA; a=b", 14);
	ck_assert(field_value_is(&field, "form-data"));
	ck_assert(!field_value_is(&field, "form-dat"));
	ck_assert(!field_value_is(&field, "form-data2"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("field_value");
	TCase *cases = tcase_create("field_value");
	tcase_add_loop_test(cases, a_value_is_a_word_and_parameters, 0,
			    sizeof(fields) / sizeof(fields[0]));
	tcase_add_test(cases, a_word_has_no_case_and_no_more_letters);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
