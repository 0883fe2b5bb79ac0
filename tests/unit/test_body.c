/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/body.h"

#include "tests/unit/suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* What open(2) answers to O_TMPFILE in place of the kernel; 0: the kernel does. */
static int tmpfile_error;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	if ((flags & O_TMPFILE) == O_TMPFILE && tmpfile_error != 0) {
		errno = tmpfile_error;
		return -1;
	}
	return __real_open(path, flags, mode);
}

int __wrap_open64(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	return __wrap_open(path, flags, mode);
}

enum { MEMORY = 65536 };

static char directory[] = "/tmp/test_body-XXXXXX";
static struct body_limits limits;
static unsigned char data[10485760]; /* does not repeat within any power of two */

static void fill_data(void)
{
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)((i * 2654435761u) >> 13);
}

static void set_up(void)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
	limits = (struct body_limits){.memory = MEMORY, .total = 0, .directory = directory};
}

static int entries_in(const char *path)
{
	DIR *open_directory = opendir(path);
	ck_assert_ptr_nonnull(open_directory);
	int count = 0;
	for (const struct dirent *entry; (entry = readdir(open_directory)) != NULL;)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(open_directory);
	return count;
}

static void tear_down(void)
{
	ck_assert_int_eq(rmdir(directory), 0); /* fails when a body left a file behind */
}

static struct body *filled(size_t length, size_t piece)
{
	struct body *body = body_new(&limits, true);
	ck_assert_ptr_nonnull(body);
	struct error error;
	for (size_t at = 0; at < length; at += piece) {
		size_t rest = length - at < piece ? length - at : piece;
		ck_assert_int_eq(body_append(body, data + at, rest, &error), BODY_OK);
	}
	return body;
}

static void expect_read(int descriptor, size_t length)
{
	unsigned char *got = malloc(length + 1);
	ck_assert_ptr_nonnull(got);
	size_t read_so_far = 0;
	for (ssize_t count;
	     (count = read(descriptor, got + read_so_far, length + 1 - read_so_far)) > 0;)
		read_so_far += (size_t)count;
	ck_assert_uint_eq(read_so_far, length);
	ck_assert_int_eq(memcmp(got, data, length), 0);
	free(got);
}

/* Case C16. */
static const struct {
	size_t length, piece;
	const char *why;
} sizes[] = {
    {0, 1, "empty"},
    {1, 1, "one byte"},
    {5000, 1, "grown byte by byte"},
    {MEMORY - 1, 8192, "just in memory"},
    {MEMORY, 8192, "as much as memory takes"},
    {MEMORY, MEMORY, "in one piece"},
    {MEMORY + 1, 8192, "just in a file"},
    {MEMORY + 1, MEMORY + 1, "to a file at once"},
    {MEMORY + 100, 1, "from memory to a file between two bytes"},
    {10485760, 8000, "10 MiB"},
    {10485760, 10485760, "10 MiB in one piece"},
};

START_TEST(a_body_of_any_size_has_its_length_digest_and_bytes)
{
	size_t length = sizes[_i].length;
	struct body *body = filled(length, sizes[_i].piece);
	ck_assert_uint_eq(body_length(body), length);

	unsigned char digest[DIGEST_LENGTH], expected[DIGEST_LENGTH];
	body_digest(body, digest);
	digest_of(data, length, expected);
	ck_assert_mem_eq(digest, expected, DIGEST_LENGTH);

	struct error error;
	const unsigned char *view = NULL;
	size_t view_length = 1;
	ck_assert_int_eq(body_view(body, &view, &view_length, &error), 0);
	ck_assert_uint_eq(view_length, length);
	ck_assert_ptr_nonnull(view);
	ck_assert_int_eq(memcmp(view, data, length), 0);

	expect_read(body_descriptor(body, &error), length);
	expect_read(body_descriptor(body, &error), length); /* from the start again */
	body_free(body);
}
END_TEST

START_TEST(bodies_equal_in_their_first_megabyte_differ)
{
	unsigned char first[DIGEST_LENGTH], second[DIGEST_LENGTH];
	struct body *body = filled(1048577, 65536);
	body_digest(body, first);
	body_free(body);
	data[1048576] ^= 1;
	body = filled(1048577, 65536);
	body_digest(body, second);
	body_free(body);
	ck_assert_mem_ne(first, second, DIGEST_LENGTH);
}
END_TEST

