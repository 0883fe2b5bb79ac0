/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/digest.h"

#include "base/encode.h"
#include "tests/unit/suite.h"

#include <string.h>

/* FIPS 180-2 appendix B, and the well-known digest of nothing. */
static const struct {
	const char *data;
	const char *hex;
} vectors[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};

static void expect_hex(const unsigned char digest[DIGEST_LENGTH], const char *expected)
{
	char hex[2 * DIGEST_LENGTH + 1];
	encode_hex(hex, digest, DIGEST_LENGTH);
	ck_assert_str_eq(hex, expected);
}

START_TEST(known_data_give_the_known_digest)
{
	unsigned char out[DIGEST_LENGTH];
	digest_of(vectors[_i].data, strlen(vectors[_i].data), out);
	expect_hex(out, vectors[_i].hex);
}
END_TEST

START_TEST(the_digest_of_pieces_is_that_of_the_whole)
{
	unsigned char out[DIGEST_LENGTH];
	struct digest *digest = digest_new();
	ck_assert_ptr_nonnull(digest);
	for (const char *next = vectors[_i].data; *next != '\0'; next++)
		digest_add(digest, next, 1);
	digest_add(digest, NULL, 0);
	digest_finish(digest, out);
	digest_free(digest);
	expect_hex(out, vectors[_i].hex);
}
END_TEST

START_TEST(a_digest_can_be_started_again)
{
	unsigned char out[DIGEST_LENGTH];
	struct digest *digest = digest_new();
	ck_assert_ptr_nonnull(digest);
	digest_add(digest, "left over", 9);
	digest_start(digest);
	digest_add(digest, "abc", 3);
	digest_finish(digest, out);
	expect_hex(out, vectors[1].hex);
	digest_start(digest);
	digest_finish(digest, out);
	expect_hex(out, vectors[0].hex);
	digest_free(digest);
}
END_TEST

START_TEST(a_digest_made_between_others_is_untouched_by_them)
{
	unsigned char out[DIGEST_LENGTH], other[DIGEST_LENGTH];
	struct digest *digest = digest_new();
	ck_assert_ptr_nonnull(digest);
	digest_add(digest, "ab", 2);
	digest_of("something else", 14, other);
	digest_add(digest, "c", 1);
	digest_finish(digest, out);
	expect_hex(out, vectors[1].hex);
	digest_free(digest);
	digest_free(NULL);
}
END_TEST

START_TEST(a_field_is_its_length_in_eight_bytes_and_its_data)
{
	unsigned char fields[DIGEST_LENGTH], expected[DIGEST_LENGTH];
	struct digest *digest = digest_new();
	ck_assert_ptr_nonnull(digest);
	static const char many[0x0102];
	digest_add_field(digest, "abc", 3);
	digest_add_field(digest, NULL, 0);
	digest_add_field(digest, many, sizeof(many));
	digest_finish(digest, fields);
	digest_start(digest);
	digest_add(digest, "\0\0\0\0\0\0\0\003abc\0\0\0\0\0\0\0\0\0\0\0\0\0\0\001\002", 27);
	digest_add(digest, many, sizeof(many));
	digest_finish(digest, expected);
	digest_free(digest);
	ck_assert_mem_eq(fields, expected, DIGEST_LENGTH);
}
END_TEST

START_TEST(two_lists_of_fields_never_give_the_same_bytes)
{
	unsigned char first[DIGEST_LENGTH], second[DIGEST_LENGTH];
	struct digest *digest = digest_new();
	ck_assert_ptr_nonnull(digest);
	digest_add_field(digest, "ab", 2);
	digest_add_field(digest, "c", 1);
	digest_finish(digest, first);
	digest_start(digest);
	digest_add_field(digest, "a", 1);
	digest_add_field(digest, "bc", 2);
	digest_finish(digest, second);
	digest_free(digest);
	ck_assert_mem_ne(first, second, DIGEST_LENGTH);
}
END_TEST

START_TEST(random_bytes_fill_all_and_do_not_repeat)
{
	unsigned char first[64] = {0}, second[64] = {0};
	ck_assert_int_eq(random_bytes(first, sizeof(first)), 0);
	ck_assert_int_eq(random_bytes(second, sizeof(second)), 0);
	/* eight zero bytes in a row, or eight bytes alike: once in 2^64 */
	static const unsigned char zero[8];
	for (size_t i = 0; i < sizeof(first); i += 8) {
		ck_assert_mem_ne(first + i, zero, 8);
		ck_assert_mem_ne(first + i, second + i, 8);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("digest");
	TCase *cases = tcase_create("digest");
	int count = sizeof(vectors) / sizeof(vectors[0]);
	tcase_add_loop_test(cases, known_data_give_the_known_digest, 0, count);
	tcase_add_loop_test(cases, the_digest_of_pieces_is_that_of_the_whole, 0, count);
	tcase_add_test(cases, a_digest_can_be_started_again);
	tcase_add_test(cases, a_digest_made_between_others_is_untouched_by_them);
	tcase_add_test(cases, a_field_is_its_length_in_eight_bytes_and_its_data);
	tcase_add_test(cases, two_lists_of_fields_never_give_the_same_bytes);
	tcase_add_test(cases, random_bytes_fill_all_and_do_not_repeat);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
