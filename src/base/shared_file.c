/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/encode.h"

enum {
	TRIES = 3, /* another process may put a file there between two looks of ours */
	LOCK_TRIES = 20,
	LOCK_PAUSE = 10, /* ms */
	HEAD_MOST = 64,
};

struct opening {
	const struct shared_file *file;
	const struct shared_owner *owner;
	int directory;
	struct error *error;
};

/* The directory, made if need be; -1 with *error. As root a new one is made over to the owner by
 * its descriptor, so that nothing put in its place meanwhile is. */
static int open_directory(const char *path, const struct shared_owner *owner, struct error *error)
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
 * whoever writes into it (SIGBUS). What the bytes say stays. */
static int fill(const struct shared_file *file, int fd)
{
	if (fallocate(fd, 0, 0, (off_t)file->size) == 0)
		return 0;
	return errno == EOPNOTSUPP ? ftruncate(fd, (off_t)file->size) : -1;
}

enum look { LOOK_OURS, LOOK_NONE, LOOK_OTHER, LOOK_FAILED };

static enum look failed(const struct opening *opening, int number)
{
	error_set_errno(opening->error, number, "%s", opening->file->name);
	return LOOK_FAILED;
}

static enum look other(const struct opening *opening, const char *what)
{
	error_set(opening->error, ERROR_INPUT, "%s: %s", opening->file->name, what);
	return LOOK_OTHER;
}

static enum look judge_failed_open(const struct opening *opening, int number)
{
	switch (number) {
	case ENOENT:
		return LOOK_NONE;
	case ELOOP:
		return other(opening, "a symlink");
	case EACCES:
		return other(opening, "somebody else's file");
	case EISDIR:
	case ENXIO: /* a socket */
		return other(opening, "not a regular file");
	default:
		return failed(opening, number);
	}
}

static enum look judge_head(const struct opening *opening, int fd)
{
	const struct shared_file *file = opening->file;
	char head[HEAD_MOST];
	if (file->head_fixed == 0)
		return LOOK_OURS;
	if (pread(fd, head, file->head_fixed, 0) != (ssize_t)file->head_fixed)
		return failed(opening, errno);
	return memcmp(head, file->head, file->head_fixed) == 0
		   ? LOOK_OURS
		   : other(opening, "its first bytes are not what they should be");
}

static enum look judge_open(const struct opening *opening, int fd)
{
	struct stat status;
	if (fstat(fd, &status) == -1)
		return failed(opening, errno);
	if (!S_ISREG(status.st_mode))
		return other(opening, "not a regular file");
	if (status.st_uid != opening->owner->user)
		return other(opening, "somebody else's file");
	if ((status.st_mode & 07777 & ~opening->file->mode) != 0)
		return other(opening, "more may use it than should");
	if (status.st_size != (off_t)opening->file->size)
		return other(opening, "not of the size that it should be");
	if (fill(opening->file, fd) == -1)
		return failed(opening, errno);
	return judge_head(opening, fd);
}

/* What stands under the name; *fd is open for LOOK_OURS alone. */
static enum look look(const struct opening *opening, int *fd)
{
	/* Nor does a FIFO hold us up, opened for both. */
	*fd = openat(opening->directory, opening->file->name,
		     O_RDWR | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (*fd == -1)
		return judge_failed_open(opening, errno);
	enum look found = judge_open(opening, *fd);
	if (found == LOOK_OURS)
		return LOOK_OURS;
	close(*fd);
	*fd = -1;
	return found;
}

static int temporary_name(const struct opening *opening, char *name, size_t size)
{
	unsigned char random[8];
	char text[2 * sizeof(random) + 1];
	if (random_bytes(random, sizeof(random)) != 0) {
		error_set(opening->error, ERROR_SYSTEM, "no randomness for a name");
		return -1;
	}
	encode_hex(text, random, sizeof(random));
	snprintf(name, size, ".%s.%s", opening->file->name, text);
	return 0;
}

static int furnish(const struct opening *opening, int fd)
{
	const struct shared_file *file = opening->file;
	const struct shared_owner *owner = opening->owner;
	if (fill(file, fd) == -1)
		return -1;
	if (file->head_length > 0 &&
	    pwrite(fd, file->head, file->head_length, 0) != (ssize_t)file->head_length)
		return -1;
	if (geteuid() == 0 && fchown(fd, owner->user, owner->group) == -1)
		return -1;
	/* The umask has had its say when it was made. */
	return fchmod(fd, file->mode);
}

static int put_in_place(const struct opening *opening, const char *name, bool replace)
{
	int directory = opening->directory;
	if (replace)
		return renameat(directory, name, directory, opening->file->name);
	if (linkat(directory, name, directory, opening->file->name, 0) == -1 && errno != EEXIST)
		return -1;
	return 0;
}

/* A new file under the name: over what is there only where `replace`. */
static int make(const struct opening *opening, bool replace)
{
	char name[64];
	if (temporary_name(opening, name, sizeof(name)) != 0)
		return -1;
	int fd = openat(opening->directory, name,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	int result = -1;
	if (fd == -1 || furnish(opening, fd) == -1 || put_in_place(opening, name, replace) == -1)
		error_set_errno(opening->error, errno, "a new %s", opening->file->name);
	else
		result = 0;
	if (fd != -1) {
		unlinkat(opening->directory, name, 0); /* gone where it was renamed */
		close(fd);
	}
	return result;
}

/* By its name in any case, so that two that start at once end with one file. */
static enum look open_or_make(const struct opening *opening, int *fd)
{
	enum look found = LOOK_NONE;
	for (int i = 0; i < TRIES; i++) {
		found = look(opening, fd);
		if (found != LOOK_NONE)
			return found;
		if (make(opening, false) != 0)
			return LOOK_FAILED;
	}
	error_set(opening->error, ERROR_SYSTEM, "%s: is removed by somebody again and again",
		  opening->file->name);
	return LOOK_FAILED;
}

/* Of those who find that it has to be replaced only one does so; or else the second one's would
 * take the name of the first one's, which is in use by then. Whoever may read the directory could
 * hold the lock: nobody waits for it long. */
static void lock(int directory)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			return;
		clock_pause(LOCK_PAUSE);
	}
}

static enum shared_found replace(const struct opening *opening, int *fd)
{
	struct error why;
	lock(opening->directory);
	enum look found = open_or_make(opening, fd);
	if (found == LOOK_OURS)
		return SHARED_OPENED;
	if (found != LOOK_OTHER)
		return SHARED_FAILED;
	why = *opening->error;
	if (make(opening, true) != 0)
		return SHARED_FAILED;
	found = open_or_make(opening, fd);
	if (found == LOOK_OURS) {
		*opening->error = why;
		return SHARED_REPLACED;
	}
	return SHARED_FAILED;
}

enum shared_found shared_file_open(const struct shared_file *file, const char *directory,
				   const struct shared_owner *owner, int *fd, struct error *error)
{
	enum shared_found found = SHARED_FAILED;
	*fd = -1;
	struct opening opening = {.file = file,
				  .owner = owner,
				  .directory = open_directory(directory, owner, error),
				  .error = error};
	if (opening.directory == -1)
		return SHARED_FAILED;
	switch (open_or_make(&opening, fd)) {
	case LOOK_OURS:
		found = SHARED_OPENED;
		break;
	case LOOK_OTHER:
		found = replace(&opening, fd);
		break;
	default:
		break;
	}
	if (found != SHARED_OPENED)
		error_prefix(error, "%s", directory);
	close(opening.directory);
	return found;
}
