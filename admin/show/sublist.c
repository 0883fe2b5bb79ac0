/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/show/sublist.h"

#include <assert.h>

#include "admin/common/json_lines.h"
#include "admin/common/table.h"

enum { MOST_COLUMNS = 8 };

int sublist_begin(struct sublist *list, const struct column *const *columns, size_t count,
		  bool json, const struct cell_style *style, struct error *error)
{
	assert(count <= MOST_COLUMNS);
	*list = (struct sublist){.columns = columns, .column_count = count, .style = style};
	if (json)
		list->array = json_array();
	else
		list->table = table_new(columns, count, &(struct table_layout){.header = true});
	if (list->array != NULL || list->table != NULL)
		return 0;
	error_set(error, ERROR_MEMORY, "out of memory");
	return -1;
}

void sublist_add(struct sublist *list, const void *row)
{
	struct cell cells[MOST_COLUMNS];
	size_t count = list->column_count;
	for (size_t i = 0; i < count; i++)
		cells[i] = list->columns[i]->value(row);
	list->count++;
	if (list->table != NULL)
		table_add(list->table, cells, list->style);
	if (list->array == NULL ||
	    json_array_append_new(list->array,
				  json_lines_object(list->columns, cells, count, list->style)) == 0)
		return;
	json_decref(list->array);
	list->array = NULL;
}

void sublist_end(struct sublist *list)
{
	if (list->table != NULL)
		table_print(list->table, &list->text);
}

void sublist_free(struct sublist *list)
{
	buffer_free(&list->text);
	json_decref(list->array);
	table_free(list->table);
	list->array = NULL;
	list->table = NULL;
}
