/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/problems.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

void problems_add(struct problems *problems, const char *file, unsigned order, unsigned line,
		  const char *format, ...)
{
	struct buffer text = {0};
	if (line > 0)
		buffer_printf(&text, "%s:%u: ", file, line);
	else
		buffer_printf(&text, "%s: ", file);
	va_list arguments;
	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	char *copy = text.failed ? NULL : strdup(buffer_text(&text));
	buffer_free(&text);

	struct problem *items = reallocarray(problems->items, problems->count + 1, sizeof(*items));
	if (items != NULL)
		problems->items = items;
	if (items == NULL || copy == NULL) {
		problems->failed = true;
		free(copy);
		return;
	}
	items[problems->count++] = (struct problem){.order = order, .line = line, .text = copy};
}

static int compare(const void *one, const void *other)
{
	const struct problem *a = one, *b = other;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return strcmp(a->text, b->text);
}

char *problems_text(struct problems *problems)
{
	if (problems->count > 0)
		qsort(problems->items, problems->count, sizeof(*problems->items), compare);
	struct buffer text = {0};
	for (size_t i = 0; i < problems->count; i++)
		if (i == 0 || compare(&problems->items[i - 1], &problems->items[i]) != 0)
			buffer_printf(&text, "%s\n", problems->items[i].text);
	if (problems->failed)
		buffer_append_text(&text, "out of memory while reading the configuration\n");
	char *copy = text.failed ? NULL : strdup(buffer_text(&text));
	buffer_free(&text);
	return copy;
}

void problems_free(struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		free(problems->items[i].text);
	free(problems->items);
	*problems = (struct problems){0};
}
