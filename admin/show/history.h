/* SPDX-License-Identifier: ISC */
/* The audit trail of a record, as once-show prints it: what people did to it, oldest first. */
#ifndef ONCEWRAP_ADMIN_SHOW_HISTORY_H
#define ONCEWRAP_ADMIN_SHOW_HISTORY_H

#include "admin/show/sublist.h"
#include "store/inspect.h"

#include <stdint.h>

struct history {
	bool wanted; /* in full, and not only the last entry */
	bool json;
	struct buffer last; /* "once-release by root@db1 at 2026-..." */
	struct sublist list;
};

/* 0, or -1 with *error; freed by history_free in either case. */
int history_read(struct history *history, struct connection *connection,
		 const unsigned char id[DIGEST_LENGTH], const struct cell_style *style,
		 int64_t deadline, struct error *error);

void history_free(struct history *history);

#endif
