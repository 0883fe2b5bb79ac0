/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/cell.h"

#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const unsigned char hash[] = {0x00, 0x1f, 0xa2, 0xb3, 0xc4, 0xd5, 0xe6, 0xf7};

static const struct {
	struct cell cell;
	const char *eyes, *data, *json;
	const char *why;
} cells[] = {
    {{.kind = CELL_NOTHING}, "-", "", "null", "nothing"},
    {{.kind = CELL_HASH, .bytes = hash, .length = 8},
     "001fa2b3c4d5",
     "001fa2b3c4d5e6f7",
     "\"001fa2b3c4d5e6f7\"",
     "a hash is short for eyes"},
    {{.kind = CELL_HASH, .bytes = hash, .length = 2}, "001f", "001f", "\"001f\"", "a short one"},
    {{.kind = CELL_TEXT, .bytes = "a\x1b", .length = 2},
     "a\\x1b",
     "a\\x1b",
     "\"a\\u001B\"",
     "text"},
    {{.kind = CELL_TEXT, .bytes = "", .length = 0}, "", "", "\"\"", "empty text"},
    {{.kind = CELL_TEXT, .bytes = "\xff", .length = 1},
     "\\xff",
     "\\xff",
     "{\"hex\": \"ff\"}",
     "no UTF-8"},
    {{.kind = CELL_NUMBER, .number = INT64_MIN},
     "-9223372036854775808",
     "-9223372036854775808",
     "-9223372036854775808",
     "the least number"},
    {{.kind = CELL_NUMBER, .number = INT64_MAX},
     "9223372036854775807",
     "9223372036854775807",
     "9223372036854775807",
     "the greatest, no double"},
    {{.kind = CELL_FLAG, .number = 1}, "yes", "true", "true", "set"},
    {{.kind = CELL_FLAG, .number = 0}, "no", "false", "false", "not set"},
    {{.kind = CELL_SIZE, .number = 0}, "0", "0", "0", "no bytes"},
    {{.kind = CELL_SIZE, .number = 1023}, "1023", "1023", "1023", "below the first unit"},
    {{.kind = CELL_SIZE, .number = 1024}, "1.0K", "1024", "1024", "the first unit"},
    {{.kind = CELL_SIZE, .number = 1048575}, "1023.9K", "1048575", "1048575", "rounded down"},
    {{.kind = CELL_SIZE, .number = 1048576}, "1.0M", "1048576", "1048576", "the next unit"},
    {{.kind = CELL_SPAN, .number = 999}, "0s", "0", "0", "less than a second"},
    {{.kind = CELL_SPAN, .number = -999}, "0s", "0", "0", "and below"},
    {{.kind = CELL_SPAN, .number = 59999}, "59s", "59", "59", "seconds"},
    {{.kind = CELL_SPAN, .number = 60000}, "1m00s", "60", "60", "minutes"},
    {{.kind = CELL_SPAN, .number = 3599999}, "59m59s", "3599", "3599", "the last second"},
    {{.kind = CELL_SPAN, .number = 3600000}, "1h00m", "3600", "3600", "hours"},
    {{.kind = CELL_SPAN, .number = 86399999}, "23h59m", "86399", "86399", "the last minute"},
    {{.kind = CELL_SPAN, .number = 86400000}, "1d00h", "86400", "86400", "days"},
    {{.kind = CELL_SPAN, .number = -90061000}, "-1d01h", "-90061", "-90061", "past"},
    {{.kind = CELL_TIME, .number = 0},
     "1970-01-01T00:00:00Z",
     "1970-01-01T00:00:00.000Z",
     "\"1970-01-01T00:00:00.000Z\"",
     "the epoch"},
    {{.kind = CELL_TIME, .number = -1},
     "1969-12-31T23:59:59Z",
     "1969-12-31T23:59:59.999Z",
     "\"1969-12-31T23:59:59.999Z\"",
     "before it"},
    {{.kind = CELL_TIME, .number = 4102444800123},
     "2100-01-01T00:00:00Z",
     "2100-01-01T00:00:00.123Z",
     "\"2100-01-01T00:00:00.123Z\"",
     "beyond 2038"},
};

