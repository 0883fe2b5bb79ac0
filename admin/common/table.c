/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/table.h"

#include <ctype.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

struct table {
	struct libscols_table *scols;
	size_t columns;
	bool header;
	bool printed; /* rows, with the header over them */
	bool failed;  /* out of memory */
};

static int add_column(struct table *table, const struct column *column)
{
	char name[64];
	size_t length = 0;
	for (; column->name[length] != '\0' && length < sizeof(name) - 1; length++)
		name[length] = (char)toupper((unsigned char)column->name[length]);
	name[length] = '\0';
	int flags = (column->right ? SCOLS_FL_RIGHT : 0) | (column->shrinks ? SCOLS_FL_TRUNC : 0);
	return scols_table_new_column(table->scols, name, 0, flags) != NULL ? 0 : -1;
}

struct table *table_new(const struct column *const *columns, size_t count,
			const struct table_layout *layout)
{
	struct table *table = calloc(1, sizeof(*table));
	if (table == NULL)
		return NULL;
	table->columns = count;
	table->header = layout->header;
	table->scols = scols_new_table();
	if (table->scols == NULL)
		goto fail;
	for (size_t i = 0; i < count; i++)
		if (add_column(table, columns[i]) < 0)
			goto fail;
	/* Cells are made harmless before, by our own rules; done twice, the escapes would be
	 * escaped. */
	scols_table_enable_noencoding(table->scols, 1);
	scols_table_enable_noheadings(table->scols, !layout->header);
	scols_table_enable_colors(table->scols, layout->colored);
	scols_table_set_termforce(table->scols, layout->width > 0 ? SCOLS_TERMFORCE_ALWAYS
								  : SCOLS_TERMFORCE_NEVER);
	if (layout->width > 0)
		scols_table_set_termwidth(table->scols, layout->width);
	return table;
fail:
	table_free(table);
	return NULL;
}

void table_free(struct table *table)
{
	if (table == NULL)
		return;
	scols_unref_table(table->scols);
	free(table);
}

static const char *const colors[] = {[CELL_NOTICE] = "yellow", [CELL_ALARM] = "red"};

/* Taken into account where colours are enabled only. */
static int set_color(struct libscols_line *line, size_t column, enum cell_tone tone)
{
	if (tone == CELL_PLAIN)
		return 0;
	return scols_cell_set_color(scols_line_get_cell(line, column), colors[tone]);
}

void table_add(struct table *table, const struct cell *cells, const struct cell_style *style)
{
	struct buffer text = {0};
	struct libscols_line *line = scols_table_new_line(table->scols, NULL);
	table->failed = table->failed || line == NULL;
	for (size_t i = 0; i < table->columns && !table->failed; i++) {
		buffer_clear(&text);
		cell_for_eyes(&text, &cells[i], style);
		table->failed = text.failed ||
				scols_line_set_data(line, i, buffer_text(&text)) != 0 ||
				set_color(line, i, cells[i].tone) != 0;
	}
	buffer_free(&text);
}

size_t table_rows(const struct table *table)
{
	return scols_table_get_nlines(table->scols);
}

/* libsmartcols prints nothing at all when there are no rows. */
static void append_header(const struct table *table, struct buffer *out)
{
	for (size_t i = 0; i < table->columns; i++) {
		struct libscols_column *column = scols_table_get_column(table->scols, i);
		buffer_printf(out, "%s%s", i > 0 ? " " : "", scols_column_get_name(column));
	}
	buffer_append_byte(out, '\n');
}

void table_print(struct table *table, struct buffer *out)
{
	char *text = NULL;
	if (!table->failed && table_rows(table) == 0) {
		if (table->header && !table->printed)
			append_header(table, out);
		return;
	}
	table->printed = true;
	if (table->failed || scols_print_table_to_string(table->scols, &text) != 0)
		out->failed = true;
	else
		buffer_printf(out, "%s\n", text); /* it leaves out the last line's end */
	free(text);
	scols_table_remove_lines(table->scols);
}
