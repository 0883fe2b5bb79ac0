/* SPDX-License-Identifier: ISC */
/*
 * The store: the protocol of docs/design.md section 4 over one MariaDB connection, made when first
 * needed, made anew when lost. Every call is one durable step that commits by itself; no
 * transaction stays open.
 *
 * Hides Connector/C, SQL and the errors that cure themselves: a deadlock (1213) and a lost
 * connection are answered by issuing the same statement again with the same token, at once and then
 * with growing pauses, until `deadline` (clock_now milliseconds), so that a step is never done
 * twice. What is left for the caller is `enum store_result`. No call outlasts its deadline,
 * whatever the server does; only the system's resolver may block, where store.host is a name.
 *
 * A database that was away when a call began is not waited for: claims, reads and takeovers then
 * try to connect once, and within 200 ms of a failed attempt (or as long again as that attempt
 * took, up to 5 s) answer STORE_DOWN at once. Settlements always try until their deadline.
 *
 * Not thread-safe. One store a process, never across a fork: the child calls store_abandon.
 */
#ifndef ONCEWRAP_STORE_STORE_H
#define ONCEWRAP_STORE_STORE_H

#include "base/error.h"
#include "config/config.h"
#include "store/record.h"

#include <stdint.h>

struct store;

enum store_result {
	STORE_DONE,   /* it holds: the row was changed, or read */
	STORE_NO_ROW, /* the condition did not hold (the row has gone or moved on), or no row */
	STORE_BUSY,   /* 1205: another session is at work on the row */
	/* The connection was lost, or time ran out, when it may have been done; it may yet be. */
	STORE_UNCERTAIN,
	STORE_DOWN, /* not to be reached, or refused; nothing was done; *error has the cure */
};

/* Never connects. NULL when out of memory. `config` is borrowed and must outlive the store. */
struct store *store_new(const struct config_store *config);
void store_free(struct store *store);
/* In a forked child: forget the parent's connection without a word to the server. */
void store_abandon(struct store *store);

/* Connect now, if not connected; one attempt (demos, --check). STORE_DONE or STORE_DOWN. */
enum store_result store_connect(struct store *store, int64_t deadline, struct error *error);

/* The largest answer (headers and body together) that one statement can carry on the live
 * connection, from the server's max_allowed_packet; 0 when not connected. */
uint64_t store_largest_answer(const struct store *store);

/* Who owns a claim; written into the record. */
struct store_owner {
	char host[256];
	char boot[40];  /* /proc/sys/kernel/random/boot_id */
	uint64_t pidns; /* inode of /proc/self/ns/pid */
	int64_t pid;
	uint64_t start; /* start time of /proc/self/stat, clock ticks since boot */
};
/* This process, looked up anew at each call (0, or -1 with *error). */
int store_owner_self(struct store_owner *owner, struct error *error);

struct store_claim {
	unsigned char id[DIGEST_LENGTH];
	unsigned char token[TOKEN_LENGTH]; /* made by the caller, new for each request */
	const void *tenant;
	size_t tenant_length;
	const char *route;
	const void *key;
	size_t key_length;
	const unsigned char *fingerprint; /* DIGEST_LENGTH */
	const char *scheme;
	const unsigned char *parts;
	size_t parts_length;
	int64_t lease;     /* ms */
	int64_t retention; /* ms */
	const struct store_owner *owner;
	bool lapse_unknown; /* should it lapse, its outcome is unknown, whoever finds it */
};

/*
 * Claim, in one round trip. STORE_DONE with *record filled in: record->token equal to claim->token
 * means that it is mine (also where an issue whose reply was lost had done it: rule 2); with
 * another token here is the record as it stands. STORE_BUSY after 1205: the caller reads. A row is
 * believed only when the result was read to its end without error (rule 1). The record must have
 * been initialised; what it held is freed.
 */
enum store_result store_claim(struct store *store, const struct store_claim *claim,
			      struct record *record, int64_t deadline, struct error *error);

/* The record as it stands, by a plain SELECT, which never waits for a lock. */
enum store_result store_read(struct store *store, const unsigned char id[DIGEST_LENGTH],
			     struct record *record, int64_t deadline, struct error *error);

/*
 * The moves of somebody else's record. `seen` is the token it was read with: once the record has
 * moved on, the answer is STORE_NO_ROW. An in-flight record moves only if store_close_lease has
 * answered STORE_DONE for that token before: the statements look for the closed lease themselves.
 */

/* Start a new life (attempt 1) of a record that is complete, in flight, or a tombstone, and has
 * been expired for `tombstone` ms (0: as soon as it is; a tombstone's own end is its expiry). */
enum store_result store_reclaim(struct store *store, const struct store_claim *claim,
				const unsigned char seen[TOKEN_LENGTH], int64_t tombstone,
				int64_t deadline, struct error *error);

/* Close the lease of `seen` if it is over, for a record that was seen `lapsed`. STORE_DONE: closed,
 * nobody can renew it any more; STORE_NO_ROW: its owner lives. */
enum store_result store_close_lease(struct store *store, const unsigned char seen[TOKEN_LENGTH],
				    int64_t deadline, struct error *error);

/* Take over an in-flight record, or a released one: *attempt is its number. The record is kept for
 * a whole retention from now at least (case C57). */
enum store_result store_take_over(struct store *store, const struct store_claim *claim,
				  const unsigned char seen[TOKEN_LENGTH], uint32_t *attempt,
				  int64_t deadline, struct error *error);

