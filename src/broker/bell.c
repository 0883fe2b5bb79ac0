/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/bell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/encode.h"

#define NAME  "bell"
#define WORDS 4096

/* The mapping itself. */
struct bell {
	_Atomic uint32_t words[WORDS];
};

/* Another process may put a file there between two looks of ours, but not for ever. */
#define MOST_TRIES 3

/* --- the file --- */

/* The directory, made if need be; -1 with *error. As root a new one is made over to the owner by
 * its descriptor, so that nothing put in its place meanwhile is. */
static int open_directory(const char *path, const struct bell_owner *owner, struct error *error)
{
	bool made = mkdir(path, 0755) == 0;
	if (!made && errno != EEXIST) {
		error_set_errno(error, errno, "%s", path);
		return -1;
	}
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (made ? O_NOFOLLOW : 0));
	if (fd == -1) {
		error_set_errno(error, errno, "%s", path);
		return -1;
	}
	if (made && geteuid() == 0 && fchown(fd, owner->user, owner->group) == -1) {
		error_set_errno(error, errno, "%s: cannot be given to its owner", path);
		close(fd);
		return -1;
	}
	return fd;
}

/* All blocks there, as far as the file system lets it be said: on a full disk a hole would end
 * whoever writes into it (SIGBUS). What the words say stays. */
static int fill(int file)
{
	if (fallocate(file, 0, 0, sizeof(struct bell)) == 0)
		return 0;
	return errno == EOPNOTSUPP ? ftruncate(file, sizeof(struct bell)) : -1;
}

enum found { FOUND_BELL, FOUND_NONE, FOUND_OTHER, FOUND_FAILED };

static bool is_bell(const struct stat *status, const struct bell_owner *owner)
{
	return S_ISREG(status->st_mode) && status->st_uid == owner->user &&
	       (status->st_mode & (S_IRWXG | S_IRWXO)) == 0 &&
	       status->st_size == (off_t)sizeof(struct bell);
}

static enum found judge_failed_open(int number, struct error *error)
{
	switch (number) {
	case ENOENT:
		return FOUND_NONE;
	case ELOOP:  /* a symlink */
	case EACCES: /* somebody else's */
	case EISDIR:
	case ENXIO: /* a socket */
		return FOUND_OTHER;
	default:
		error_set_errno(error, number, NAME);
		return FOUND_FAILED;
	}
}

/* What stands under the name; *file is open for FOUND_BELL alone. */
static enum found open_file(int directory, const struct bell_owner *owner, int *file,
			    struct error *error)
{
	/* Nor does a FIFO hold us up, opened for both. */
	*file = openat(directory, NAME, O_RDWR | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (*file == -1)
		return judge_failed_open(errno, error);
	struct stat status;
	enum found found = FOUND_OTHER;
	if (fstat(*file, &status) == -1) {
		error_set_errno(error, errno, NAME);
		found = FOUND_FAILED;
	} else if (is_bell(&status, owner)) {
		if (fill(*file) == 0)
			return FOUND_BELL;
		error_set_errno(error, errno, NAME);
		found = FOUND_FAILED;
	}
	close(*file);
	*file = -1;
	return found;
}

static int temporary_name(char *name, size_t size)
{
	unsigned char random[8];
	char text[2 * sizeof(random) + 1];
	if (random_bytes(random, sizeof(random)) != 0)
		return -1;
	encode_hex(text, random, sizeof(random));
	snprintf(name, size, "." NAME ".%s", text);
	return 0;
}

static int put_in_place(int directory, const char *name, bool replace)
{
	if (replace)
		return renameat(directory, name, directory, NAME);
	if (linkat(directory, name, directory, NAME, 0) == -1 && errno != EEXIST)
		return -1;
	return 0;
}

/* A new file under the name: over what is there only where `replace`. */
static int make_file(int directory, const struct bell_owner *owner, bool replace,
		     struct error *error)
{
	char name[32];
	if (temporary_name(name, sizeof(name)) != 0) {
		error_set(error, ERROR_SYSTEM, "no randomness for a name");
		return -1;
	}
	int file = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			  S_IRUSR | S_IWUSR);
	if (file == -1) {
		error_set_errno(error, errno, "a new " NAME);
		return -1;
	}
	int result = -1;
	if (fill(file) == -1 || (geteuid() == 0 && fchown(file, owner->user, owner->group) == -1) ||
	    put_in_place(directory, name, replace) == -1)
		error_set_errno(error, errno, "a new " NAME);
	else
		result = 0;
	unlinkat(directory, name, 0); /* not there any more where it was renamed */
	close(file);
	return result;
}

