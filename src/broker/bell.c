/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/bell.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/shared_file.h"

#define WORDS 4096

/* The mapping itself. */
struct bell {
	_Atomic uint32_t words[WORDS];
};

/* --- the file --- */

static const struct shared_file bell_file = {
    .name = "bell",
    .size = sizeof(struct bell),
    .mode = S_IRUSR | S_IWUSR,
};

static struct bell *map(int flags, int file)
{
	struct bell *bell =
	    mmap(NULL, sizeof(*bell), PROT_READ | PROT_WRITE, MAP_SHARED | flags, file, 0);
	return bell == MAP_FAILED ? NULL : bell;
}

struct bell *bell_open(const char *directory, const struct shared_owner *owner, struct error *error)
{
	int file;
	if (shared_file_open(&bell_file, directory, owner, &file, error) == SHARED_FAILED)
		return NULL;
	struct bell *bell = map(0, file);
	if (bell == NULL)
		error_set_errno(error, errno, "%s/%s", directory, bell_file.name);
	close(file);
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
