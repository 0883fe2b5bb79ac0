/* SPDX-License-Identifier: ISC */
/* How many records there are: in all, or of each route and state; by the filter of a listing, whose
 * order and limit have no meaning here. Reads an index, not the records, where it can. */
#ifndef ONCEWRAP_STORE_CENSUS_H
#define ONCEWRAP_STORE_CENSUS_H

#include "store/listing.h"

struct census_entry {
	const char *route;
	size_t route_length;
	enum record_state state;
	uint64_t records;
	uint64_t expired; /* past their retention; 0 of what goes by no clock */
	uint64_t stale;   /* in flight, and nobody holds it any more */
};

struct census {
	struct census_entry *entries; /* by route, then by state; owned, as are their routes */
	size_t count, capacity;
	uint64_t records; /* in all */
};

/* `looked` as in struct listing_reader; may be NULL. 0, or -1 with *error. Freed in any case. */
int census_take(struct connection *connection, const struct listing_filter *filter,
		void (*looked)(void *context, uint64_t count), void *context, struct census *census,
		struct error *error) __attribute__((warn_unused_result));

/* Only census->records. */
int census_count(struct connection *connection, const struct listing_filter *filter,
		 void (*looked)(void *context, uint64_t count), void *context,
		 struct census *census, struct error *error) __attribute__((warn_unused_result));

void census_free(struct census *census);

#endif
