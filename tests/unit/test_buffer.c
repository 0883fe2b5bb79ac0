/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/buffer.h"

#include "tests/unit/suite.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

START_TEST(what_is_appended_stands_in_order)
{
	struct buffer buffer = {.limit = 0};
	ck_assert_int_eq(buffer_append(&buffer, "one\0", 4), 0);
	ck_assert_int_eq(buffer_append_text(&buffer, "two"), 0);
	ck_assert_int_eq(buffer_append_byte(&buffer, 0xff), 0);
	ck_assert_int_eq(buffer_printf(&buffer, "%d-%s", 3, "four"), 0);
	ck_assert_uint_eq(buffer.length, 14);
	ck_assert_mem_eq(buffer.data,
			 "one\0two\xff"
			 "3-four",
			 14);
	buffer_free(&buffer);
}
END_TEST

START_TEST(growth_by_single_bytes_loses_none)
{
	struct buffer buffer = {.limit = 0};
	for (unsigned i = 0; i < 100000; i++)
		ck_assert_int_eq(buffer_append_byte(&buffer, (unsigned char)(i % 251)), 0);
	ck_assert_uint_eq(buffer.length, 100000);
	for (unsigned i = 0; i < 100000; i++)
		ck_assert_uint_eq(buffer.data[i], i % 251);
	buffer_free(&buffer);
}
END_TEST

START_TEST(an_empty_append_of_nothing_is_fine)
{
	struct buffer buffer = {.limit = 1};
	ck_assert_int_eq(buffer_append(&buffer, NULL, 0), 0);
	ck_assert_int_eq(buffer_append_text(&buffer, ""), 0);
	ck_assert_uint_eq(buffer.length, 0);
	ck_assert_str_eq(buffer_text(&buffer), "");
	buffer_free(&buffer);
}
END_TEST

static const struct {
	size_t limit;
	size_t first, second; /* bytes of two appends */
	int first_result, second_result;
	const char *why;
} limits[] = {
    {8, 8, 0, 0, 0, "the limit itself is allowed"},
    {8, 9, 0, -1, -1, "one byte over is not, and failure is sticky"},
    {8, 5, 3, 0, 0, "the sum counts"},
    {8, 5, 4, 0, -1, "the sum over the limit"},
    {300, 256, 44, 0, 0, "beyond the first allocation"},
    {300, 256, 45, 0, -1, "beyond the first allocation, over the limit"},
    {0, 70000, 70000, 0, 0, "no limit"},
};

START_TEST(an_append_over_the_limit_adds_nothing)
{
	static const char many[70000];
	struct buffer buffer;
	buffer_init(&buffer, limits[_i].limit);
	int first = buffer_append(&buffer, many, limits[_i].first);
	ck_assert_msg(first == limits[_i].first_result, "%s", limits[_i].why);
	int second = buffer_append(&buffer, many, limits[_i].second);
	ck_assert_msg(second == limits[_i].second_result, "%s", limits[_i].why);
	size_t expected =
	    (first == 0 ? limits[_i].first : 0) + (second == 0 ? limits[_i].second : 0);
	ck_assert_uint_eq(buffer.length, expected);
	ck_assert(buffer.failed == (first < 0 || second < 0));
	buffer_free(&buffer);
}
END_TEST

START_TEST(after_a_failure_nothing_is_added_until_it_is_cleared)
{
	struct buffer buffer = {.limit = 4};
	ck_assert_int_eq(buffer_append_text(&buffer, "abc"), 0);
	ck_assert_int_eq(buffer_append_text(&buffer, "de"), -1);
	ck_assert_int_eq(buffer_append_text(&buffer, "d"), -1);
	ck_assert_int_eq(buffer_printf(&buffer, "d"), -1);
	ck_assert_ptr_null(buffer_reserve(&buffer, 1));
	ck_assert_str_eq(buffer_text(&buffer), "abc");
	buffer_clear(&buffer);
	ck_assert_int_eq(buffer_append_text(&buffer, "wxyz"), 0);
	ck_assert_str_eq(buffer_text(&buffer), "wxyz");
	buffer_free(&buffer);
}
END_TEST

