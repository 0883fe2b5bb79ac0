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

struct stale_list {
	unsigned char (*ids)[DIGEST_LENGTH]; /* owned */
	size_t count, capacity;
};

/* Those that were created `older` ms ago or earlier, the longest lapsed first, into a list that
 * begins as { 0 }. 0, or -1 with *error. */
int stale_find(struct connection *connection, int64_t older, struct stale_list *list,
	       int64_t deadline, struct error *error) __attribute__((warn_unused_result));

void stale_free(struct stale_list *list);

#endif
