/* SPDX-License-Identifier: ISC */
/* JSON Lines: an object a line, in ASCII, so that no terminal finds anything to act on. */
#ifndef ONCEWRAP_ADMIN_JSON_LINES_H
#define ONCEWRAP_ADMIN_JSON_LINES_H

#include "admin/common/column.h"

/* The columns as members of an object, for a caller who adds more; NULL when out of memory. A time
 * also gives NAME_epoch, in seconds; a text that may be cut also NAME_truncated. */
json_t *json_lines_object(const struct column *const *columns, const struct cell *cells,
			  size_t count, const struct cell_style *style);

/* An object (NULL: there was no memory for it) as a line; its reference is taken. */
void json_lines_append(struct buffer *out, json_t *object);

/* Both in one. */
void json_lines_row(struct buffer *out, const struct column *const *columns,
		    const struct cell *cells, size_t count, const struct cell_style *style);

#endif
