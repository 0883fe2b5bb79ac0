/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/encode.h"

#include "tests/unit/suite.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

START_TEST(every_byte_goes_to_hex_and_back)
{
	unsigned char data[256], back[256];
	char text[2 * sizeof(data) + 1];
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)i;
	encode_hex(text, data, sizeof(data));
	ck_assert_uint_eq(strlen(text), 512);
	ck_assert_int_eq(strncmp(text + 2 * 0x9a, "9a9b9c9d9e9fa0", 14), 0);
	ck_assert_int_eq(decode_hex(back, sizeof(back), text), 0);
	ck_assert_mem_eq(data, back, sizeof(data));
}
END_TEST

static const struct {
	const char *text;
	int result;
	const char *why;
} hex_texts[] = {
    {"00fF", 0, "either case"},
    {"00f", -1, "a digit short"},
    {"00ff0", -1, "a digit too many"},
    {"00", -1, "too short"},
    {"", -1, "empty"},
    {"0x00", -1, "a prefix"},
    {"00 f", -1, "a blank"},
    {"g0ff", -1, "no digit"},
    {"0gff", -1, "no digit"},
    {" 0ff", -1, "a sign of strtol"},
    {"/0ff", -1, "below 0"},
    {":0ff", -1, "above 9"},
    {"@0ff", -1, "below A"},
    {"G0ff", -1, "above F"},
    {"`0ff", -1, "below a"},
};

START_TEST(only_the_right_number_of_hex_digits_is_taken)
{
	/* a copy of exact size, so that a read behind it is seen */
	char *text = strdup(hex_texts[_i].text);
	ck_assert_ptr_nonnull(text);
	unsigned char data[2] = {0xaa, 0xaa};
	ck_assert_msg(decode_hex(data, sizeof(data), text) == hex_texts[_i].result, "%s",
		      hex_texts[_i].why);
	if (hex_texts[_i].result == 0)
		ck_assert_mem_eq(data, "\x00\xff", 2);
	free(text);
}
END_TEST

static const struct {
	const char *data;
	size_t length;
	const char *json;
	const char *why;
} json_strings[] = {
    {"", 0, "", "nothing"},
    {"plain /text", 11, "plain /text", "a slash needs no escape"},
    {"\"\\", 2, "\\\"\\\\", "quote and backslash"},
    {"\b\f\n\r\t", 5, "\\b\\f\\n\\r\\t", "RFC 8259 section 7, short forms"},
    {"\0\x01\x1f", 3, "\\u0000\\u0001\\u001f", "other control bytes"},
    {"a\x7f", 2, "a\\u007f", "DEL"},
    {"\xc2\x9b", 2, "\\u009b", "C1 control: CSI to some terminals"},
    {"\xc2\xa0", 2, "\xc2\xa0", "the first behind the C1 controls"},
    {"\xe2\x80\xa8\xe2\x80\xa9", 6, "\\u2028\\u2029", "line separators"},
    {"\xe2\x80\xae", 3, "\\u202e", "right-to-left override"},
    {"\xe2\x80\xaf", 3, "\xe2\x80\xaf", "narrow no-break space stays"},
    {"\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", 9, "\\u2066\\u2069\xe2\x81\xaa",
     "isolates, and no further"},
    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
     "UTF-8 stays"},
    {"a\xffz", 3, "a\\ufffdz", "a byte that is never UTF-8"},
    {"\xe2\x82z", 3, "\\ufffd\\ufffdz", "a character cut short: one mark a byte"},
    {"\xe2\x82", 2, "\\ufffd\\ufffd", "a character cut by the end"},
    {"\xc0\xaf", 2, "\\ufffd\\ufffd", "overlong"},
};

START_TEST(bytes_become_the_inside_of_a_json_string)
{
	struct buffer out = {.limit = 0};
	ck_assert_int_eq(encode_json(&out, json_strings[_i].data, json_strings[_i].length), 0);
	ck_assert_msg(strcmp(buffer_text(&out), json_strings[_i].json) == 0, "%s: %s",
		      json_strings[_i].why, buffer_text(&out));
	buffer_free(&out);
}
END_TEST

/* All pairs that begin with `first`, as one array of strings. */
static void expect_pairs(unsigned char first)
{
	struct buffer out = {.limit = 0};
	for (int second = 0; second < 256; second++) {
		unsigned char pair[2] = {first, (unsigned char)second};
		buffer_append_text(&out, second == 0 ? "[\"" : "\",\"");
		ck_assert_int_eq(encode_json(&out, pair, 2), 0);
	}
	buffer_append_text(&out, "\"]");
	json_error_t error;
	json_t *array = json_loads(buffer_text(&out), JSON_ALLOW_NUL, &error);
	ck_assert_msg(array != NULL, "%s", error.text);
	ck_assert_uint_eq(json_array_size(array), 256);
	for (int second = 0; first < 0x80 && second < 0x80; second++) {
		char pair[2] = {(char)first, (char)second};
		const json_t *string = json_array_get(array, (size_t)second);
		if (json_string_length(string) != 2 ||
		    memcmp(json_string_value(string), pair, 2) != 0)
			ck_abort_msg("%02x %02x came back as another", first, second);
	}
	json_decref(array);
	buffer_free(&out);
}

START_TEST(a_json_parser_reads_any_two_bytes_back)
{
	for (int first = 0; first < 256; first++)
		expect_pairs((unsigned char)first);
}
END_TEST

