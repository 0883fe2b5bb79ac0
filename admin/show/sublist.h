/* SPDX-License-Identifier: ISC */
/* Rows that belong to one record, within what once-show prints of it: a table below its name, or
 * the elements of a JSON array. */
#ifndef ONCEWRAP_ADMIN_SHOW_SUBLIST_H
#define ONCEWRAP_ADMIN_SHOW_SUBLIST_H

#include "admin/common/column.h"
#include "base/error.h"

#include <jansson.h>

struct sublist {
	size_t count;       /* of rows */
	struct buffer text; /* the table, after sublist_end */
	json_t *array; /* owned until sublist_free; NULL where it is a table, or out of memory */
	/* private */
	const struct column *const *columns;
	size_t column_count;
	const struct cell_style *style;
	struct table *table;
};

/* Borrows columns and style. 0, or -1 with *error; freed by sublist_free in either case. */
int sublist_begin(struct sublist *list, const struct column *const *columns, size_t count,
		  bool json, const struct cell_style *style, struct error *error);

/* When out of memory, the array is NULL or the text has failed at the end. */
void sublist_add(struct sublist *list, const void *row);
void sublist_end(struct sublist *list);

void sublist_free(struct sublist *list); /* fine for { 0 } */

#endif
