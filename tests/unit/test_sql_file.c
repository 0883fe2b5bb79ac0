/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/sql_file.h"

#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/schema.h"

static const struct {
	const char *text;
	const char *statements[3];
	enum sql_file_result end;
	const char *why;
} files[] = {
    {"", {0}, SQL_FILE_END, "nothing"},
    {"-- only\n\n-- comments\n", {0}, SQL_FILE_END, "comments are no statements"},
    {"SELECT 1;\n", {"SELECT 1"}, SQL_FILE_END, "one"},
    {"SELECT 1;", {"SELECT 1"}, SQL_FILE_END, "no newline at the end"},
    {"SELECT 1; \t\r\nSELECT 2;\n", {"SELECT 1", "SELECT 2"}, SQL_FILE_END, "blanks, CRLF"},
    {"SELECT\n\t1,\n2;\n", {"SELECT\n\t1,\n2"}, SQL_FILE_END, "over several lines"},
    {"A\n-- inside\nB;\n", {"A\n-- inside\nB"}, SQL_FILE_END, "the server knows comments too"},
    {"SELECT ';' ,\n1;\n", {"SELECT ';' ,\n1"}, SQL_FILE_END, "only at a line's end"},
    {"SELECT 1;\nSELECT 2\n", {"SELECT 1"}, SQL_FILE_BROKEN, "an end is missing"},
    {"DELIMITER //\nBEGIN\nX;\nEND//\nDELIMITER ;\nY;\n",
     {"BEGIN\nX;\nEND", "Y"},
     SQL_FILE_END,
     "procedures"},
};

START_TEST(a_file_falls_into_its_statements)
{
	struct sql_file file;
	struct buffer statement = {0};
	sql_file_init(&file, files[_i].text);
	for (size_t i = 0; files[_i].statements[i] != NULL; i++) {
		ck_assert_msg(sql_file_next(&file, &statement) == SQL_FILE_STATEMENT, "%s",
			      files[_i].why);
		ck_assert_str_eq(buffer_text(&statement), files[_i].statements[i]);
	}
	ck_assert_msg(sql_file_next(&file, &statement) == files[_i].end, "%s", files[_i].why);
	buffer_free(&statement);
}
END_TEST

static void read_file(const char *path, struct buffer *text)
{
	FILE *file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s", path);
	for (size_t length = 1; length > 0; text->length += length) {
		unsigned char *place = buffer_reserve(text, 4096);
		ck_assert_ptr_nonnull(place);
		length = fread(place, 1, 4096, file);
	}
	fclose(file);
}

START_TEST(the_compiled_in_migrations_are_the_installed_files)
{
	const char *source = getenv("srcdir");
	for (size_t i = 0; i < migration_count; i++) {
		char path[1024];
		struct buffer text = {0};
		snprintf(path, sizeof(path), "%s/sql/%s", source != NULL ? source : ".",
			 migrations[i].file);
		read_file(path, &text);
		ck_assert_str_eq(migrations[i].text, buffer_text(&text));
		buffer_free(&text);
	}
}
END_TEST

START_TEST(migrations_are_numbered_without_a_gap)
{
	for (size_t i = 0; i < migration_count; i++) {
		ck_assert_uint_eq(migrations[i].version, i);
		ck_assert_uint_eq(strtoul(migrations[i].file, NULL, 10), i);
	}
}
END_TEST

START_TEST(every_statement_of_a_migration_may_be_run_twice)
{
	for (size_t i = 0; i < migration_count; i++) {
		struct sql_file file;
		struct buffer statement = {0};
		enum sql_file_result result;
		sql_file_init(&file, migrations[i].text);
		while ((result = sql_file_next(&file, &statement)) == SQL_FILE_STATEMENT) {
			const char *text = buffer_text(&statement);
			ck_assert_msg(strstr(text, "IF NOT EXISTS") != NULL ||
					  strncmp(text, "INSERT IGNORE ", 14) == 0,
				      "%s", text);
		}
		ck_assert_int_eq(result, SQL_FILE_END);
		buffer_free(&statement);
	}
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("sql_file");
	TCase *tests = tcase_create("statements");
	tcase_add_loop_test(tests, a_file_falls_into_its_statements, 0, COUNT(files));
	suite_add_tcase(suite, tests);
	TCase *compiled = tcase_create("migrations");
	tcase_add_test(compiled, the_compiled_in_migrations_are_the_installed_files);
	tcase_add_test(compiled, migrations_are_numbered_without_a_gap);
	tcase_add_test(compiled, every_statement_of_a_migration_may_be_run_twice);
	suite_add_tcase(suite, compiled);
	return suite_run(suite);
}
