/* SPDX-License-Identifier: ISC */
/* The series of the database, which are the same from every host: to be taken on one. */
#ifndef ONCEWRAP_ADMIN_METRICS_STORE_SCOPE_H
#define ONCEWRAP_ADMIN_METRICS_STORE_SCOPE_H

#include "metrics/exposition.h"
#include "store/gauges.h"

/* What is not known is left out. `limit`: how far was counted. */
void store_scope_write(struct exposition *exposition, const struct gauges *gauges, int64_t limit);

#endif
