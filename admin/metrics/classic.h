/* SPDX-License-Identifier: ISC */
/* The few series that the literature on idempotency keys names, under exactly those names, in place
 * of ours: for dashboards that are there already. docs/metrics.md maps them. */
#ifndef ONCEWRAP_ADMIN_METRICS_CLASSIC_H
#define ONCEWRAP_ADMIN_METRICS_CLASSIC_H

#include "metrics/exposition.h"
#include "metrics/reading.h"

/* `reading` NULL: there is no segment to be read. */
void classic_write(struct exposition *exposition, const struct reading *reading);

#endif
