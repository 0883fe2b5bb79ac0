/* SPDX-License-Identifier: ISC */
/* JSON Lines: an object a line, in ASCII, so that no terminal finds anything to act on. */
#ifndef ONCEWRAP_ADMIN_JSON_LINES_H
#define ONCEWRAP_ADMIN_JSON_LINES_H

#include "admin/common/column.h"

/* A time also gives NAME_epoch, in seconds; a text that may be cut also NAME_truncated. */
void json_lines_row(struct buffer *out, const struct column *const *columns,
		    const struct cell *cells, size_t count, const struct cell_style *style);

#endif
