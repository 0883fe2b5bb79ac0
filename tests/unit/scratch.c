/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "tests/unit/scratch.h"

#include <check.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[PATH_MAX];

void scratch_set_up(void)
{
	const char *parent = getenv("TMPDIR");
	char name[PATH_MAX];
	int length = snprintf(name, sizeof(name), "%s/oncewrap-test.XXXXXX",
			      parent != NULL ? parent : "/tmp");
	ck_assert_int_lt(length, (int)sizeof(name));
	ck_assert_ptr_nonnull(mkdtemp(name));
	ck_assert_ptr_nonnull(realpath(name, directory));
	ck_assert_int_eq(chmod(directory, 0755), 0);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status, (void)kind, (void)where;
	return remove(path);
}

void scratch_tear_down(void)
{
	ck_assert_int_eq(nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

const char *scratch_path(const char *name)
{
	static char paths[8][2 * PATH_MAX];
	static size_t next;
	char *path = paths[next++ % 8];
	snprintf(path, sizeof(paths[0]), "%s%s%s", directory, *name != '\0' ? "/" : "", name);
	return path;
}

void scratch_directory(const char *name)
{
	ck_assert_int_eq(mkdir(scratch_path(name), 0755), 0);
}

void scratch_file(const char *name, mode_t mode, const char *text)
{
	int fd = open(scratch_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(fchmod(fd, mode), 0);
	ck_assert_int_eq(close(fd), 0);
}

const char *scratch_script(const char *name, const char *lines)
{
	char text[4096];
	int length = snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", lines);
	ck_assert_int_lt(length, (int)sizeof(text));
	scratch_file(name, 0755, text);
	return scratch_path(name);
}

void scratch_link(const char *name, const char *target)
{
	ck_assert_int_eq(symlink(target, scratch_path(name)), 0);
}

const char *scratch_read(const char *name)
{
	static char text[4096];
	FILE *file = fopen(scratch_path(name), "re");
	size_t length = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;
	text[length] = '\0';
	if (file != NULL)
		fclose(file);
	return text;
}