START_TEST(the_digest_does_not_depend_on_the_pieces)
{
	unsigned char first[DIGEST_LENGTH], second[DIGEST_LENGTH];
	struct body *body = filled(MEMORY + 77, 1);
	body_digest(body, first);
	body_free(body);
	body = filled(MEMORY + 77, MEMORY + 77);
	body_digest(body, second);
	body_free(body);
	ck_assert_mem_eq(first, second, DIGEST_LENGTH);
}
END_TEST

START_TEST(a_body_that_fits_in_memory_opens_no_descriptor_until_asked)
{
	int before = entries_in("/proc/self/fd");
	struct body *body = filled(MEMORY, 4096);
	const unsigned char *view;
	size_t length;
	struct error error;
	ck_assert_int_eq(body_view(body, &view, &length, &error), 0);
	ck_assert_int_eq(entries_in("/proc/self/fd"), before);
	ck_assert_int_ge(body_descriptor(body, &error), 0);
	ck_assert_int_eq(entries_in("/proc/self/fd"), before + 1);
	body_free(body);
	ck_assert_int_eq(entries_in("/proc/self/fd"), before);
}
END_TEST

START_TEST(a_large_body_leaves_no_name_and_no_descriptor)
{
	int before = entries_in("/proc/self/fd");
	struct body *body = filled(MEMORY + 1, 4096);
	ck_assert_int_eq(entries_in("/proc/self/fd"), before + 1);
	ck_assert_int_eq(entries_in(directory), 0);
	body_free(body);
	ck_assert_int_eq(entries_in("/proc/self/fd"), before);
}
END_TEST

static const size_t descriptor_sizes[] = {0, 100, MEMORY + 1};

START_TEST(the_descriptor_is_closed_on_exec)
{
	struct body *body = filled(descriptor_sizes[_i], 4096);
	struct error error;
	int descriptor = body_descriptor(body, &error);
	ck_assert_int_ge(descriptor, 0);
	ck_assert_int_ne(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
	body_free(body);
}
END_TEST

START_TEST(what_is_appended_later_is_in_the_next_view_and_descriptor)
{
	struct body *body = body_new(&limits, false);
	ck_assert_ptr_nonnull(body);
	struct error error;
	static const size_t steps[] = {0, 100, MEMORY, MEMORY + 5, 3 * MEMORY};
	size_t at = 0;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		ck_assert_int_eq(body_append(body, data + at, steps[i] - at, &error), BODY_OK);
		at = steps[i];
		expect_read(body_descriptor(body, &error), at);
		const unsigned char *view;
		size_t length;
		ck_assert_int_eq(body_view(body, &view, &length, &error), 0);
		ck_assert_uint_eq(length, at);
		ck_assert_int_eq(memcmp(view, data, at), 0);
	}
	body_free(body);
}
END_TEST

static const struct {
	uint64_t total;
	size_t first, second;
	enum body_result result; /* of the second append */
	const char *why;
} totals[] = {
    {100, 60, 40, BODY_OK, "exactly full"},
    {100, 60, 41, BODY_TOO_LARGE, "one byte over, in memory"},
    {MEMORY + 100, MEMORY + 50, 50, BODY_OK, "exactly full, in a file"},
    {MEMORY + 100, MEMORY + 50, 51, BODY_TOO_LARGE, "one byte over, in a file"},
    {0, MEMORY, MEMORY, BODY_OK, "no limit"},
};

START_TEST(a_body_over_its_limit_keeps_what_came_before)
{
	limits.total = totals[_i].total;
	struct body *body = filled(totals[_i].first, totals[_i].first);
	struct error error = {.kind = ERROR_NONE};
	enum body_result result =
	    body_append(body, data + totals[_i].first, totals[_i].second, &error);
	ck_assert_msg(result == totals[_i].result, "%s", totals[_i].why);
	if (result == BODY_TOO_LARGE) {
		ck_assert_int_eq(error.kind, ERROR_LIMIT);
		ck_assert_uint_eq(body_length(body), totals[_i].first);
		expect_read(body_descriptor(body, &error), totals[_i].first);
		/* a later piece that would fit must not make a body with a hole */
		ck_assert_int_eq(body_append(body, data, 1, &error), BODY_TOO_LARGE);
		ck_assert_uint_eq(body_length(body), totals[_i].first);
	}
	body_free(body);
}
END_TEST

START_TEST(without_memory_the_first_byte_goes_to_a_file)
{
	limits.memory = 0;
	int before = entries_in("/proc/self/fd");
	struct body *body = filled(1, 1);
	ck_assert_int_eq(entries_in("/proc/self/fd"), before + 1);
	struct error error;
	expect_read(body_descriptor(body, &error), 1);
	body_free(body);
}
END_TEST

