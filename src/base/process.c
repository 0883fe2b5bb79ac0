/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A whole file of /proc/PID; -1 with errno. */
static int read_file(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return -1;
	ssize_t length = read(fd, text, size - 1);
	int number = errno;
	close(fd);
	errno = number;
	if (length < 0)
		return -1;
	text[length] = '\0';
	return 0;
}

/* Field 22 of stat, counted behind the command's name, which may hold blanks and parentheses. */
int process_start(pid_t pid, uint64_t *start)
{
	char text[1024];
	if (read_file(pid, "stat", text, sizeof(text)) == -1)
		return -1;
	const char *field = strrchr(text, ')');
	for (unsigned number = 2; field != NULL && number < 22; number++) {
		field = strchr(field, ' ');
		field = field != NULL ? field + 1 : NULL;
	}
	if (field == NULL || sscanf(field, "%" SCNu64, start) != 1) {
		errno = EINVAL;
		return -1;
	}
	return 0;
}

bool process_lives(pid_t pid, uint64_t start)
{
	uint64_t found;
	if (process_start(pid, &found) == 0)
		return found == start || start == 0;
	/* Hidden (mount option hidepid), or no /proc at all? */
	return kill(pid, 0) == 0 || errno == EPERM;
}

uint64_t process_resident(pid_t pid)
{
	char text[256];
	uint64_t pages;
	long page = sysconf(_SC_PAGESIZE);
	if (read_file(pid, "statm", text, sizeof(text)) == -1 || page <= 0 ||
	    sscanf(text, "%*u %" SCNu64, &pages) != 1)
		return 0;
	return pages * (uint64_t)page;
}
