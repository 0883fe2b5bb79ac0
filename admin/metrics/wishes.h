/* SPDX-License-Identifier: ISC */
/* What the command line of once-metrics asks for. */
#ifndef ONCEWRAP_ADMIN_METRICS_WISHES_H
#define ONCEWRAP_ADMIN_METRICS_WISHES_H

#include "admin/common/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCOPE_LOCAL 0x1u /* the segment of this host */
#define SCOPE_STORE 0x2u /* the database */
#define SCOPE_ALL   (SCOPE_LOCAL | SCOPE_STORE)

/* The scopes of a list like "local,store"; 0, and *error, where it names another one. */
unsigned scopes_parse(const char *list, size_t length, struct error *error);

struct wishes {
	unsigned scopes; /* 0: not given */
	bool openmetrics, classic, strict;
	const char *textfile; /* NULL: standard output */
	int64_t count_limit;
	int64_t timeout; /* seconds, of all that the database is asked */
};

void wishes_init(struct wishes *wishes);
struct option_group wishes_options(struct wishes *wishes);

/* Do they fit together? What follows from them is filled in. 0, or -1 with *error. */
int wishes_check(struct wishes *wishes, struct error *error);

#endif
