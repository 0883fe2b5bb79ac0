/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/bell.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

#define SIZE     (4096 * 4)
#define LONG_MS  60000 /* no test lasts so long */
#define NOBODY   65534
#define MESSAGES 2000

static const unsigned char id[DIGEST_LENGTH] = {0x12, 0x34};
static const unsigned char other_id[DIGEST_LENGTH] = {0x12, 0x35};

static struct bell *open_own(const char *name)
{
	const struct shared_owner me = {geteuid(), getegid()};
	struct error error;
	struct bell *bell = bell_open(scratch_path(name), &me, &error);
	ck_assert_msg(bell != NULL, "%s", error.message);
	return bell;
}

static void check_file(const char *name, uid_t owner)
{
	struct stat status;
	ck_assert_int_eq(lstat(scratch_path(name), &status), 0);
	ck_assert(S_ISREG(status.st_mode));
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
	ck_assert_uint_eq(status.st_uid, owner);
	ck_assert_int_eq(status.st_size, SIZE);
	ck_assert_uint_eq(status.st_nlink, 1);
}

/* Is what one mapping rings heard by the other? */
static bool are_joined(struct bell *one, struct bell *other)
{
	uint32_t seen = bell_word(other, id);
	bell_ring(one, id);
	return bell_word(other, id) != seen;
}

START_TEST(what_is_missing_is_made_and_shared_by_all_who_open_it)
{
	struct bell *one = open_own("run");
	struct bell *two = open_own("run");
	check_file("run/bell", geteuid());
	ck_assert(are_joined(one, two));
	ck_assert(are_joined(two, one));
	bell_free(one);
	/* What was rung stands in the file. */
	uint32_t word = bell_word(two, id);
	bell_free(two);
	two = open_own("run");
	ck_assert_uint_eq(bell_word(two, id), word);
	bell_free(two);
}
END_TEST

START_TEST(a_ring_changes_the_word_of_its_id_alone)
{
	struct bell *bell = bell_new();
	uint32_t other = bell_word(bell, other_id);
	uint32_t word = bell_word(bell, id);
	bell_ring(bell, id);
	ck_assert_uint_ne(bell_word(bell, id), word);
	ck_assert_uint_eq(bell_word(bell, other_id), other);
	bell_free(bell);
}
END_TEST

/* What somebody may have put in the bell's place. */
static void put_link(void)
{
	/* A bell but for its place. */
	scratch_file("precious", 0600, "precious");
	ck_assert_int_eq(truncate(scratch_path("precious"), SIZE), 0);
	scratch_link("run/bell", scratch_path("precious"));
}

static void put_short(void)
{
	scratch_file("run/bell", 0600, "short");
}

static void put_long(void)
{
	scratch_file("run/bell", 0600, "");
	ck_assert_int_eq(truncate(scratch_path("run/bell"), SIZE + 1), 0);
}

static void put_open_to_all(void)
{
	scratch_file("run/bell", 0666, "");
	ck_assert_int_eq(truncate(scratch_path("run/bell"), SIZE), 0);
}

static void put_fifo(void)
{
	ck_assert_int_eq(mkfifo(scratch_path("run/bell"), 0600), 0);
}

static void put_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", scratch_path("run/bell"));
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
}

static const struct {
	const char *what;
	void (*put)(void);
} intruders[] = {
    {"a symlink", put_link},
    {"too short a file", put_short},
    {"too long a file", put_long},
    {"a file that others can write", put_open_to_all},
    {"a FIFO with no reader", put_fifo},
    {"a socket", put_socket},
};

START_TEST(what_is_no_bell_of_ours_is_replaced)
{
	scratch_directory("run");
	intruders[_i].put();
	struct bell *one = open_own("run");
	check_file("run/bell", geteuid());
	struct bell *two = open_own("run");
	ck_assert_msg(are_joined(one, two), "%s", intruders[_i].what);
	if (intruders[_i].put == put_link)
		ck_assert_str_eq(scratch_read("precious"), "precious");
	bell_free(two);
	bell_free(one);
}
END_TEST

START_TEST(a_hole_in_the_file_is_filled)
{
	scratch_directory("run");
	scratch_file("run/bell", 0600, "");
	ck_assert_int_eq(truncate(scratch_path("run/bell"), SIZE), 0);
	bell_free(open_own("run"));
	struct stat status;
	ck_assert_int_eq(stat(scratch_path("run/bell"), &status), 0);
	ck_assert_int_ge(status.st_blocks * 512, SIZE);
}
END_TEST

