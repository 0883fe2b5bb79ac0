/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "metrics/exposition.h"

#include "tests/unit/suite.h"

static const struct exposition_family counter = {"a_total", EXPOSITION_COUNTER, NULL,
						 "Lines\nand \\ \"quotes\"."};
static const struct exposition_family bytes = {"b_bytes_total", EXPOSITION_COUNTER, "bytes",
					       "Bytes."};
static const struct exposition_family gauge = {"g_seconds", EXPOSITION_GAUGE, "seconds", "Time."};
static const struct exposition_family empty = {"e", EXPOSITION_GAUGE, NULL, "Nothing."};
static const struct exposition_family info = {"v_info", EXPOSITION_INFO, NULL, "Version."};
static const struct exposition_family histogram = {"h_seconds", EXPOSITION_HISTOGRAM, "seconds",
						   "How long."};

static void write_all(struct exposition *exposition)
{
	static const uint64_t buckets[] = {3, 0, 2, 1}, bounds[] = {500, 1000000, 60000000};
	const struct exposition_label labels[] = {{"route", "a\"b\\c\nd"}, {"outcome", "first"}};
	exposition_family(exposition, &counter);
	exposition_number(exposition, labels, 2, 18446744073709551615u);
	exposition_number(exposition, labels + 1, 1, 0);
	exposition_family(exposition, &bytes);
	exposition_number(exposition, NULL, 0, 9007199254740993);
	exposition_family(exposition, &empty);
	exposition_family(exposition, &gauge);
	exposition_seconds(exposition, NULL, 0, -1);
	exposition_family(exposition, &info);
	exposition_number(exposition, labels + 1, 1, 1);
	exposition_family(exposition, &histogram);
	exposition_histogram(exposition, labels + 1, 1, buckets, bounds, 3, 62000001);
	exposition_end(exposition);
}

#define SAMPLES_A                                                                                  \
	"a_total{route=\"a\\\"b\\\\c\\nd\",outcome=\"first\"} 18446744073709551615\n"              \
	"a_total{outcome=\"first\"} 0\n"
#define SAMPLES_H                                                                                  \
	"h_seconds_bucket{outcome=\"first\",le=\"0.0005\"} 3\n"                                    \
	"h_seconds_bucket{outcome=\"first\",le=\"1.0\"} 3\n"                                       \
	"h_seconds_bucket{outcome=\"first\",le=\"60.0\"} 5\n"                                      \
	"h_seconds_bucket{outcome=\"first\",le=\"+Inf\"} 6\n"                                      \
	"h_seconds_sum{outcome=\"first\"} 62.000001\n"                                             \
	"h_seconds_count{outcome=\"first\"} 6\n"

static const struct {
	enum exposition_format format;
	const char *expected;
} formats[] = {
    {EXPOSITION_TEXT, "# HELP a_total Lines\\nand \\\\ \"quotes\".\n"
		      "# TYPE a_total counter\n" SAMPLES_A "# HELP b_bytes_total Bytes.\n"
		      "# TYPE b_bytes_total counter\n"
		      "b_bytes_total 9007199254740993\n"
		      "# HELP g_seconds Time.\n"
		      "# TYPE g_seconds gauge\n"
		      "g_seconds -0.000001\n"
		      "# HELP v_info Version.\n"
		      "# TYPE v_info gauge\n"
		      "v_info{outcome=\"first\"} 1\n"
		      "# HELP h_seconds How long.\n"
		      "# TYPE h_seconds histogram\n" SAMPLES_H},
    {EXPOSITION_OPENMETRICS,
     "# TYPE a counter\n"
     "# HELP a Lines\\nand \\\\ \\\"quotes\\\".\n" SAMPLES_A "# TYPE b_bytes counter\n"
     "# UNIT b_bytes bytes\n"
     "# HELP b_bytes Bytes.\n"
     "b_bytes_total 9007199254740993\n"
     "# TYPE g_seconds gauge\n"
     "# UNIT g_seconds seconds\n"
     "# HELP g_seconds Time.\n"
     "g_seconds -0.000001\n"
     "# TYPE v info\n"
     "# HELP v Version.\n"
     "v_info{outcome=\"first\"} 1\n"
     "# TYPE h_seconds histogram\n"
     "# UNIT h_seconds seconds\n"
     "# HELP h_seconds How long.\n" SAMPLES_H "# EOF\n"},
};

START_TEST(either_format_is_written_to_the_letter)
{
	struct exposition exposition;
	exposition_begin(&exposition, formats[_i].format);
	write_all(&exposition);
	ck_assert(!exposition.out.failed);
	ck_assert_str_eq(buffer_text(&exposition.out), formats[_i].expected);
	buffer_free(&exposition.out);
}
END_TEST

static const struct {
	int64_t microseconds;
	const char *expected;
} times[] = {
    {0, "0"},
    {1, "0.000001"},
    {500, "0.0005"},
    {100000, "0.1"},
    {1000000, "1"},
    {10000000, "10"},
    {1500000, "1.5"},
    {-1500000, "-1.5"},
    {-1000000, "-1"},
    {1764547200123456, "1764547200.123456"}, /* no double has room for both ends */
    {INT64_MAX, "9223372036854.775807"},
    {INT64_MIN, "-9223372036854.775808"},
};

START_TEST(seconds_are_exact_and_no_longer_than_they_must)
{
	struct exposition exposition;
	struct buffer expected = {0};
	exposition_begin(&exposition, EXPOSITION_TEXT);
	exposition_family(&exposition, &gauge);
	exposition_seconds(&exposition, NULL, 0, times[_i].microseconds);
	buffer_printf(&expected, "# HELP g_seconds Time.\n# TYPE g_seconds gauge\ng_seconds %s\n",
		      times[_i].expected);
	ck_assert_str_eq(buffer_text(&exposition.out), buffer_text(&expected));
	buffer_free(&expected);
	buffer_free(&exposition.out);
}
END_TEST

START_TEST(out_of_memory_is_told_at_the_end)
{
	struct exposition exposition;
	exposition_begin(&exposition, EXPOSITION_TEXT);
	exposition.out.limit = 100;
	write_all(&exposition);
	ck_assert(exposition.out.failed);
	buffer_free(&exposition.out);
}
END_TEST

int main(void)
{
	Suite *tests = suite_create("exposition");
	TCase *all = tcase_create("exposition");
	tcase_add_loop_test(all, either_format_is_written_to_the_letter, 0,
			    sizeof(formats) / sizeof(formats[0]));
	tcase_add_loop_test(all, seconds_are_exact_and_no_longer_than_they_must, 0,
			    sizeof(times) / sizeof(times[0]));
	tcase_add_test(all, out_of_memory_is_told_at_the_end);
	suite_add_tcase(tests, all);
	return suite_run(tests);
}
