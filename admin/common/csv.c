/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/csv.h"

#include <string.h>

/* RFC 4180 2.5 to 2.7. No line ends are among the data: they are escaped. */
static void append_field(struct buffer *out, const char *text)
{
	if (strpbrk(text, ",\"") == NULL) {
		buffer_append_text(out, text);
		return;
	}
	buffer_append_byte(out, '"');
	for (; *text != '\0'; text++) {
		if (*text == '"')
			buffer_append_byte(out, '"');
		buffer_append_byte(out, (unsigned char)*text);
	}
	buffer_append_byte(out, '"');
}

static void separate(struct buffer *out, size_t place)
{
	if (place > 0)
		buffer_append_byte(out, ',');
}

void csv_header(struct buffer *out, const struct column *const *columns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		separate(out, i);
		append_field(out, columns[i]->name);
	}
	buffer_append_text(out, "\r\n");
}

/* What begins like a formula would be one in a spreadsheet: its first byte is escaped as a
 * terminal's bytes are. */
static void defuse(struct buffer *field, struct cell *cell)
{
	if (cell->kind != CELL_TEXT || cell->length == 0 ||
	    memchr("=+-@", *(const char *)cell->bytes, 4) == NULL)
		return;
	const unsigned char *bytes = cell->bytes;
	buffer_printf(field, "\\x%02x", *bytes);
	cell->bytes = bytes + 1;
	cell->length--;
}

void csv_row(struct buffer *out, const struct cell *cells, size_t count,
	     const struct cell_style *style)
{
	struct buffer field = {0};
	for (size_t i = 0; i < count; i++) {
		struct cell cell = cells[i];
		buffer_clear(&field);
		defuse(&field, &cell);
		cell_for_data(&field, &cell, style);
		separate(out, i);
		append_field(out, buffer_text(&field));
		out->failed = out->failed || field.failed;
	}
	buffer_append_text(out, "\r\n");
	buffer_free(&field);
}
