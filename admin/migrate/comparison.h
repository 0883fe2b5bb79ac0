/* SPDX-License-Identifier: ISC */
/* The tables held against what the migrations make: the verbs `verify` and `mark`. */
#ifndef ONCEWRAP_ADMIN_MIGRATE_COMPARISON_H
#define ONCEWRAP_ADMIN_MIGRATE_COMPARISON_H

#include "admin/common/column.h"
#include "admin/migrate/migrate.h"

/* Of a struct difference. */
extern const struct column comparison_columns[];
extern const size_t comparison_column_count;

int comparison_verify(struct migrate *migrate);
int comparison_mark(struct migrate *migrate);

#endif
