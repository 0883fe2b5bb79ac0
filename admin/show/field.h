/* SPDX-License-Identifier: ISC */
/* What once-show prints of a record itself, as columns over struct inspection. */
#ifndef ONCEWRAP_ADMIN_SHOW_FIELD_H
#define ONCEWRAP_ADMIN_SHOW_FIELD_H

#include "admin/common/column.h"

extern const struct column field_columns[];
extern const size_t field_count;

/* The same of a record that has gone, and of which only the id is left: one value for one of
 * field_columns. */
struct cell field_of_gone(const struct column *column, const void *inspection);

#endif
