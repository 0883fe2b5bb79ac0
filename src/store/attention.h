/* SPDX-License-Identifier: ISC */
/*
 * The records that wait for a person: those of unknown outcome, and those in flight that nobody
 * works on any more. Read along an index and no further than a bound, within a time limit that the
 * server keeps: it may be asked at any moment. Hides the keys: whoever shows these has none to
 * show.
 */
#ifndef ONCEWRAP_STORE_ATTENTION_H
#define ONCEWRAP_STORE_ATTENTION_H

#include "base/buffer.h"
#include "base/digest.h"
#include "base/error.h"
#include "store/connection.h"
#include "store/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times are milliseconds since the epoch, by the database's clock. */
struct attention_entry {
	unsigned char id[DIGEST_LENGTH];
	enum record_state state; /* unknown; or in flight, and stale */
	unsigned flags;
	uint32_t attempt;
	struct buffer route, tenant, host;       /* owned; any bytes */
	unsigned char key_digest[DIGEST_LENGTH]; /* of the key's text, as the log has it */
	int64_t pid;
	int64_t now_ms, created_ms;
};

struct attention {
	struct attention_entry *entries; /* oldest first; owned */
	size_t count, capacity;
	bool more; /* there are others */
};

/*
 * The oldest `most`, into a list that begins as { 0 }. Among more than `bound` of a state those
 * count that expire first. 0, or -1 with *error and connection->code. Freed in any case.
 */
int attention_take(struct connection *connection, size_t most, int64_t bound, int64_t deadline,
		   struct attention *attention, struct error *error)
    __attribute__((warn_unused_result));

void attention_free(struct attention *attention);

#endif
