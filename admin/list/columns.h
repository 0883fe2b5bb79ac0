/* SPDX-License-Identifier: ISC */
/* The columns of what once-list prints: of records, of the counts of --summary, and of --count. */
#ifndef ONCEWRAP_ADMIN_LIST_COLUMNS_H
#define ONCEWRAP_ADMIN_LIST_COLUMNS_H

#include "admin/common/column.h"

#include <stddef.h>

/* Of a struct listing_record. */
extern const struct column list_columns[];
extern const size_t list_column_count;

/* Of a struct census_entry. */
extern const struct column summary_columns[];
extern const size_t summary_column_count;

/* Of a struct census. */
extern const struct column count_columns[];
extern const size_t count_column_count;

#endif