/* Mark an in-flight record unknown (on_lapse = unknown); the token stays, for its owner's late
 * answer. */
enum store_result store_lapse(struct store *store, const unsigned char id[DIGEST_LENGTH],
			      const unsigned char seen[TOKEN_LENGTH], int64_t deadline,
			      struct error *error);

#define STORE_LOCATION_LENGTH 2048

struct store_answer {
	int status;
	const void *headers; /* raw lines */
	size_t headers_length;
	const void *body;
	size_t body_length;
	unsigned flags;    /* RECORD_NOT_KEPT: headers and body are empty */
	int64_t retention; /* ms from the record's creation; the later of that and the claim's
			      holds (case C57) */
	/* That one holds, even if it is the earlier: the handler's wish. It counts from the
	 * settlement where the operation was taken over, since its creation may be long past. */
	bool retention_is_exact;
	const void *reference; /* at most RECORD_REFERENCE_LENGTH bytes; NULL: none */
	size_t reference_length;
	const struct store_natural *natural; /* the claim's natural key; NULL: it has none, or its
						hold is to stay as it is */
	bool natural_done; /* the operation was done: the natural key is settled; else it is free */
	/* The answer's Location, for the natural key; NULL: none. One over STORE_LOCATION_LENGTH
	 * is left out: a cut one leads nowhere. */
	const void *location;
	size_t location_length;
};

/*
 * A natural key (docs/design.md section 9): another key, by content, for the same operation. Its
 * row names the record whose claim holds it, from just after that claim until its window is over,
 * or the claim is released. `window` in ms; WINDOW_FOR_EVER.
 */
struct store_natural {
	unsigned char id[DIGEST_LENGTH];
	int64_t window;
};

/* Who holds a natural key. */
struct store_natural_holder {
	unsigned char record[DIGEST_LENGTH]; /* the holder's record */
	unsigned char token[TOKEN_LENGTH];
	bool over;              /* its window is over, by the database's clock */
	int64_t settled_ms;     /* 0: not settled */
	struct buffer location; /* of its answer; may be empty; the caller frees it */
};

/*
 * After a won claim: hold its natural key, in one round trip, by the claim's own no-op upsert.
 * STORE_DONE with *holder filled in anew: holder->token equal to `token` means that it is ours, as
 * with a claim. Where an earlier attempt at this record held it, it is ours now, at the price of a
 * second round trip. holder->record equal to `record` with another token is somebody else's all the
 * same: this record's earlier life that was settled, or the attempt that has taken it over from us.
 * STORE_BUSY after 1205.
 */
enum store_result store_hold_natural(struct store *store, const struct store_natural *natural,
				     const unsigned char record[DIGEST_LENGTH],
				     const unsigned char token[TOKEN_LENGTH],
				     struct store_natural_holder *holder, int64_t deadline,
				     struct error *error);

/* Take it from a holder that is over, or whose record has gone, moved on or been released:
 * STORE_NO_ROW where the row is no longer `seen`'s, or its holder none of these. One that is
 * settled is taken only once its window is over. */
enum store_result store_take_natural(struct store *store, const struct store_natural *natural,
				     const unsigned char seen[TOKEN_LENGTH],
				     const unsigned char record[DIGEST_LENGTH],
				     const unsigned char token[TOKEN_LENGTH], int64_t deadline,
				     struct error *error);

/* How an in-flight record stands, without its answer: what a waiter looks at. */
struct store_glance {
	unsigned char token[TOKEN_LENGTH];
	enum record_state state;
	bool lapsed; /* in flight, its first lease and its renewals over: no living owner's is */
	bool here;   /* its owner runs on the host and in the boot of `owner` */
};

/* A plain SELECT that reads no answer. STORE_NO_ROW: the record has gone. */
enum store_result store_glance(struct store *store, const unsigned char id[DIGEST_LENGTH],
			       const struct store_owner *owner, struct store_glance *glance,
			       int64_t deadline, struct error *error);

/*
 * The owner's settlements. STORE_DONE: it stands, also where that was the work of an issue whose
 * reply was lost, or of the handler's own transaction (case C22). STORE_NO_ROW: the record is no
 * longer this token's to settle: nothing was changed. STORE_UNCERTAIN and STORE_DOWN: not known,
 * not possible, before the deadline. Waits for a row that is locked. The claim's row of once_lease
 * goes too, if there was a renewal.
 *
 * store_settle writes record and natural key in one statement. It refuses what is larger than
 * store_largest_answer, before anything is sent: STORE_DOWN with ERROR_LIMIT; the caller settles
 * again with RECORD_NOT_KEPT.
 */
enum store_result store_settle(struct store *store, const unsigned char id[DIGEST_LENGTH],
			       const unsigned char token[TOKEN_LENGTH],
			       const struct store_answer *answer, int64_t deadline,
			       struct error *error);
/* `natural` NULL: none; else it is free again by the same statement. `keep`: the row stays as
 * released, so that the next owner's attempt counts on; without it only where it has a checkpoint.
 */
enum store_result store_release(struct store *store, const unsigned char id[DIGEST_LENGTH],
				const unsigned char token[TOKEN_LENGTH],
				const struct store_natural *natural, bool keep, int64_t deadline,
				struct error *error);
enum store_result store_mark_unknown(struct store *store, const unsigned char id[DIGEST_LENGTH],
				     const unsigned char token[TOKEN_LENGTH], int64_t deadline,
				     struct error *error);

#endif