/* Where no file can be, the error says which and why, and nothing is left behind. */
static void refused(const char *name, const char *expected)
{
	const struct shared_owner me = {geteuid(), getegid()};
	struct error error = {0};
	const char *path = scratch_path(name);
	ck_assert_ptr_null(bell_open(path, &me, &error));
	ck_assert_ptr_nonnull(strstr(error.message, path));
	ck_assert_msg(strstr(error.message, expected) != NULL, "%s", error.message);
}

START_TEST(a_directory_in_its_place_is_an_error)
{
	scratch_directory("run");
	scratch_directory("run/bell");
	refused("run", "directory");
	ck_assert_int_eq(rmdir(scratch_path("run/bell")), 0);
	/* and no half-made file beside it */
	ck_assert_int_eq(rmdir(scratch_path("run")), 0);
}
END_TEST

START_TEST(a_run_directory_that_cannot_be_is_an_error)
{
	scratch_file("run", 0644, "");
	refused("run", "Not a directory");
	refused("absent/run", "No such file or directory");
}
END_TEST

START_TEST(a_full_disk_is_an_error_and_no_SIGBUS)
{
	scratch_directory("run");
	const struct rlimit none = {0, 0};
	pid_t pid = fork();
	if (pid == 0) {
		const struct shared_owner me = {geteuid(), getegid()};
		struct error error;
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &none);
		_exit(bell_open(scratch_path("run"), &me, &error) == NULL ? 0 : 1);
	}
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(rmdir(scratch_path("run")), 0);
}
END_TEST

/* As root for an account that is not root. */
START_TEST(what_root_makes_is_the_accounts)
{
	if (geteuid() != 0)
		return; /* nobody else can give anything away */
	const struct shared_owner nobody = {NOBODY, NOBODY};
	struct error error;
	struct bell *root = bell_open(scratch_path("run"), &nobody, &error);
	ck_assert_ptr_nonnull(root);
	check_file("run/bell", NOBODY);
	struct stat status;
	ck_assert_int_eq(stat(scratch_path("run"), &status), 0);
	ck_assert_uint_eq(status.st_uid, NOBODY);
	ck_assert_uint_eq(status.st_mode & 0777, 0755);
	uint32_t word = bell_word(root, id);
	pid_t pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
			_exit(2);
		struct bell *own = bell_open(scratch_path("run"), &nobody, &error);
		bell_ring(own, id);
		_exit(own != NULL ? 0 : 1);
	}
	int ended;
	ck_assert_int_eq(waitpid(pid, &ended, 0), pid);
	ck_assert_int_eq(ended, 0);
	ck_assert_uint_ne(bell_word(root, id), word);
	bell_free(root);
}
END_TEST

START_TEST(another_accounts_file_is_replaced_by_root_and_an_error_for_others)
{
	if (geteuid() != 0)
		return; /* there is no other account at hand */
	const struct shared_owner nobody = {NOBODY, NOBODY};
	struct error error;
	scratch_directory("run"); /* root's: nobody but root may replace what is in it */
	bell_free(open_own("run"));
	pid_t pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
			_exit(2);
		_exit(bell_open(scratch_path("run"), &nobody, &error) == NULL ? 0 : 1);
	}
	int ended;
	ck_assert_int_eq(waitpid(pid, &ended, 0), pid);
	ck_assert_int_eq(ended, 0);
	check_file("run/bell", 0);
	bell_free(bell_open(scratch_path("run"), &nobody, &error));
	check_file("run/bell", NOBODY);
}
END_TEST

/* Ends with how the process did that was forked with the bell. */
static int end_of(pid_t pid)
{
	int status;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* Until it sleeps in the kernel. */
static void await_sleep(pid_t pid)
{
	char path[64], text[512];
	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	for (;;) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ck_assert_int_ge(fd, 0);
		ssize_t length = read(fd, text, sizeof(text) - 1);
		close(fd);
		ck_assert_int_gt(length, 0);
		text[length] = '\0';
		const char *state = strrchr(text, ')');
		if (state != NULL && state[2] == 'S')
			return;
		clock_pause(1);
	}
}

static pid_t sleeper(struct bell *bell)
{
	pid_t pid = fork();
	if (pid == 0) {
		bell_wait(bell, id, bell_word(bell, id), LONG_MS);
		_exit(0);
	}
	ck_assert_int_ge(pid, 0);
	await_sleep(pid);
	return pid;
}

