/* SPDX-License-Identifier: ISC */
/* What the command line of once-expire asks for. */
#ifndef ONCEWRAP_ADMIN_EXPIRE_WISHES_H
#define ONCEWRAP_ADMIN_EXPIRE_WISHES_H

#include "admin/common/options.h"
#include "admin/expire/brake.h"
#include "store/purge.h"

#include <stdbool.h>
#include <stdint.h>

struct wishes {
	struct purge_selection selection;
	bool all;         /* --all=ALL */
	int64_t batch;    /* rows */
	int64_t sleep;    /* ms */
	int64_t run_time; /* ms; 0: no end */
	int64_t most;     /* records; 0: no bound */
	int64_t progress; /* records a line; 0: none */
	struct brake brake;
	bool statistics, why_quit, quiet;
};

void wishes_init(struct wishes *wishes);
struct option_group wishes_options(struct wishes *wishes);

/* Do they fit together? Nothing selected becomes what has expired. 0, or -1 with *error. */
int wishes_check(struct wishes *wishes, struct error *error);

/* The selection as it would be typed. */
void wishes_describe(const struct wishes *wishes, char *text, size_t size);

#endif
