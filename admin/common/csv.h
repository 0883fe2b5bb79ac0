/* SPDX-License-Identifier: ISC */
/* Records of RFC 4180, one a call. */
#ifndef ONCEWRAP_ADMIN_CSV_H
#define ONCEWRAP_ADMIN_CSV_H

#include "admin/common/column.h"

void csv_header(struct buffer *out, const struct column *const *columns, size_t count);
void csv_row(struct buffer *out, const struct cell *cells, size_t count,
	     const struct cell_style *style);

#endif