START_TEST(printf_longer_than_the_room_left_grows_the_buffer)
{
	struct buffer buffer = {.limit = 0};
	for (int i = 0; i < 300; i++)
		ck_assert_int_eq(buffer_printf(&buffer, "%03d,", i), 0);
	ck_assert_uint_eq(buffer.length, 1200);
	ck_assert_mem_eq(buffer.data + 1196, "299,", 4);
	buffer_free(&buffer);
}
END_TEST

START_TEST(a_size_that_no_memory_has_fails_and_does_not_wrap)
{
	struct buffer buffer = {.limit = 0};
	ck_assert_int_eq(buffer_append_text(&buffer, "abc"), 0);
	ck_assert_ptr_null(buffer_reserve(&buffer, SIZE_MAX - 1));
	ck_assert(buffer.failed);
	ck_assert_str_eq(buffer_text(&buffer), "abc");
	buffer_free(&buffer);
}
END_TEST

START_TEST(a_limit_lowered_below_the_content_refuses_more)
{
	struct buffer buffer = {.limit = 0};
	ck_assert_int_eq(buffer_append_text(&buffer, "abcdef"), 0);
	buffer.limit = 3;
	ck_assert_int_eq(buffer_append_byte(&buffer, 'g'), -1);
	ck_assert_uint_eq(buffer.length, 6);
	buffer_free(&buffer);
}
END_TEST

START_TEST(reserved_room_becomes_content_when_it_is_counted)
{
	struct buffer buffer = {.limit = 600};
	ck_assert_int_eq(buffer_append_text(&buffer, "head "), 0);
	unsigned char *room = buffer_reserve(&buffer, 595);
	ck_assert_ptr_nonnull(room);
	memset(room, 'x', 595);
	ck_assert_str_eq(buffer_text(&buffer), "head ");
	memcpy(room, "tail", 4);
	buffer.length += 4;
	ck_assert_str_eq(buffer_text(&buffer), "head tail");
	ck_assert_ptr_null(buffer_reserve(&buffer, 592));
	buffer_free(&buffer);
}
END_TEST

START_TEST(clearing_keeps_the_memory_and_freeing_gives_it_back)
{
	struct buffer buffer = {.limit = 10};
	ck_assert_int_eq(buffer_append_text(&buffer, "abc"), 0);
	const unsigned char *memory = buffer.data;
	buffer_clear(&buffer);
	ck_assert_uint_eq(buffer.length, 0);
	ck_assert_ptr_eq(buffer.data, memory);
	buffer_free(&buffer);
	ck_assert_ptr_null(buffer.data);
	ck_assert_uint_eq(buffer.capacity, 0);
	ck_assert_uint_eq(buffer.limit, 10);
	ck_assert_int_eq(buffer_append_text(&buffer, "abc"), 0);
	buffer_free(&buffer);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("buffer");
	TCase *cases = tcase_create("buffer");
	tcase_add_test(cases, what_is_appended_stands_in_order);
	tcase_add_test(cases, growth_by_single_bytes_loses_none);
	tcase_add_test(cases, an_empty_append_of_nothing_is_fine);
	tcase_add_loop_test(cases, an_append_over_the_limit_adds_nothing, 0,
			    sizeof(limits) / sizeof(limits[0]));
	tcase_add_test(cases, after_a_failure_nothing_is_added_until_it_is_cleared);
	tcase_add_test(cases, printf_longer_than_the_room_left_grows_the_buffer);
	tcase_add_test(cases, a_size_that_no_memory_has_fails_and_does_not_wrap);
	tcase_add_test(cases, a_limit_lowered_below_the_content_refuses_more);
	tcase_add_test(cases, reserved_room_becomes_content_when_it_is_counted);
	tcase_add_test(cases, clearing_keeps_the_memory_and_freeing_gives_it_back);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
