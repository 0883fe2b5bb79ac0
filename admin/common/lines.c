/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/lines.h"

#include <string.h>

static size_t widest(const struct column *const *columns, size_t count)
{
	size_t width = 0;
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(columns[i]->name);
		width = length > width ? length : width;
	}
	return width;
}

void lines_row(struct buffer *out, const struct column *const *columns, const struct cell *cells,
	       size_t count, const struct lines_layout *layout, const struct cell_style *style)
{
	int width = (int)widest(columns, count) + 1;
	for (size_t i = 0; i < count; i++) {
		if (cells[i].kind == CELL_NOTHING && !layout->nothing)
			continue;
		size_t start = out->length;
		if (layout->names)
			buffer_printf(out, "%s:%*s", columns[i]->name,
				      width - (int)strlen(columns[i]->name), "");
		cell_for_eyes(out, &cells[i], style);
		/* an empty value leaves no blanks at the line's end */
		while (out->length > start && out->data[out->length - 1] == ' ' &&
		       cells[i].kind == CELL_TEXT && cells[i].length == 0)
			out->length--;
		buffer_append_byte(out, '\n');
	}
}