START_TEST(json_over_the_limit_of_its_buffer_fails)
{
	struct buffer out = {.limit = 5};
	ck_assert_int_eq(encode_json(&out, "\x01", 1), -1);
	ck_assert(out.failed);
	ck_assert_uint_eq(out.length, 0);
	buffer_clear(&out);
	ck_assert_int_eq(encode_json(&out, NULL, 0), 0);
	buffer_free(&out);
}
END_TEST

static const struct {
	const char *data;
	size_t size; /* 0: none */
	uint32_t code;
	const char *why;
} characters[] = {
    {"A", 1, 'A', "ASCII"},
    {"\x7f", 1, 0x7f, "the last of one byte"},
    {"\xc2\x80", 2, 0x80, "the first of two bytes"},
    {"\xdf\xbf", 2, 0x7ff, "the last of two bytes"},
    {"\xe0\xa0\x80", 3, 0x800, "the first of three bytes"},
    {"\xef\xbf\xbf", 3, 0xffff, "the last of three bytes"},
    {"\xf0\x90\x80\x80", 4, 0x10000, "the first of four bytes"},
    {"\xf4\x8f\xbf\xbf", 4, 0x10ffff, "the last code point"},
    {"\xf4\x90\x80\x80", 0, 0, "above U+10FFFF"},
    {"\xf5\x80\x80\x80", 0, 0, "a lead byte above all"},
    {"\xf8\x88\x80\x80\x80", 0, 0, "five bytes"},
    {"\xff", 0, 0, "never a byte of UTF-8"},
    {"\x80", 0, 0, "a continuation first"},
    {"\xbf", 0, 0, "the last continuation first"},
    {"\xc0\x80", 0, 0, "overlong NUL"},
    {"\xc1\xbf", 0, 0, "overlong, two bytes"},
    {"\xe0\x9f\xbf", 0, 0, "overlong, three bytes"},
    {"\xf0\x8f\xbf\xbf", 0, 0, "overlong, four bytes"},
    {"\xed\x9f\xbf", 3, 0xd7ff, "the last before the surrogates"},
    {"\xed\xa0\x80", 0, 0, "the first surrogate"},
    {"\xed\xbf\xbf", 0, 0, "the last surrogate"},
    {"\xee\x80\x80", 3, 0xe000, "the first behind the surrogates"},
    {"\xc2", 0, 0, "one of two bytes"},
    {"\xe2\x82", 0, 0, "two of three bytes"},
    {"\xf0\x9f\x98", 0, 0, "three of four bytes"},
    {"\xc2z", 0, 0, "no continuation"},
    {"\xe2\x82z", 0, 0, "no second continuation"},
    {"\xf0\x9f\x98z", 0, 0, "no third continuation"},
};

START_TEST(a_character_is_taken_as_rfc_3629_says)
{
	size_t length = strlen(characters[_i].data);
	unsigned char *exact = malloc(length);
	ck_assert_ptr_nonnull(exact);
	memcpy(exact, characters[_i].data, length);
	uint32_t code = 0;
	ck_assert_msg(utf8_next(exact, length, &code) == characters[_i].size, "%s",
		      characters[_i].why);
	ck_assert_msg(code == characters[_i].code, "%s: U+%04X", characters[_i].why,
		      (unsigned)code);
	for (size_t shorter = 0; shorter < characters[_i].size; shorter++)
		ck_assert_msg(utf8_next(exact, shorter, &code) == 0, "%s, %zu bytes of it",
			      characters[_i].why, shorter);
	free(exact);
}
END_TEST

static const struct {
	const char *text;
	int length; /* -1: refused */
	const char *decoded;
	const char *why;
} escapes[] = {
    {"", 0, "", "nothing"},
    {"/plain+text", 11, "/plain+text", "a plus is a plus in a path"},
    {"a%20c", 3, "a c", "a blank"},
    {"%2F%2f", 2, "//", "either case"},
    {"%2541", 3, "%41", "decoded once"},
    {"%c3%A9", 2, "\xc3\xa9", "bytes, whatever they mean"},
    {"100%", -1, NULL, "nothing behind the sign"},
    {"100%4", -1, NULL, "one digit"},
    {"%4g", -1, NULL, "no digit"},
    {"%g4", -1, NULL, "no digit"},
    {"%%41", -1, NULL, "a sign is no digit"},
    {"a%00b", -1, NULL, "no NUL is made"},
};

START_TEST(percent_escapes_are_undone_once)
{
	char *text = strdup(escapes[_i].text);
	ck_assert_ptr_nonnull(text);
	ck_assert_msg(percent_decode(text) == escapes[_i].length, "%s", escapes[_i].why);
	if (escapes[_i].decoded != NULL)
		ck_assert_str_eq(text, escapes[_i].decoded);
	free(text);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("encode");
	TCase *cases = tcase_create("encode");
	tcase_add_test(cases, every_byte_goes_to_hex_and_back);
	tcase_add_loop_test(cases, only_the_right_number_of_hex_digits_is_taken, 0,
			    COUNT(hex_texts));
	tcase_add_loop_test(cases, bytes_become_the_inside_of_a_json_string, 0,
			    COUNT(json_strings));
	tcase_add_test(cases, a_json_parser_reads_any_two_bytes_back);
	tcase_add_test(cases, json_over_the_limit_of_its_buffer_fails);
	tcase_add_loop_test(cases, a_character_is_taken_as_rfc_3629_says, 0, COUNT(characters));
	tcase_add_loop_test(cases, percent_escapes_are_undone_once, 0, COUNT(escapes));
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
