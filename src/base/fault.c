/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/fault.h"

#ifdef ENABLE_FAULT_POINTS

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file's text is "POINT ACTION" and a newline; `action` gets 8 bytes. */
static bool planned_here(int descriptor, const char *name, char action[8])
{
	char text[256] = "";
	char point[128];
	return read(descriptor, text, sizeof(text) - 1) > 0 &&
	       sscanf(text, "%127s %7s", point, action) == 2 && strcmp(point, name) == 0;
}

/* Remove the file, unless another process did since it was opened: the lock makes looking and
 * removing one step among processes, and a file already removed has no links left. */
static bool take(int descriptor, const char *path)
{
	struct stat status;
	return flock(descriptor, LOCK_EX) == 0 && fstat(descriptor, &status) == 0 &&
	       status.st_nlink > 0 && unlink(path) == 0;
}

void fault_point(const char *name)
{
	const char *path = getenv("ONCEWRAP_FAULT_FILE");
	if (path == NULL)
		return;
	int saved = errno;
	char action[8];
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	bool taken =
	    descriptor >= 0 && planned_here(descriptor, name, action) && take(descriptor, path);
	if (descriptor >= 0)
		close(descriptor);
	if (taken && strcmp(action, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (taken && strcmp(action, "stop") == 0)
		kill(getpid(), SIGSTOP);
	if (taken && strcmp(action, "exit") == 0)
		_exit(70);
	errno = saved;
}

#else

/* ISO C has no empty translation unit. */
typedef int fault_points_are_not_built;

#endif
