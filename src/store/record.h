/* SPDX-License-Identifier: ISC */
/* The record of a key as the database has it, and its life cycle (docs/design.md, section 3). */
#ifndef ONCEWRAP_STORE_RECORD_H
#define ONCEWRAP_STORE_RECORD_H

#include "base/buffer.h"
#include "base/digest.h"

#include <stdbool.h>
#include <stdint.h>

#define TOKEN_LENGTH         16
#define RECORD_SCHEME_LENGTH 128 /* with its NUL */
#define RECORD_PARTS_LENGTH  64

enum record_state {
	RECORD_IN_FLIGHT, /* owned by its token */
	RECORD_COMPLETE,  /* answer stored, or marked as not kept */
	RECORD_UNKNOWN,   /* the handler may or may not have acted; left only by its owner's late
			     answer or a person */
	RECORD_RELEASED,  /* claimable at once, kept for its checkpoint */
	RECORD_EXPIRED,   /* tombstone */
};

/* What a record's flags say of its answer. */
#define RECORD_NOT_KEPT                                                                            \
	0x01u /* complete, but without its answer: too large, lost, or by the route's policy; the  \
		 reference may be there in its stead */
#define RECORD_LAPSE_UNKNOWN    0x02u /* its route's on_lapse, for whoever finds it lapsed */
#define RECORD_REFERENCE_LENGTH 1024

/* What moves a record. Each is one conditional statement (MOVE_RELEASE, MOVE_FREE: one of two); the
 * table in record.c says from where to where, and a test holds the statements' conditions against
 * it. */
enum record_move {
	MOVE_CLAIM,
	MOVE_RECLAIM,
	MOVE_TAKE_OVER,
	MOVE_STORE,
	MOVE_RELEASE,
	MOVE_MARK_UNKNOWN,
	MOVE_LAPSE,   /* a reader marks a lapsed record unknown */
	MOVE_FREE,    /* a person frees the key (change.c) */
	MOVE_RESOLVE, /* a person says that it was applied (change.c) */
	MOVE_NONE,    /* not a move: statements that only read, or touch once_lease alone */
};

struct record {
	unsigned char token[TOKEN_LENGTH];
	enum record_state state;
	uint32_t attempt;
	unsigned char fingerprint[DIGEST_LENGTH];
	char scheme[RECORD_SCHEME_LENGTH];
	unsigned char parts[RECORD_PARTS_LENGTH];
	size_t parts_length;
	bool expired; /* past expires_at by the database's clock; never for unknown and released
			 (case C9) */
	int64_t expired_for; /* ms since then, by the same clock; 0 where not expired */
	bool lapsed; /* in flight and its first lease over; a renewal may stand in once_lease */
	int64_t created_ms; /* wall-clock ms since the epoch, by the database */
	int64_t settled_ms; /* 0 while not settled */
	int status;
	unsigned flags;
	struct buffer headers; /* raw lines, CRLF after each, "Status: ..." first */
	struct buffer body;
	struct buffer reference; /* what the handler called its answer; may be empty */
};

/* "in_flight" and so on, as the database spells it; and back: -1 for a word that is none. */
const char *record_state_name(enum record_state state);
int record_state_parse(const char *name, size_t length);

/* May this move leave from that state? The life cycle's one place. MOVE_CLAIM starts from no row,
 * so from none. */
bool record_may_move(enum record_move move, enum record_state from);
/* The state it leads to (MOVE_RELEASE, MOVE_FREE: the row is deleted where it has no checkpoint).
 */
enum record_state record_move_target(enum record_move move);

void record_init(struct record *record);
void record_free(struct record *record); /* keeps the struct usable, as after record_init */

#endif
