/* SPDX-License-Identifier: ISC */
/* Rows laid out for eyes, by libsmartcols. */
#ifndef ONCEWRAP_ADMIN_TABLE_H
#define ONCEWRAP_ADMIN_TABLE_H

#include "admin/common/column.h"

struct table;

struct table_layout {
	bool header;
	bool colored; /* cells by their tone */
	/* of the terminal: lines are fitted into it; 0: as wide as they need */
	size_t width;
};

/* NULL when out of memory. */
struct table *table_new(const struct column *const *columns, size_t count,
			const struct table_layout *layout);
void table_free(struct table *table);

/* When out of memory, nothing is added and table_print tells. */
void table_add(struct table *table, const struct cell *cells, const struct cell_style *style);

size_t table_rows(const struct table *table);

/* Append the rows so far, laid out, and forget them; the header alone where there never was a row.
 */
void table_print(struct table *table, struct buffer *out);

#endif
