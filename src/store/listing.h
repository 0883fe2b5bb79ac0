/* SPDX-License-Identifier: ISC */
/*
 * Records as an admin program lists them, handed on one by one: which ones, in which order, how
 * many. Hides which index leads to them (way.h).
 *
 * Read in pages, so that neither side keeps a long list and no snapshot stays open behind a slow
 * reader, and in stretches of an index where a condition has to be held against each row, so that
 * no statement takes long. Nothing comes twice; a list of all, without conditions and order, has
 * every record that was there all the time.
 */
#ifndef ONCEWRAP_STORE_LISTING_H
#define ONCEWRAP_STORE_LISTING_H

#include "store/connection.h"
#include "store/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All but the first: largest value first, the id decides among equals. */
enum listing_sort {
	/* As the index has them that leads there: of a tenant, newest first; of a key prefix, by
	 * key; all of them (limit 0), by id; by age alone, newest first; else those that expire
	 * last first. */
	LISTING_AS_FOUND,
	LISTING_BY_AGE, /* newest first */
	LISTING_BY_SIZE,
	LISTING_BY_EXPIRY,
};

/* All of these conditions hold. Text is borrowed. */
struct listing_filter {
	unsigned states;            /* 1 << enum record_state, or-ed; 0: every state */
	const char *route, *tenant; /* NULL: every one */
	const char *key_prefix;     /* NULL: every key */
	int64_t older, younger;     /* than these milliseconds; 0: of any age */
	bool stale;                 /* in flight, and nobody holds it any more */
	bool expired;               /* past its retention, and nobody at work on it */
	enum listing_sort sort;
	uint64_t limit;             /* most records; 0: all */
	const unsigned char *after; /* an id: only what comes after its record; NULL: all */
	bool sizes; /* also tell sizes, for which the database has to read whole answers */
};

/* Text is borrowed for the call. Times are milliseconds since the epoch, by the database's clock.
 */
struct listing_record {
	unsigned char id[DIGEST_LENGTH];
	enum record_state state;
	const char *route, *tenant, *key, *host;
	size_t route_length, tenant_length, key_length, host_length;
	uint32_t attempt;
	int64_t now_ms;
	int64_t created_ms, expires_ms;
	int64_t settled_ms; /* 0: not settled */
	int64_t lease_ms;   /* with its renewals; 0: closed */
	bool stale;
	int64_t pid;
	int status; /* 0: none */
	unsigned flags;
	uint64_t size; /* bytes of headers and body; 0 where not asked for */
};

struct listing_reader {
	void *context;
	/* The next record. False: no more. */
	bool (*take)(void *context, const struct listing_record *record);
	/* How many were looked at so far, now and then; may be NULL. */
	void (*looked)(void *context, uint64_t count);
};

/* *more tells that the limit left some out. 0, or -1 with *error; of ERROR_INPUT where the record
 * that `after` names has gone. */
int listing_run(struct connection *connection, const struct listing_filter *filter,
		const struct listing_reader *reader, bool *more, struct error *error)
    __attribute__((warn_unused_result));

#endif
