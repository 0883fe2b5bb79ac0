/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/shell.h"

#include <string.h>

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			    "_./:@%+=,-";

/* What a terminal could act on is written as an escape, which bash and zsh take. */
static void append_escaped(struct buffer *out, const char *word)
{
	buffer_append_text(out, "$'");
	for (const char *byte = word; *byte != '\0'; byte++)
		if (*byte == '\'' || *byte == '\\')
			buffer_printf(out, "\\%c", *byte);
		else if (*byte >= ' ' && *byte < 0x7f)
			buffer_append_byte(out, (unsigned char)*byte);
		else
			buffer_printf(out, "\\x%02x", (unsigned char)*byte);
	buffer_append_byte(out, '\'');
}

void shell_append(struct buffer *out, const char *word)
{
	size_t harmless = 0;
	while (word[harmless] >= ' ' && word[harmless] < 0x7f)
		harmless++;
	if (*word != '\0' && word[strspn(word, plain)] == '\0') {
		buffer_append_text(out, word);
	} else if (word[harmless] != '\0') {
		append_escaped(out, word);
	} else {
		buffer_append_byte(out, '\'');
		for (; *word != '\0'; word++)
			if (*word == '\'')
				buffer_append_text(out, "'\\''");
			else
				buffer_append_byte(out, (unsigned char)*word);
		buffer_append_byte(out, '\'');
	}
}
