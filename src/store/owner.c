/* SPDX-License-Identifier: ISC */
/* Who this process is, for the record of a claim (store.h: store_owner_self). */
#include <config.h>

#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"

static int read_text(const char *path, char *text, size_t size, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		error_set_errno(error, errno, "%s", path);
		return -1;
	}
	ssize_t length = read(fd, text, size - 1);
	int number = errno;
	close(fd);
	if (length < 0) {
		error_set_errno(error, number, "%s", path);
		return -1;
	}
	text[length] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

int store_owner_self(struct store_owner *owner, struct error *error)
{
	*owner = (struct store_owner){.pid = getpid()};
	if (gethostname(owner->host, sizeof(owner->host) - 1) < 0) {
		error_set_errno(error, errno, "host name");
		return -1;
	}
	struct stat namespace;
	if (stat("/proc/self/ns/pid", &namespace) < 0) {
		error_set_errno(error, errno, "/proc/self/ns/pid");
		return -1;
	}
	owner->pidns = namespace.st_ino;
	if (read_text("/proc/sys/kernel/random/boot_id", owner->boot, sizeof(owner->boot), error) <
	    0)
		return -1;
	if (process_start(getpid(), &owner->start) < 0) {
		error_set_errno(error, errno, "/proc/self/stat");
		return -1;
	}
	return 0;
}
