/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/json_lines.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int set(json_t *object, const char *name, const char *suffix, json_t *value)
{
	char text[64];
	snprintf(text, sizeof(text), "%s%s", name, suffix);
	return json_object_set_new(object, text, value);
}

/* What stands beside a member, whether it has a value or not: the fields are the same in every
 * line. */
static int set_companion(json_t *object, const struct column *column, const struct cell *cell)
{
	if (column->kind == CELL_TIME)
		return set(object, column->name, "_epoch",
			   cell->kind == CELL_TIME ? json_integer(cell->number / 1000)
						   : json_null());
	if (column->cut > 0)
		return set(object, column->name, "_truncated", json_boolean(cell->cut));
	return 0;
}

/* jansson escapes what is above DEL, not DEL itself. It can stand in strings only. */
static void append_line(struct buffer *out, const char *text)
{
	for (;;) {
		size_t length = strcspn(text, "\x7f");
		buffer_append(out, text, length);
		text += length;
		if (*text == '\0')
			break;
		buffer_append_text(out, "\\u007f");
		text++;
	}
	buffer_append_byte(out, '\n');
}

json_t *json_lines_object(const struct column *const *columns, const struct cell *cells,
			  size_t count, const struct cell_style *style)
{
	json_t *object = json_object();
	for (size_t i = 0; i < count && object != NULL; i++)
		if (set(object, columns[i]->name, "", cell_json(&cells[i], style)) < 0 ||
		    set_companion(object, columns[i], &cells[i]) < 0) {
			json_decref(object);
			object = NULL;
		}
	return object;
}

void json_lines_append(struct buffer *out, json_t *object)
{
	char *line = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	if (line != NULL)
		append_line(out, line);
	/* Nothing of this can fail but for want of memory. */
	out->failed = out->failed || line == NULL;
	free(line);
	json_decref(object);
}

void json_lines_row(struct buffer *out, const struct column *const *columns,
		    const struct cell *cells, size_t count, const struct cell_style *style)
{
	json_lines_append(out, json_lines_object(columns, cells, count, style));
}
