/* SPDX-License-Identifier: ISC */
/* One place where a key or a tenant is looked for: a configured source, and the parameters. */
#ifndef ONCEWRAP_IDEM_SOURCE_H
#define ONCEWRAP_IDEM_SOURCE_H

#include "base/params.h"
#include "config/route.h"

enum source_presence {
	SOURCE_ABSENT,
	SOURCE_PRESENT,  /* *value is it; a header may be there and be empty */
	SOURCE_REPEATED, /* more than once: which one is meant cannot be known (case C19) */
};

enum source_presence source_read(const struct source *source, const struct params *params,
				 const char **value);

/* "header" and so on, as the configuration spells it. */
const char *source_kind_name(enum source_kind kind);

#endif
