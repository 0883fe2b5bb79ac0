/* SPDX-License-Identifier: ISC */
/* The natural keys that a record holds, or has held, as once-show prints them. */
#ifndef ONCEWRAP_ADMIN_SHOW_NATURALS_H
#define ONCEWRAP_ADMIN_SHOW_NATURALS_H

#include "admin/show/sublist.h"
#include "store/inspect.h"

#include <stdint.h>

/* `locations`: with what was stored of an answer's header, which may be a secret. 0, or -1 with
 * *error; `list` is freed by sublist_free in either case. */
int naturals_read(struct sublist *list, struct connection *connection,
		  const unsigned char record[DIGEST_LENGTH], bool json, bool locations,
		  const struct cell_style *style, int64_t deadline, struct error *error);

#endif
