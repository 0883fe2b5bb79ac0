/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"

static void check_directory(struct buffer *problems, const char *what, const char *path)
{
	struct stat status;
	if (stat(path, &status) == -1)
		buffer_printf(problems, "%s: %s: %s\n", what, path, strerror(errno));
	else if (!S_ISDIR(status.st_mode))
		buffer_printf(problems, "%s: %s is not a directory\n", what, path);
}

char *places_check(const struct config *config, const char *handler)
{
	struct buffer problems = {0};
	check_directory(&problems, "spool.directory", config->spool.directory);
	if (handler == NULL)
		for (size_t i = 0; i < config->handlers.roots.count; i++)
			check_directory(&problems, "handlers.roots",
					config->handlers.roots.items[i]);
	else if (access(handler, X_OK) == -1)
		buffer_printf(&problems, "--handler: %s: %s\n", handler, strerror(errno));
	char *text = problems.failed ? NULL : strdup(buffer_text(&problems));
	buffer_free(&problems);
	return text;
}
