/* SPDX-License-Identifier: ISC */
/*
 * What a person does to a record: one conditional statement that names id, token and state as they
 * were seen, so that no tool overruns a worker that has just finished, and a row of once_audit in
 * the same transaction. A lease is closed before its in-flight record is moved, as the wrapper does
 * (docs/design.md section 4).
 *
 * Hides the SQL, and the errors that cure themselves: after a deadlock (on Galera also at the
 * commit) or a lost connection the whole is done again, up to `deadline` (clock_now milliseconds),
 * and never twice: whether a commit whose reply was lost was done is read from the audit trail.
 */
#ifndef ONCEWRAP_STORE_CHANGE_H
#define ONCEWRAP_STORE_CHANGE_H

#include "store/audit.h"
#include "store/connection.h"
#include "store/record.h"
#include "store/store.h"

/* A record as a person saw it. */
struct change_seen {
	unsigned char id[DIGEST_LENGTH];
	unsigned char token[TOKEN_LENGTH];
	enum record_state state;
};

enum change_result {
	CHANGE_DONE,
	CHANGE_GONE,   /* there is no such record */
	CHANGE_MOVED,  /* it is not what was seen, or not in a state to move from so */
	CHANGE_LIVE,   /* its owner lives: the lease could not be closed */
	CHANGE_FAILED, /* *error; nothing was changed, or it is told that this is not known */
};

/* A record after the attempt to change it, except after CHANGE_FAILED. */
struct change_now {
	bool is_there; /* false: it was deleted */
	enum record_state state;
	bool other_token; /* CHANGE_MOVED: it has another owner, or another life */
};

/*
 * Free the key: the record is deleted, or kept as `released` where it holds a checkpoint; its
 * natural key is free too. From in_flight only once its lease is closed (with `live` also while it
 * runs: the owner then loses it), from unknown.
 */
enum change_result change_release(struct connection *connection, const struct change_seen *seen,
				  bool live, const struct audit_author *author,
				  struct change_now *now, int64_t deadline, struct error *error)
    __attribute__((warn_unused_result));

/*
 * An unknown outcome, or a lapsed in-flight one, is known now: it was applied, with this answer
 * (flags RECORD_NOT_KEPT where there is none to replay), kept for answer->retention from now. The
 * natural key is settled with answer->location, or free where not answer->natural_done, as by a
 * worker's settlement. The record gets a token of its own, so that an owner that comes back late
 * learns that another answer stands; answer->natural and retention_is_exact mean nothing here.
 */
enum change_result change_applied(struct connection *connection, const struct change_seen *seen,
				  const struct store_answer *answer,
				  const struct audit_author *author, struct change_now *now,
				  int64_t deadline, struct error *error)
    __attribute__((warn_unused_result));

#endif