/* By its name in any case, so that two that start at once end with one file. */
static int find_file(int directory, const struct bell_owner *owner, struct error *error)
{
	for (int i = 0; i < MOST_TRIES; i++) {
		int file;
		enum found found = open_file(directory, owner, &file, error);
		if (found == FOUND_BELL)
			return file;
		if (found == FOUND_FAILED ||
		    make_file(directory, owner, found == FOUND_OTHER, error) != 0)
			return -1;
	}
	error_set(error, ERROR_SYSTEM, NAME ": is replaced by somebody again and again");
	return -1;
}

static struct bell *map(int flags, int file)
{
	struct bell *bell =
	    mmap(NULL, sizeof(*bell), PROT_READ | PROT_WRITE, MAP_SHARED | flags, file, 0);
	return bell == MAP_FAILED ? NULL : bell;
}

struct bell *bell_open(const char *directory, const struct bell_owner *owner, struct error *error)
{
	struct bell *bell = NULL;
	int file = -1;
	int place = open_directory(directory, owner, error);
	if (place == -1)
		return NULL;
	file = find_file(place, owner, error);
	if (file == -1)
		goto out;
	bell = map(0, file);
	if (bell == NULL)
		error_set_errno(error, errno, NAME);
out:
	if (bell == NULL)
		error_prefix(error, "%s", directory);
	if (file != -1)
		close(file);
	close(place);
	return bell;
}

struct bell *bell_new(void)
{
	return map(MAP_ANONYMOUS, -1);
}

void bell_free(struct bell *bell)
{
	if (bell != NULL)
		munmap(bell, sizeof(*bell));
}

/* --- the words --- */

/* An id is a hash: any of its bits will do. */
static size_t word_of(const unsigned char id[DIGEST_LENGTH])
{
	return ((size_t)id[0] << 8 | id[1]) % WORDS;
}

/* Without FUTEX_PRIVATE_FLAG, since the sleepers are in other processes. */
static long futex(const _Atomic uint32_t *word, int operation, uint32_t value,
		  const struct timespec *until)
{
	return syscall(SYS_futex, word, operation, value, until, NULL, FUTEX_BITSET_MATCH_ANY);
}

uint32_t bell_word(const struct bell *bell, const unsigned char id[DIGEST_LENGTH])
{
	return bell == NULL ? 0 : atomic_load(&bell->words[word_of(id)]);
}

void bell_ring(struct bell *bell, const unsigned char id[DIGEST_LENGTH])
{
	if (bell == NULL)
		return;
	_Atomic uint32_t *word = &bell->words[word_of(id)];
	atomic_fetch_add(word, 1);
	futex(word, FUTEX_WAKE, INT32_MAX, NULL);
}

static void pause_until(const struct timespec *when)
{
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, when, NULL) == EINTR)
		;
}

static struct timespec after(int64_t milliseconds)
{
	struct timespec when;
	clock_gettime(CLOCK_MONOTONIC, &when);
	int64_t nanoseconds = when.tv_nsec + milliseconds % 1000 * 1000000;
	when.tv_sec += (time_t)(milliseconds / 1000 + nanoseconds / 1000000000);
	when.tv_nsec = (long)(nanoseconds % 1000000000);
	return when;
}

void bell_wait(struct bell *bell, const unsigned char id[DIGEST_LENGTH], uint32_t seen,
	       int64_t milliseconds)
{
	const struct timespec until = after(milliseconds > 0 ? milliseconds : 0);
	if (bell == NULL) {
		pause_until(&until);
		return;
	}
	const _Atomic uint32_t *word = &bell->words[word_of(id)];
	while (atomic_load(word) == seen) {
		/* Woken for no reason, or by a signal: sleep on, until the same point in time. */
		if (futex(word, FUTEX_WAIT_BITSET, seen, &until) == 0 || errno == EINTR)
			continue;
		/* A kernel that does not let us sleep here must not make us spin. */
		if (errno != ETIMEDOUT && errno != EAGAIN)
			pause_until(&until);
		return;
	}
}
