/* SPDX-License-Identifier: ISC */
/* What the command line of once-list asks for. */
#ifndef ONCEWRAP_ADMIN_LIST_WISHES_H
#define ONCEWRAP_ADMIN_LIST_WISHES_H

#include "admin/common/options.h"
#include "store/listing.h"

#include <stdbool.h>
#include <stdint.h>

enum list_mode { LIST_RECORDS, LIST_COUNT, LIST_SUMMARY };

struct wishes {
	enum list_mode mode;
	struct listing_filter filter; /* but for `after` */
	const char *after;            /* an id or its beginning; NULL: not given */
	bool limited, sorted;         /* --limit, --sort were given */
	int64_t largest;              /* 0: not given */
	int64_t watch;                /* seconds from round to round; 0: one round */
	bool both;                    /* --count and --summary */
	bool exit_empty, quiet;
};

void wishes_init(struct wishes *wishes);
struct option_group wishes_options(struct wishes *wishes);

/* Do they fit together? What follows from them is filled in. 0, or -1 with *error. */
int wishes_check(struct wishes *wishes, struct error *error);

#endif
