/* SPDX-License-Identifier: ISC */
/* The records in flight whose owner is taken to be dead: the first lease past, and no renewal that
 * runs. Reads only; who moves one has to close its lease first (change.h). */
#ifndef ONCEWRAP_STORE_STALE_H
#define ONCEWRAP_STORE_STALE_H

#include "base/digest.h"
#include "base/error.h"
#include "store/connection.h"

#include <stddef.h>
#include <stdint.h>

/* Which of them. All that is said must hold. */
struct stale_filter {
	const char *route;  /* NULL: any */
	const char *tenant; /* NULL: any */
	int64_t older;      /* created so many ms ago or earlier; 0: at any time */
};

struct stale_list {
	unsigned char (*ids)[DIGEST_LENGTH]; /* owned */
	size_t count, capacity;
	size_t unsure; /* of these, by their route, may have acted and must not run twice */
};

/* The longest lapsed first, into a list that begins as { 0 }. 0, or -1 with *error. */
int stale_find(struct connection *connection, const struct stale_filter *filter,
	       struct stale_list *list, int64_t deadline, struct error *error)
    __attribute__((warn_unused_result));

void stale_free(struct stale_list *list);

#endif
