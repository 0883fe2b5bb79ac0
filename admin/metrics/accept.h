/* SPDX-License-Identifier: ISC */
/* Which format a scrape asks for, by its Accept field (RFC 9110 12.5.1). */
#ifndef ONCEWRAP_ADMIN_METRICS_ACCEPT_H
#define ONCEWRAP_ADMIN_METRICS_ACCEPT_H

#include "metrics/exposition.h"

/* `accept`: the field's value; NULL: there is none. OpenMetrics where it is named and liked no less
 * than the text format; else that one, also where neither is liked: a person who looks on with a
 * browser is to see something. */
enum exposition_format accept_choose(const char *accept);

#endif
