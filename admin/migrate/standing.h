/* SPDX-License-Identifier: ISC */
/* Where the database's schema stands: the verbs `status` and `wait`. */
#ifndef ONCEWRAP_ADMIN_MIGRATE_STANDING_H
#define ONCEWRAP_ADMIN_MIGRATE_STANDING_H

#include "admin/common/column.h"
#include "admin/migrate/migrate.h"

/* Of a struct schema_entry. */
extern const struct column standing_columns[];
extern const size_t standing_column_count;

/* The exit status that the schema's standing calls for, told where it is not current. */
int standing_judge(const struct migrate *migrate, const struct schema *schema);

int standing_show(struct migrate *migrate);
int standing_wait(struct migrate *migrate);

#endif
