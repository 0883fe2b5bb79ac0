/* SPDX-License-Identifier: ISC */
/* The files that a configuration names, and that serving by it takes: are they there? */
#ifndef ONCEWRAP_WRAP_PLACES_H
#define ONCEWRAP_WRAP_PLACES_H

#include "config/config.h"

/* What is wrong with them, a problem a line; "" when nothing is. With a `handler` (--handler; NULL:
 * none) no root is asked for. Owned by the caller; NULL when out of memory. */
char *places_check(const struct config *config, const char *handler);

#endif
