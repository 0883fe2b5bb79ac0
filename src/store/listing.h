/* SPDX-License-Identifier: ISC */
/*
 * Records as an admin program lists them, handed on one by one. With a limit: those that expire
 * last come first, an order that an index has ready, and newest first where retentions are equal.
 * All of them: by id, as the table itself is laid out, so that it is read once from end to end.
 *
 * Read in pages, so that neither side keeps a long list and no snapshot stays open behind a slow
 * reader. Nothing comes twice; a list of all has every record that was there all the time.
 */
#ifndef ONCEWRAP_STORE_LISTING_H
#define ONCEWRAP_STORE_LISTING_H

#include "store/connection.h"
#include "store/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct listing_filter {
	unsigned states;   /* 1 << enum record_state, or-ed; 0: every state */
	const char *route; /* NULL: every route */
	uint64_t limit;    /* most records; 0: all */
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
	int64_t pid;
	int status; /* 0: none */
	unsigned flags;
	uint64_t size; /* bytes of headers and body */
};

/* Each record to `take`, until it returns false. *more tells that the limit left some out. 0, or -1
 * with *error. */
int listing_run(struct connection *connection, const struct listing_filter *filter,
		bool (*take)(void *context, const struct listing_record *record), void *context,
		bool *more, struct error *error);

#endif
