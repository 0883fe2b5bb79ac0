/* SPDX-License-Identifier: ISC */
/* The series of this host: what its workers have counted in the segment, and what they do. */
#ifndef ONCEWRAP_ADMIN_METRICS_LOCAL_SCOPE_H
#define ONCEWRAP_ADMIN_METRICS_LOCAL_SCOPE_H

#include "metrics/exposition.h"
#include "metrics/reading.h"

/* `reading` NULL: there is no segment to be read. */
void local_scope_write(struct exposition *exposition, const struct reading *reading);

#endif
