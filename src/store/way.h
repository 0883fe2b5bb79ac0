/* SPDX-License-Identifier: ISC */
/*
 * The way to the records that an admin program asks for: the index that leads to them, the parts of
 * it that matter, and the conditions that are held against each row. It is gone in stretches, each
 * so many entries of the index long, so that no statement takes long however few rows it finds.
 * Writes the parts of statements; what they select is the caller's.
 */
#ifndef ONCEWRAP_STORE_WAY_H
#define ONCEWRAP_STORE_WAY_H

#include "base/buffer.h"
#include "store/listing.h"
#include "store/query.h"

enum way_name {
	WAY_EXPIRY, /* state, expires_at, id: those that expire last first */
	WAY_TENANT, /* one tenant's: created_at, id: newest first */
	WAY_KEY,    /* key_text, id */
	WAY_AGE,    /* tenant, created_at, id: a small index that has the age of all */
	WAY_TABLE,  /* id */
};

/* Entries of an index that one statement looks at; of the table itself fewer, its rows are large.
 */
#define WAY_STRETCH       20000
#define WAY_STRETCH_TABLE 5000

#define WAY_MOST_COLUMNS 3

/* Where in the index a row stands: the columns that it is ordered by. */
struct way_place {
	bool set;
	struct buffer parts[WAY_MOST_COLUMNS];
};

struct way {
	enum way_name name;
	const struct listing_filter *filter;
	unsigned states;        /* WAY_EXPIRY: its parts, one for each; else of no meaning */
	bool in_stretches;      /* else all of it at once */
	struct way_place after; /* only what comes after this ... */
	struct way_place upto;  /* ... as far as this */
	uint64_t looked;        /* entries so far */
};

/* At the beginning. `whole`: every row is looked at before one is shown, as for counting. */
void way_open(struct way *way, const struct listing_filter *filter, bool whole);
void way_free(struct way *way);

/* The order in which it meets the rows. LISTING_AS_FOUND: one that no option asks for by name. */
enum listing_sort way_order_of(const struct way *way);

/* Its order's columns, which come first in the row: "expires_at AS way_1, id AS way_2"; and how
 * many. The id is the last one. */
void way_append_columns(const struct way *way, struct query *query);
size_t way_column_count(const struct way *way);

/* Is there something in that part? A state of WAY_EXPIRY; the others have one part, the first. */
bool way_has_part(const struct way *way, enum record_state part);

/* FROM and WHERE, for one part; `with_lease`: also where no condition needs it. */
void way_append_from(const struct way *way, struct query *query, enum record_state part,
		     bool with_lease);
/* ORDER BY, the way's own order of those columns, which must be the first. */
void way_append_order(const struct way *way, struct query *query);

/* Set `upto` to the end of the next stretch, or clear it where that is the last. `parts`: in which
 * parts, of `states`. 0, or -1 with *error. */
int way_find_stretch(struct way *way, struct connection *connection, unsigned parts,
		     struct error *error) __attribute__((warn_unused_result));

/* The parts of an order's columns in the row that `query` is at. */
int way_place_take(const struct way *way, struct way_place *place, const struct query *query,
		   struct error *error) __attribute__((warn_unused_result));
/* `after` becomes `upto`; true while there is a stretch behind that. */
bool way_go_on(struct way *way);
/* Back to the beginning, for another part. */
void way_restart(struct way *way);
/* `after` becomes the place of that record. 0, or -1 with *error. */
int way_start_after(struct way *way, struct connection *connection, const unsigned char *id,
		    struct error *error) __attribute__((warn_unused_result));

/* The conditions that no index serves, each with " AND " before it: for a row that was found
 * before. They need WAY_LEASE. */
void way_append_filter(const struct way *way, struct query *query);

/* What statements about records share. */
#define WAY_NOW "UTC_TIMESTAMP(6)"
/* Milliseconds since the epoch; by arithmetic, as in statements.c: UNIX_TIMESTAMP ends in 2038. */
#define WAY_MS(time) "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " time ") DIV 1000"
/* In flight, its first lease past, and no live renewal; needs the lease. */
#define WAY_STALE                                                                                  \
	"(state = 'in_flight' AND once_record.lease_until <= " WAY_NOW                             \
	" AND COALESCE(renewed.lease_until <= " WAY_NOW ", TRUE))"
/* The database has to read all of a long answer to tell its length. */
#define WAY_SIZE "(COALESCE(OCTET_LENGTH(headers), 0) + COALESCE(OCTET_LENGTH(body), 0))"
/* A record's lease, renewed or closed. */
#define WAY_LEASE " LEFT JOIN once_lease AS renewed ON renewed.token = once_record.token"

#endif