START_TEST(a_body_that_failed_once_stays_failed)
{
	char missing[64];
	snprintf(missing, sizeof(missing), "%s/missing", directory);
	limits.directory = missing;
	struct body *body = filled(MEMORY, MEMORY);
	struct error error = {.kind = ERROR_NONE};
	ck_assert_int_eq(body_append(body, data, 1, &error), BODY_FAILED);
	ck_assert_int_eq(error.kind, ERROR_SYSTEM);
	ck_assert_ptr_nonnull(strstr(error.message, missing));
	ck_assert_ptr_nonnull(strstr(error.message, strerror(ENOENT)));

	/* a piece has been lost: that a later one could be kept does not help */
	ck_assert_int_eq(mkdir(missing, 0700), 0);
	error.kind = ERROR_NONE;
	ck_assert_int_eq(body_append(body, data, 1, &error), BODY_FAILED);
	ck_assert_int_eq(error.kind, ERROR_SYSTEM);
	ck_assert_uint_eq(body_length(body), MEMORY);
	body_free(body);
	ck_assert_int_eq(rmdir(missing), 0);
}
END_TEST

START_TEST(a_full_disk_fails_the_body_and_it_can_still_be_freed)
{
	ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	struct rlimit limit = {.rlim_cur = 2 * MEMORY, .rlim_max = 2 * MEMORY};
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	struct body *body = filled(2 * MEMORY, 4096);
	struct error error = {.kind = ERROR_NONE};
	ck_assert_int_eq(body_append(body, data, 1, &error), BODY_FAILED);
	ck_assert_int_eq(error.kind, ERROR_SYSTEM);
	ck_assert_ptr_nonnull(strstr(error.message, directory));
	ck_assert_uint_eq(body_length(body), 2 * MEMORY);
	body_free(body);
}
END_TEST

static const int tmpfile_errors[] = {EOPNOTSUPP, EISDIR};

START_TEST(a_file_system_without_unnamed_files_gets_an_unlinked_one)
{
	tmpfile_error = tmpfile_errors[_i];
	struct body *body = filled(3 * MEMORY, 5000);
	ck_assert_int_eq(entries_in(directory), 0);
	struct error error;
	int descriptor = body_descriptor(body, &error);
	struct stat status;
	ck_assert_int_eq(fstat(descriptor, &status), 0);
	ck_assert(S_ISREG(status.st_mode));
	ck_assert_uint_eq(status.st_mode & 077, 0);
	ck_assert_int_ne(fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
	expect_read(descriptor, 3 * MEMORY);
	body_free(body);
}
END_TEST

START_TEST(nobody_else_may_read_the_file)
{
	umask(0);
	struct body *body = filled(MEMORY + 1, 5000);
	struct error error;
	struct stat status;
	ck_assert_int_eq(fstat(body_descriptor(body, &error), &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	body_free(body);
}
END_TEST

START_TEST(freeing_no_body_is_fine)
{
	body_free(NULL);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("body");
	TCase *cases = tcase_create("body");
	tcase_add_unchecked_fixture(cases, fill_data, NULL);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, a_body_of_any_size_has_its_length_digest_and_bytes, 0,
			    COUNT(sizes));
	tcase_add_test(cases, bodies_equal_in_their_first_megabyte_differ);
	tcase_add_test(cases, the_digest_does_not_depend_on_the_pieces);
	tcase_add_test(cases, a_body_that_fits_in_memory_opens_no_descriptor_until_asked);
	tcase_add_test(cases, a_large_body_leaves_no_name_and_no_descriptor);
	tcase_add_loop_test(cases, the_descriptor_is_closed_on_exec, 0, COUNT(descriptor_sizes));
	tcase_add_test(cases, what_is_appended_later_is_in_the_next_view_and_descriptor);
	tcase_add_loop_test(cases, a_body_over_its_limit_keeps_what_came_before, 0, COUNT(totals));
	tcase_add_test(cases, without_memory_the_first_byte_goes_to_a_file);
	tcase_add_test(cases, a_body_that_failed_once_stays_failed);
	tcase_add_test(cases, a_full_disk_fails_the_body_and_it_can_still_be_freed);
	tcase_add_loop_test(cases, a_file_system_without_unnamed_files_gets_an_unlinked_one, 0,
			    COUNT(tmpfile_errors));
	tcase_add_test(cases, nobody_else_may_read_the_file);
	tcase_add_test(cases, freeing_no_body_is_fine);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
