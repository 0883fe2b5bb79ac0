/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/command.h"

#include <string.h>

#include "admin/common/connect.h"
#include "base/shell.h"

void command_append(struct buffer *out, const char *command, const char *file)
{
	buffer_append_text(out, command);
	if (strcmp(file, CONNECT_DEFAULT_FILE) == 0)
		return;
	buffer_append_text(out, " --config=");
	shell_append(out, file);
}
