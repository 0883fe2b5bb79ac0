/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/source.h"

#include "tests/unit/suite.h"

#include <string.h>

static char *environment[] = {
    (char[]){"REMOTE_USER=alice"},
    (char[]){"EMPTY="},
    (char[]){"LATE="},
    (char[]){"LATE=bob"},
    (char[]){"BOTH=a"},
    (char[]){"BOTH=a"},
    (char[]){"HTTP_APIKEY=secret"},
    (char[]){"HTTP_BLANK="},
    (char[]){"HTTP_TWICE=a"},
    (char[]){"HTTP_TWICE="},
    (char[]){"CONTENT_TYPE=text/plain"},
    (char[]){"HTTP_COOKIE=k=v; b=1; b=1"},
    NULL,
};

static const struct {
	enum source_kind kind;
	const char *name;
	enum source_presence presence;
	const char *value; /* when present */
	const char *why;
} sources[] = {
    {SOURCE_ENV, "REMOTE_USER", SOURCE_PRESENT, "alice", "a variable"},
    {SOURCE_ENV, "remote_user", SOURCE_ABSENT, NULL, "variables are spelled exactly"},
    {SOURCE_ENV, "EMPTY", SOURCE_ABSENT, NULL, "nginx sends empty for what is not set"},
    {SOURCE_ENV, "LATE", SOURCE_PRESENT, "bob", "an empty one beside it is absent"},
    {SOURCE_ENV, "BOTH", SOURCE_REPEATED, NULL, "twice, though alike"},
    {SOURCE_ENV, "ABSENT", SOURCE_ABSENT, NULL, "not there"},
    {SOURCE_HEADER, "ApiKey", SOURCE_PRESENT, "secret", "a header"},
    {SOURCE_HEADER, "apikey", SOURCE_PRESENT, "secret", "headers in either case"},
    {SOURCE_HEADER, "Blank", SOURCE_PRESENT, "", "a header may be there and be empty"},
    {SOURCE_HEADER, "Twice", SOURCE_REPEATED, NULL, "twice, though one is empty"},
    {SOURCE_HEADER, "Content-Type", SOURCE_PRESENT, "text/plain", "not under HTTP_"},
    {SOURCE_HEADER, "REMOTE_USER", SOURCE_ABSENT, NULL, "a variable is no header"},
    {SOURCE_LITERAL, "shop", SOURCE_PRESENT, "shop", "always there"},
    {SOURCE_LITERAL, "", SOURCE_ABSENT, NULL, "nothing is nobody"},
    {SOURCE_COOKIE, "k", SOURCE_PRESENT, "v", "a cookie"},
    {SOURCE_COOKIE, "b", SOURCE_REPEATED, NULL, "two of one name"},
    {SOURCE_COOKIE, "x", SOURCE_ABSENT, NULL, "none of that name"},
    {SOURCE_JSON, "/id", SOURCE_PRESENT, "c", "a value of the body"},
    {SOURCE_JSON, "/no", SOURCE_ABSENT, NULL, "not in the body"},
    {SOURCE_JSON, "/list", SOURCE_UNUSABLE, NULL, "no text"},
    {SOURCE_FORM, "id", SOURCE_ABSENT, NULL, "the body is no form"},
};

START_TEST(a_source_is_absent_present_or_repeated)
{
	struct params params = params_of(environment);
	char name[64];
	strcpy(name, sources[_i].name);
	struct source source = {sources[_i].kind, name};
	static const char body[] = "{\"id\":\"c\",\"list\":[]}";
	struct document *document = document_new(body, sizeof(body) - 1, "application/json");
	struct source_value value = {NULL, 0};
	ck_assert_msg(source_read(&source, &params, document, &value) == sources[_i].presence, "%s",
		      sources[_i].why);
	if (sources[_i].value != NULL) {
		ck_assert_uint_eq(value.length, strlen(sources[_i].value));
		ck_assert_mem_eq(value.data, sources[_i].value, value.length);
	}
	document_free(document);
}
END_TEST

START_TEST(the_longest_name_is_found_and_a_longer_one_is_not)
{
	char name[SOURCE_MAX_NAME + 2];
	memset(name, 'x', sizeof(name));
	char entry[SOURCE_MAX_NAME + 16] = "HTTP_";
	memset(entry + 5, 'X', SOURCE_MAX_NAME);
	strcpy(entry + 5 + SOURCE_MAX_NAME, "=v");
	struct params params = params_of((char *[]){entry, NULL});
	struct source source = {SOURCE_HEADER, name};
	struct source_value value = {NULL, 0};
	name[SOURCE_MAX_NAME] = '\0';
	ck_assert_int_eq(source_read(&source, &params, NULL, &value), SOURCE_PRESENT);
	ck_assert_str_eq(value.data, "v");
	name[SOURCE_MAX_NAME] = 'x';
	name[SOURCE_MAX_NAME + 1] = '\0';
	ck_assert_int_eq(source_read(&source, &params, NULL, &value), SOURCE_ABSENT);
}
END_TEST

START_TEST(each_kind_is_named_as_the_configuration_spells_it)
{
	ck_assert_str_eq(source_kind_name(SOURCE_HEADER), "header");
	ck_assert_str_eq(source_kind_name(SOURCE_ENV), "env");
	ck_assert_str_eq(source_kind_name(SOURCE_LITERAL), "literal");
	ck_assert_str_eq(source_kind_name(SOURCE_JSON), "json");
	ck_assert_str_eq(source_kind_name(SOURCE_FORM), "form");
	ck_assert_str_eq(source_kind_name(SOURCE_COOKIE), "cookie");
}
END_TEST

START_TEST(without_a_body_what_looks_into_it_is_absent)
{
	struct params params = params_of(environment);
	struct source_value value;
	struct source json = {SOURCE_JSON, (char[]){"/id"}};
	struct source form = {SOURCE_FORM, (char[]){"id"}};
	ck_assert_int_eq(source_read(&json, &params, NULL, &value), SOURCE_ABSENT);
	ck_assert_int_eq(source_read(&form, &params, NULL, &value), SOURCE_ABSENT);
}
END_TEST

START_TEST(only_json_and_form_need_the_body)
{
	for (int kind = SOURCE_HEADER; kind <= SOURCE_COOKIE; kind++) {
		struct source items[] = {{SOURCE_HEADER, (char[]){"X"}},
					 {(enum source_kind)kind, (char[]){"X"}}};
		struct source_list list = {items, 2};
		ck_assert(source_list_needs_body(&list) ==
			  (kind == SOURCE_JSON || kind == SOURCE_FORM));
	}
	ck_assert(!source_list_needs_body(&(struct source_list){NULL, 0}));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("source");
	TCase *cases = tcase_create("source");
	tcase_add_loop_test(cases, a_source_is_absent_present_or_repeated, 0,
			    sizeof(sources) / sizeof(sources[0]));
	tcase_add_test(cases, the_longest_name_is_found_and_a_longer_one_is_not);
	tcase_add_test(cases, each_kind_is_named_as_the_configuration_spells_it);
	tcase_add_test(cases, without_a_body_what_looks_into_it_is_absent);
	tcase_add_test(cases, only_json_and_form_need_the_body);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
