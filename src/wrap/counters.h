/* SPDX-License-Identifier: ISC */
/* The wrapper's counters (metrics/count.h): opened with the configuration's directory and account,
 * and known to its routes and to the log. */
#ifndef ONCEWRAP_WRAP_COUNTERS_H
#define ONCEWRAP_WRAP_COUNTERS_H

#include "config/config.h"

#include <stdbool.h>

/* While the run directory can still be made: that may take root. Where nothing can be counted a
 * pool says so, once; a CGI process alone would say so at each request. */
void counters_open(const struct config *config, bool is_pool);

/* After a reload: see that the file still stands. */
void counters_refresh(void);

/* Give each route the number of its counters. Before the workers of this configuration are forked.
 */
void counters_number(struct config *config);

#endif
