/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/metrics/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* node_exporter runs under an account of its own. */
enum { MODE = 0644 };

/* Beside it, hidden, and not ending in .prom: node_exporter must not take it for another file. */
static int name_new(struct buffer *name, const char *path, struct error *error)
{
	const char *slash = strrchr(path, '/'), *file = slash != NULL ? slash + 1 : path;
	buffer_printf(name, "%.*s.%s.XXXXXX", (int)(file - path), path, file);
	buffer_text(name);
	if (!name->failed)
		return 0;
	error_set(error, ERROR_MEMORY, "out of memory");
	return -1;
}

static int write_all(int fd, const struct buffer *content)
{
	for (size_t done = 0; done < content->length;) {
		ssize_t count = write(fd, content->data + done, content->length - done);
		if (count >= 0)
			done += (size_t)count;
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}

/* A full disk may show as late as here. */
static int finish(int fd)
{
	int failed = fchmod(fd, MODE);
	int number = errno;
	if (close(fd) == 0 && failed == 0)
		return 0;
	errno = failed != 0 ? number : errno;
	return -1;
}

/* Not synced: after a crash of the host the next run writes it anew, and it must not wait for a
 * busy disk. */
int textfile_replace(const char *path, const struct buffer *content, struct error *error)
{
	struct buffer name = {0};
	int result = -1;
	if (name_new(&name, path, error) < 0)
		goto out;
	char *new = (char *)name.data;
	int fd = mkostemp(new, O_CLOEXEC);
	if (fd < 0) {
		error_set_errno(error, errno, "%s: cannot be made", path);
		goto out;
	}
	int written = write_all(fd, content), number = errno;
	int finished = finish(fd);
	if (written == 0 && finished < 0)
		number = errno;
	if (written < 0 || finished < 0 || rename(new, path) != 0) {
		error_set_errno(error, written < 0 || finished < 0 ? number : errno,
				"%s: cannot be written", path);
		unlink(new);
		goto out;
	}
	result = 0;
out:
	buffer_free(&name);
	return result;
}
