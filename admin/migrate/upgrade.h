/* SPDX-License-Identifier: ISC */
/* Applying what is pending, and saying what that would be: the verbs `up` and `plan`. */
#ifndef ONCEWRAP_ADMIN_MIGRATE_UPGRADE_H
#define ONCEWRAP_ADMIN_MIGRATE_UPGRADE_H

#include "admin/migrate/migrate.h"

int upgrade_run(struct migrate *migrate);
int upgrade_plan(struct migrate *migrate);

#endif