START_TEST(a_ring_wakes_every_sleeper_long_before_its_time_is_over)
{
	struct bell *bells[] = {bell_new(), open_own("run")};
	for (size_t i = 0; i < 2; i++) {
		pid_t first = sleeper(bells[i]);
		pid_t second = sleeper(bells[i]);
		int64_t from = clock_now();
		bell_ring(bells[i], id);
		ck_assert_int_eq(end_of(first), 0);
		ck_assert_int_eq(end_of(second), 0);
		ck_assert_int_lt(clock_now() - from, LONG_MS / 4);
		bell_free(bells[i]);
	}
}
END_TEST

START_TEST(a_ring_for_another_id_wakes_nobody)
{
	struct bell *bell = bell_new();
	pid_t pid = sleeper(bell);
	bell_ring(bell, other_id);
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	bell_ring(bell, id);
	ck_assert_int_eq(end_of(pid), 0);
	bell_free(bell);
}
END_TEST

START_TEST(a_ring_between_the_word_and_the_wait_is_not_lost)
{
	struct bell *bell = bell_new();
	uint32_t word = bell_word(bell, id);
	bell_ring(bell, id);
	int64_t from = clock_now();
	bell_wait(bell, id, word, LONG_MS);
	ck_assert_int_lt(clock_now() - from, LONG_MS / 4);
	bell_free(bell);
}
END_TEST

/* Each waits for the other's word and answers it: one lost wake and they would sleep for a minute.
 */
START_TEST(no_wake_is_lost_in_thousands_of_turns)
{
	struct bell *bell = open_own("run");
	uint32_t mine = bell_word(bell, id);
	uint32_t theirs = bell_word(bell, other_id);
	pid_t pid = fork();
	if (pid == 0) {
		for (uint32_t i = 0; i < MESSAGES; i++) {
			bell_wait(bell, id, mine + i, LONG_MS);
			bell_ring(bell, other_id);
		}
		_exit(0);
	}
	for (uint32_t i = 0; i < MESSAGES; i++) {
		bell_ring(bell, id);
		bell_wait(bell, other_id, theirs + i, LONG_MS);
	}
	ck_assert_int_eq(end_of(pid), 0);
	ck_assert_uint_eq(bell_word(bell, other_id), theirs + MESSAGES);
	bell_free(bell);
}
END_TEST

static void do_nothing(int number)
{
	(void)number;
}

START_TEST(an_unrung_wait_ends_when_its_time_is_over_and_no_signal_shortens_it)
{
	struct bell *bells[] = {bell_new(), NULL};
	struct sigaction action = {.sa_handler = do_nothing};
	sigaction(SIGUSR2, &action, NULL);
	for (size_t i = 0; i < 2; i++) {
		pid_t parent = getpid();
		pid_t pid = fork();
		if (pid == 0) {
			await_sleep(parent);
			kill(parent, SIGUSR2);
			_exit(0);
		}
		int64_t from = clock_now();
		bell_wait(bells[i], id, bell_word(bells[i], id), 200);
		ck_assert_int_ge(clock_now() - from, 199);
		ck_assert_int_eq(end_of(pid), 0);
		bell_free(bells[i]);
	}
	bell_ring(NULL, id);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bell");
	TCase *tests = tcase_create("bell");
	tcase_set_timeout(tests, 30);
	tcase_add_checked_fixture(tests, scratch_set_up, scratch_tear_down);
	tcase_add_test(tests, what_is_missing_is_made_and_shared_by_all_who_open_it);
	tcase_add_test(tests, a_ring_changes_the_word_of_its_id_alone);
	tcase_add_loop_test(tests, what_is_no_bell_of_ours_is_replaced, 0,
			    sizeof(intruders) / sizeof(intruders[0]));
	tcase_add_test(tests, a_hole_in_the_file_is_filled);
	tcase_add_test(tests, a_directory_in_its_place_is_an_error);
	tcase_add_test(tests, a_run_directory_that_cannot_be_is_an_error);
	tcase_add_test(tests, a_full_disk_is_an_error_and_no_SIGBUS);
	tcase_add_test(tests, what_root_makes_is_the_accounts);
	tcase_add_test(tests, another_accounts_file_is_replaced_by_root_and_an_error_for_others);
	tcase_add_test(tests, a_ring_wakes_every_sleeper_long_before_its_time_is_over);
	tcase_add_test(tests, a_ring_for_another_id_wakes_nobody);
	tcase_add_test(tests, a_ring_between_the_word_and_the_wait_is_not_lost);
	tcase_add_test(tests, no_wake_is_lost_in_thousands_of_turns);
	tcase_add_test(tests, an_unrung_wait_ends_when_its_time_is_over_and_no_signal_shortens_it);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
