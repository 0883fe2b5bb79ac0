/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/unit.h"

#include "tests/unit/suite.h"

#include <string.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

enum { BAD = -1 };

struct form {
	const char *text;
	int64_t number;   /* BAD: refused */
	const char *back; /* how the number is written; NULL: as it was */
};

static const struct form durations[] = {
    {"0s", 0, NULL},
    {"500ms", 500, NULL},
    {"1000ms", 1000, "1s"},
    {"30s", 30000, NULL},
    {"60s", 60000, NULL},
    {"1m", 60000, "60s"},
    {"2m", 120000, NULL},
    {"90s", 90000, NULL},
    {"1h", 3600000, NULL},
    {"24h", 86400000, NULL},
    {"1d", 86400000, "24h"},
    {"7d", 604800000, NULL},
    {"9223372036854775807ms", INT64_MAX, NULL},
    {"9223372036854775808ms", INT64_MAX, "9223372036854775807ms"},
    {"99999999999999999999999999s", INT64_MAX, "9223372036854775807ms"},
    {"9999999999999999d", INT64_MAX, "9223372036854775807ms"},
    {"", BAD, NULL},
    {"30", BAD, NULL},
    {"s", BAD, NULL},
    {"30 s", BAD, NULL},
    {" 30s", BAD, NULL},
    {"30s ", BAD, NULL},
    {"30S", BAD, NULL},
    {"30sec", BAD, NULL},
    {"-1s", BAD, NULL},
    {"+1s", BAD, NULL},
    {"1.5s", BAD, NULL},
    {"1h30m", BAD, NULL},
    {"0x10s", BAD, NULL},
};

static const struct form sizes[] = {
    {"0", 0, NULL},
    {"1000", 1000, NULL},
    {"1023", 1023, NULL},
    {"1024", 1024, "1K"},
    {"4K", 4096, NULL},
    {"16M", 16 << 20, NULL},
    {"1G", 1 << 30, NULL},
    {"1025K", 1025 * 1024, NULL},
    {"8589934592G", INT64_MAX, "9223372036854775807"},
    {"", BAD, NULL},
    {"K", BAD, NULL},
    {"16m", BAD, NULL},
    {"16MB", BAD, NULL},
    {"16MiB", BAD, NULL},
    {"16 M", BAD, NULL},
    {"-1", BAD, NULL},
    {"1T", BAD, NULL},
};

static const struct form modes[] = {
    {"0660", 0660, NULL}, {"660", 0660, "0660"}, {"0000", 0, NULL},     {"07777", 07777, "7777"},
    {"", BAD, NULL},      {"6", BAD, NULL},      {"0680", BAD, NULL},   {"rw-rw----", BAD, NULL},
    {"-660", BAD, NULL},  {"0o660", BAD, NULL},  {"000660", BAD, NULL},
};

static void check_form(const struct form *form, int (*parse)(const char *, int64_t *),
		       void (*format)(int64_t, char *))
{
	int64_t number = BAD;
	int result = parse(form->text, &number);
	ck_assert_msg(result == (form->number == BAD ? -1 : 0) && number == form->number,
		      "\"%s\": result %d, number %lld", form->text, result, (long long)number);
	if (form->number == BAD)
		return;
	char back[UNIT_TEXT_SIZE];
	format(number, back);
	ck_assert_str_eq(back, form->back != NULL ? form->back : form->text);
}

START_TEST(a_duration_is_digits_and_a_unit_and_nothing_else)
{
	check_form(&durations[_i], unit_parse_duration, unit_format_duration);
}
END_TEST

START_TEST(a_size_is_digits_and_perhaps_a_binary_unit)
{
	check_form(&sizes[_i], unit_parse_size, unit_format_size);
}
END_TEST

START_TEST(a_mode_is_three_to_five_octal_digits)
{
	check_form(&modes[_i], unit_parse_mode, unit_format_mode);
}
END_TEST

START_TEST(what_is_written_is_read_back_as_the_same_number)
{
	static const int64_t factors[] = {1,       1000,    1024,     60000,
					  1 << 20, 3600000, 86400000, 1 << 30};
	for (int i = 0; i < COUNT(factors); i++) {
		for (int64_t count = 0; count < 200; count++) {
			int64_t number = count * factors[i], back;
			char text[UNIT_TEXT_SIZE];
			unit_format_duration(number, text);
			ck_assert_int_eq(unit_parse_duration(text, &back), 0);
			ck_assert_int_eq(back, number);
			unit_format_size(number, text);
			ck_assert_int_eq(unit_parse_size(text, &back), 0);
			ck_assert_int_eq(back, number);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unit");
	TCase *cases = tcase_create("unit");
	tcase_add_loop_test(cases, a_duration_is_digits_and_a_unit_and_nothing_else, 0,
			    COUNT(durations));
	tcase_add_loop_test(cases, a_size_is_digits_and_perhaps_a_binary_unit, 0, COUNT(sizes));
	tcase_add_loop_test(cases, a_mode_is_three_to_five_octal_digits, 0, COUNT(modes));
	tcase_add_test(cases, what_is_written_is_read_back_as_the_same_number);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
