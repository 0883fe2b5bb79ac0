/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/listener.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

static int make(struct listener *listener, const char *address, struct error *error)
{
	const struct listener_access ours = {
	    .mode = 0600, .group = "", .uid = (uid_t)-1, .gid = (gid_t)-1};
	return listener_make(listener, address, &ours, error);
}

static const struct {
	const char *address;
	const char *message; /* a part of it */
} refusals[] = {
    {"nowhere", "neither a path nor HOST:PORT"},
    {"relative/socket", "neither a path nor HOST:PORT"},
    {"localhost:", "neither a path nor HOST:PORT"},
    {"::1:9000", "[ADDRESS]:PORT"},
    {"[::1]9000", "[ADDRESS]:PORT"},
    {"[::1:9000", "[ADDRESS]:PORT"},
    {"127.0.0.1:http", "127.0.0.1:http"},
    {"127.0.0.300:9000", "127.0.0.300:9000"},
    {"192.0.2.1:9000", "cannot listen at 192.0.2.1:9000"}, /* nobody's (RFC 5737) */
    {"/no/such/directory/socket", "cannot lock the directory /no/such/directory"},
    {"/a/path/that/is/longer/than/the/hundred/and/seven/bytes/that/the/address/of/a/unix/socket/"
     "takes/and/"
     "not/by/little",
     "longer than the 107 bytes"},
};

START_TEST(each_address_that_cannot_be_is_refused_with_its_reason)
{
	struct listener listener;
	struct error error;
	ck_assert_int_eq(make(&listener, refusals[_i].address, &error), -1);
	ck_assert_msg(strstr(error.message, refusals[_i].message) != NULL, "%s: %s",
		      refusals[_i].address, error.message);
	ck_assert_int_eq(listener.fd, -1);
	listener_remove(&listener);
}
END_TEST

