/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/words.h"

#include "tests/unit/suite.h"

static void count(struct buffer *out, int64_t value)
{
	words_count(out, (uint64_t)value);
}

static void bytes(struct buffer *out, int64_t value)
{
	words_bytes(out, (uint64_t)value);
}

static void leases(struct buffer *out, int64_t value)
{
	words_counted(out, (uint64_t)value, "stale lease", "stale leases");
}

static const struct {
	void (*write)(struct buffer *out, int64_t value);
	int64_t value;
	const char *expected;
} cases[] = {
    {count, 0, "0"},
    {count, 9999, "9999"},
    {count, 10000, "10 000"},
    {count, 100000, "100 000"},
    {count, 1000000, "1 000 000"},
    {count, 18349001, "18 349 001"},
    {count, INT64_MAX, "9 223 372 036 854 775 807"},
    {leases, 0, "0 stale leases"},
    {leases, 1, "1 stale lease"},
    {leases, 2, "2 stale leases"},
    {words_duration, -1, "-"},
    {words_duration, 0, "0.0 ms"},
    {words_duration, 449, "0.4 ms"},
    {words_duration, 9999, "9.9 ms"},
    {words_duration, 10000, "10 ms"},
    {words_duration, 999999, "999 ms"},
    {words_duration, 1000000, "1.0 s"},
    {words_duration, 9999999, "9.9 s"},
    {words_duration, 10000000, "10 s"},
    {words_duration, 99999999, "99 s"},
    {words_duration, 100000000, "1m40s"},
    {words_span, 187 * 60 * 1000, "3h07m"},
    {bytes, 0, "0 bytes"},
    {bytes, 1023, "1023 bytes"},
    {bytes, 1024, "1.0 KiB"},
    {bytes, 1024 * 1024 - 1, "1023.9 KiB"},
    {bytes, 1024 * 1024, "1.0 MiB"},
    {bytes, INT64_MAX, "7.9 EiB"},
    {words_time, 1767323045678, "2026-01-02 03:04:05 UTC"},
    {words_minute, 1767323045678 / 60000, "03:04"},
};

START_TEST(a_value_reads_as_a_person_says_it)
{
	struct buffer out = {0};
	cases[_i].write(&out, cases[_i].value);
	ck_assert_str_eq(buffer_text(&out), cases[_i].expected);
	buffer_free(&out);
}
END_TEST

int main(void)
{
	Suite *tests = suite_create("words");
	TCase *all = tcase_create("words");
	tcase_add_loop_test(all, a_value_reads_as_a_person_says_it, 0,
			    (int)(sizeof(cases) / sizeof(cases[0])));
	suite_add_tcase(tests, all);
	return suite_run(tests);
}
