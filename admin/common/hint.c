/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/hint.h"

#include <string.h>

#include "admin/common/connect.h"
#include "base/shell.h"

void hint_append_config(struct buffer *out, const char *file)
{
	if (strcmp(file, CONNECT_DEFAULT_FILE) == 0)
		return;
	buffer_append_text(out, " --config=");
	shell_append(out, file);
}

void hint_append(struct buffer *out, const char *message, const char *file)
{
	static const char mark[] = "run: once-";
	const char *found = strstr(message, mark);
	if (found == NULL) {
		buffer_append_text(out, message);
		return;
	}
	const char *rest = found + strlen(mark);
	rest += strspn(rest, "abcdefghijklmnopqrstuvwxyz");
	buffer_append(out, message, (size_t)(rest - message));
	hint_append_config(out, file);
	buffer_append_text(out, rest);
}