START_TEST(the_socket_neither_blocks_nor_is_inherited_and_goes_at_the_end)
{
	struct listener listener;
	struct error error;
	struct stat status;
	const char *path = scratch_path("socket");
	const struct listener_access anybody = {
	    .mode = 0666, .group = "", .uid = (uid_t)-1, .gid = (gid_t)-1};
	mode_t mask = umask(077);
	ck_assert_int_eq(listener_make(&listener, path, &anybody, &error), 0);
	ck_assert_uint_eq(umask(mask), 077);
	ck_assert_int_gt(listener.fd, 2);
	ck_assert(!listener.tcp);
	ck_assert_int_ne(fcntl(listener.fd, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_ne(fcntl(listener.fd, F_GETFD) & FD_CLOEXEC, 0);
	ck_assert_int_eq(lstat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode, S_IFSOCK | 0666);
	listener_remove(&listener);
	ck_assert_int_eq(lstat(path, &status), -1);
	listener_remove(&listener);
}
END_TEST

/* Only root can give a file away; anybody else can to himself. */
static uid_t somebody(void)
{
	return geteuid() == 0 ? 12345 : geteuid();
}

START_TEST(without_a_group_the_file_is_given_to_the_account)
{
	struct listener listener;
	struct error error;
	struct stat status;
	gid_t group = geteuid() == 0 ? 54321 : getegid();
	const struct listener_access access = {
	    .mode = 0660, .group = "", .uid = somebody(), .gid = group};
	ck_assert_int_eq(listener_make(&listener, scratch_path("socket"), &access, &error), 0);
	ck_assert_int_eq(lstat(scratch_path("socket"), &status), 0);
	ck_assert_uint_eq(status.st_uid, somebody());
	ck_assert_uint_eq(status.st_gid, group);
	ck_assert_uint_eq(status.st_mode, S_IFSOCK | 0660);
	listener_remove(&listener);
}
END_TEST

START_TEST(with_a_group_the_file_stays_ours_and_is_that_groups)
{
	struct listener listener;
	struct error error;
	struct stat status;
	const struct group *group = getgrgid(getegid());
	ck_assert_ptr_nonnull(group);
	const struct listener_access access = {
	    .mode = 0640, .group = group->gr_name, .uid = 12345, .gid = 54321};
	ck_assert_int_eq(listener_make(&listener, scratch_path("socket"), &access, &error), 0);
	ck_assert_int_eq(lstat(scratch_path("socket"), &status), 0);
	ck_assert_uint_eq(status.st_uid, geteuid());
	ck_assert_uint_eq(status.st_gid, getegid());
	ck_assert_uint_eq(status.st_mode, S_IFSOCK | 0640);
	listener_remove(&listener);
}
END_TEST

START_TEST(a_second_one_at_the_same_path_is_refused_and_does_no_harm)
{
	struct listener first, second;
	struct error error;
	struct stat status;
	const char *path = scratch_path("socket");
	ck_assert_int_eq(make(&first, path, &error), 0);
	ck_assert_int_eq(make(&second, path, &error), -1);
	ck_assert_ptr_nonnull(strstr(error.message, "another process is serving"));
	listener_remove(&second);
	ck_assert_int_eq(lstat(path, &status), 0);
	listener_remove(&first);
}
END_TEST

START_TEST(two_that_start_at_once_take_turns)
{
	struct listener listener;
	struct error error;
	struct stat status;
	const char *path = scratch_path("socket");
	int directory = open(scratch_path(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(flock(directory, LOCK_EX | LOCK_NB), 0);
	pid_t child = fork();
	if (child == 0) {
		close(directory);
		int made = make(&listener, path, &error);
		_exit(made == 0 ? 0 : 1);
	}
	/* The other one has its turn: nothing must happen until it is over. */
	ck_assert_int_eq(poll(NULL, 0, 200), 0);
	ck_assert_int_eq(lstat(path, &status), -1);
	close(directory);
	int end;
	ck_assert_int_eq(waitpid(child, &end, 0), child);
	ck_assert_int_eq(end, 0);
	ck_assert_int_eq(lstat(path, &status), 0);
	unlink(path);
}
END_TEST

START_TEST(no_lock_stays_on_the_directory)
{
	struct listener listener;
	struct error error;
	ck_assert_int_eq(make(&listener, scratch_path("socket"), &error), 0);
	int directory = open(scratch_path(""), O_RDONLY | O_DIRECTORY);
	ck_assert_int_eq(flock(directory, LOCK_EX | LOCK_NB), 0);
	close(directory);
	listener_remove(&listener);
}
END_TEST

START_TEST(an_unknown_group_is_refused_and_nothing_made)
{
	struct listener listener;
	struct error error;
	struct stat status;
	const char *path = scratch_path("socket");
	const struct listener_access access = {.mode = 0660, .group = "no-such-group"};
	ck_assert_int_eq(listener_make(&listener, path, &access, &error), -1);
	ck_assert_ptr_nonnull(strstr(error.message, "no-such-group"));
	ck_assert_int_eq(lstat(path, &status), -1);
}
END_TEST

START_TEST(a_file_at_the_path_is_left_alone)
{
	struct listener listener;
	struct error error;
	scratch_file("socket", 0644, "precious");
	ck_assert_int_eq(make(&listener, scratch_path("socket"), &error), -1);
	ck_assert_ptr_nonnull(strstr(error.message, "is not a socket"));
	ck_assert_str_eq(scratch_read("socket"), "precious");
	unlink(scratch_path("socket"));
}
END_TEST

START_TEST(a_datagram_socket_at_the_path_is_left_alone)
{
	struct listener listener;
	struct error error;
	struct stat status;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	strncpy(address.sun_path, scratch_path("socket"), sizeof(address.sun_path) - 1);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(make(&listener, address.sun_path, &error), -1);
	ck_assert_ptr_nonnull(strstr(error.message, "cannot tell"));
	ck_assert_int_eq(lstat(address.sun_path, &status), 0);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("listener");
	TCase *cases = tcase_create("make");
	tcase_add_unchecked_fixture(cases, scratch_set_up, scratch_tear_down);
	tcase_add_loop_test(cases, each_address_that_cannot_be_is_refused_with_its_reason, 0,
			    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(cases, the_socket_neither_blocks_nor_is_inherited_and_goes_at_the_end);
	tcase_add_test(cases, without_a_group_the_file_is_given_to_the_account);
	tcase_add_test(cases, with_a_group_the_file_stays_ours_and_is_that_groups);
	tcase_add_test(cases, a_second_one_at_the_same_path_is_refused_and_does_no_harm);
	tcase_add_test(cases, two_that_start_at_once_take_turns);
	tcase_add_test(cases, no_lock_stays_on_the_directory);
	tcase_add_test(cases, an_unknown_group_is_refused_and_nothing_made);
	tcase_add_test(cases, a_file_at_the_path_is_left_alone);
	tcase_add_test(cases, a_datagram_socket_at_the_path_is_left_alone);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
