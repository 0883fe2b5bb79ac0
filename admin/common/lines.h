/* SPDX-License-Identifier: ISC */
/* A row as lines of `name: value`, for eyes that have one thing to look at. */
#ifndef ONCEWRAP_ADMIN_LINES_H
#define ONCEWRAP_ADMIN_LINES_H

#include "admin/common/column.h"

struct lines_layout {
	bool names;   /* in front of the values */
	bool nothing; /* also lines for what is not known or does not apply */
};

/* Values begin in one column. */
void lines_row(struct buffer *out, const struct column *const *columns, const struct cell *cells,
	       size_t count, const struct lines_layout *layout, const struct cell_style *style);

#endif