START_TEST(a_value_reads_as_its_reader_wants_it)
{
	const struct cell_style style = {.utf8 = true};
	struct buffer out = {0};
	cell_for_eyes(&out, &cells[_i].cell, &style);
	ck_assert_msg(strcmp(buffer_text(&out), cells[_i].eyes) == 0, "%s: %s", cells[_i].why,
		      buffer_text(&out));
	buffer_clear(&out);
	cell_for_data(&out, &cells[_i].cell, &style);
	ck_assert_msg(strcmp(buffer_text(&out), cells[_i].data) == 0, "%s: %s", cells[_i].why,
		      buffer_text(&out));
	buffer_free(&out);
	json_t *value = cell_json(&cells[_i].cell, &style);
	ck_assert_ptr_nonnull(value);
	char *json = json_dumps(value, JSON_ENCODE_ANY);
	ck_assert_msg(strcmp(json, cells[_i].json) == 0, "%s: %s", cells[_i].why, json);
	free(json);
	json_decref(value);
}
END_TEST

START_TEST(a_full_hash_is_shown_where_it_is_asked_for)
{
	const struct cell_style style = {.full = true};
	const struct cell cell = cell_hash(hash, sizeof(hash));
	struct buffer out = {0};
	cell_for_eyes(&out, &cell, &style);
	ck_assert_str_eq(buffer_text(&out), "001fa2b3c4d5e6f7");
	buffer_free(&out);
}
END_TEST

static const struct {
	const char *zone, *text;
} zones[] = {
    {"UTC", "2026-03-01T23:30:00+00:00"},
    {"XXX-5:30", "2026-03-02T05:00:00+05:30"},
    {"XXX+3:30", "2026-03-01T20:00:00-03:30"},
    {"XXX0:30", "2026-03-01T23:00:00-00:30"},
};

START_TEST(local_time_carries_its_offset)
{
	const struct cell_style style = {.local_time = true};
	const struct cell cell = cell_number(CELL_TIME, INT64_C(1772407800000));
	struct buffer out = {0};
	ck_assert_int_eq(setenv("TZ", zones[_i].zone, 1), 0);
	tzset();
	cell_for_eyes(&out, &cell, &style);
	ck_assert_str_eq(buffer_text(&out), zones[_i].text);
	buffer_free(&out);
}
END_TEST

START_TEST(a_cut_text_says_so)
{
	const struct cell_style utf8 = {.utf8 = true}, ascii = {0};
	struct cell cell = cell_text("abc");
	struct buffer out = {0};
	cell_cut(&cell, 3);
	cell_for_eyes(&out, &cell, &ascii);
	ck_assert_str_eq(buffer_text(&out), "abc");
	ck_assert(!cell.cut);
	cell_cut(&cell, 2);
	ck_assert(cell.cut);
	buffer_clear(&out);
	cell_for_eyes(&out, &cell, &ascii);
	ck_assert_str_eq(buffer_text(&out), "ab...");
	buffer_clear(&out);
	cell_for_eyes(&out, &cell, &utf8);
	ck_assert_str_eq(buffer_text(&out), "ab\xe2\x80\xa6");
	buffer_free(&out);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cell");
	TCase *cases = tcase_create("cell");
	tcase_add_loop_test(cases, a_value_reads_as_its_reader_wants_it, 0,
			    sizeof(cells) / sizeof(cells[0]));
	tcase_add_test(cases, a_full_hash_is_shown_where_it_is_asked_for);
	tcase_add_loop_test(cases, local_time_carries_its_offset, 0,
			    sizeof(zones) / sizeof(zones[0]));
	tcase_add_test(cases, a_cut_text_says_so);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
