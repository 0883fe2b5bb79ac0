/* SPDX-License-Identifier: ISC */
/* One record in full, for a person: everything the database has of it, its lease with renewals, and
 * what people did to it. Reads only. */
#ifndef ONCEWRAP_STORE_INSPECT_H
#define ONCEWRAP_STORE_INSPECT_H

#include "base/buffer.h"
#include "store/connection.h"
#include "store/record.h"

#include <stdbool.h>
#include <stdint.h>

enum inspect_renewal {
	RENEWAL_NONE, /* only the claim's own lease */
	RENEWAL_HELD,
	RENEWAL_CLOSED, /* nobody can renew it any more */
};

/* Times are milliseconds since the epoch, by the database's clock. */
struct inspection {
	unsigned char id[DIGEST_LENGTH];
	struct record record; /* headers and body only where they were asked for */
	struct buffer tenant, route, key;
	struct buffer scheme; /* record.scheme with whatever bytes are in it */
	int64_t now_ms, expires_ms;
	int64_t first_lease_ms;
	enum inspect_renewal renewal;
	int64_t renewed_ms; /* of RENEWAL_HELD */
	bool stale;         /* in flight, the first lease past, and no live renewal */
	struct inspect_owner {
		struct buffer host, boot;
		uint64_t pidns;
		int64_t pid;
		uint64_t start;
	} owner; /* as store_owner */
	uint64_t headers_length, body_length;
	bool has_checkpoint;
	struct buffer checkpoint; /* its name */
	uint64_t checkpoint_length;
	uint32_t checkpoint_number;
	uint64_t changes; /* entries of its audit trail */
};

/* What is read only when asked for: it may be large, and hold secrets. */
#define INSPECT_HEADERS 0x1u
#define INSPECT_BODY    0x2u

enum inspect_result { INSPECT_FOUND, INSPECT_GONE, INSPECT_FAILED };

void inspection_init(struct inspection *inspection);
void inspection_free(struct inspection *inspection); /* usable again, as after inspection_init */

/* GONE: there is no such record; its trail may be there all the same. */
enum inspect_result inspect_read(struct connection *connection,
				 const unsigned char id[DIGEST_LENGTH], unsigned wanted,
				 struct inspection *inspection, int64_t deadline,
				 struct error *error);

/* What somebody did to a record. Text is borrowed for the call, NULL where there is none. */
struct inspect_entry {
	int64_t done_ms;
	struct inspect_text {
		const char *data;
		size_t length;
	} token, before, after, who, host, program, reason;
};

/* Its audit trail, oldest first. 0, or -1 with *error. */
int inspect_history(struct connection *connection, const unsigned char id[DIGEST_LENGTH],
		    void (*take)(void *context, const struct inspect_entry *entry), void *context,
		    int64_t deadline, struct error *error);

/* What a record holds, or has held, of natural keys. */
struct inspect_natural {
	struct inspect_text id;
	bool holds;         /* it still stands: no other key can do the same operation */
	int64_t window_ms;  /* until when */
	int64_t settled_ms; /* 0: not settled */
	struct inspect_text location;
};

/* By the end of their windows. 0, or -1 with *error. */
int inspect_naturals(struct connection *connection, const unsigned char id[DIGEST_LENGTH],
		     void (*take)(void *context, const struct inspect_natural *natural),
		     void *context, int64_t deadline, struct error *error);

#endif
