/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/statements.h"

#define MILLISECONDS(time) " TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " time ") DIV 1000"
#define CREATED_MS         MILLISECONDS("created_at")
#define SETTLED_MS         MILLISECONDS("settled_at")

/* The columns of a record, for a statement that returns them; row.c binds them in this order. A
 * record that is unknown or released never expires (case C9); for how long one has been expired is
 * NULL where it is not. Times leave as milliseconds since the epoch, by arithmetic and not by
 * UNIX_TIMESTAMP, which ends in 2038. */
#define RECORD_COLUMNS                                                                             \
	"token, state, attempt, fingerprint, fingerprint_scheme, part_digests,"                    \
	" IF(state NOT IN ('unknown', 'released') AND expires_at <= UTC_TIMESTAMP(6),"             \
	" TIMESTAMPDIFF(MICROSECOND, expires_at, UTC_TIMESTAMP(6)) DIV 1000, NULL),"               \
	" state = 'in_flight' AND lease_until <= UTC_TIMESTAMP(6)," CREATED_MS "," SETTLED_MS ","  \
	" status, flags, reference, headers, body"

#define NOW      "UTC_TIMESTAMP(6)"
#define FROM_NOW "UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND"
/* The end of a natural key's window: NULL for one that has none. */
#define WINDOW_END "COALESCE(" FROM_NOW ", TIMESTAMP'9999-12-31 00:00:00')"
/* What a closed lease holds: never in the future, so that it counts as over everywhere. */
#define CLOSED "'1970-01-01'"

/* The clause without which an in-flight record moves to nobody: its first lease is over, and the
 * renewals of its token are closed. A closed lease stays closed while its record is in flight, so
 * that this is no check-then-act. */
#define LEASE_IS_CLOSED                                                                            \
	"lease_until <= " NOW " AND EXISTS (SELECT 1 FROM once_lease AS renewed"                   \
	" WHERE renewed.token = once_record.token AND renewed.lease_until = " CLOSED ")"

/* By its id, whatever else is asked of it. While few records are in flight the optimizer finds the
 * index on states as good, and by that one a statement also locks what is not its own. (A DELETE
 * takes no hint, but finds a constant row in its form for several tables.) */
#define UPDATE_RECORD "UPDATE once_record FORCE INDEX (PRIMARY)"
#define DELETE_RECORD "DELETE once_record FROM once_record"

/* An answer's columns. `settled_at` and `token` are in once_natural_key too. */
#define ANSWER                                                                                     \
	"state = 'complete', status = ?, headers = ?, body = ?, flags = ?, reference = ?,"         \
	" once_record.settled_at = " NOW ", expires_at ="                                          \
	" IF(?, IF(attempt = 1, created_at, " NOW ") + INTERVAL ? MICROSECOND,"                    \
	" GREATEST(expires_at, created_at + INTERVAL ? MICROSECOND))"

/* A record beside the natural key that its claim holds. An outer join, so that one that was lost
 * does not stop the record. The record is locked first, as by every statement on both. */
#define WITH_NATURAL                                                                               \
	"once_record LEFT JOIN once_natural_key AS held ON held.natural_id = ?"                    \
	" AND held.record_id = once_record.id AND held.token = once_record.token"
#define OWN "once_record.id = ? AND once_record.token = ?"

const struct statement statements[STATEMENT_COUNT] = {
    [STATEMENT_CLAIM] =
	{
	    .name = "claim",
	    .text = "INSERT INTO once_record (id, tenant, route, key_text, state, token, attempt,"
		    " fingerprint, fingerprint_scheme, part_digests,"
		    " lease_until, created_at, expires_at,"
		    " owner_host, owner_boot, owner_pidns, owner_pid, owner_start, flags)"
		    " VALUES (?, ?, ?, ?, 'in_flight', ?, 1, ?, ?, ?,"
		    " " FROM_NOW ", " NOW ", " FROM_NOW ", ?, ?, ?, ?, ?, ?)"
		    " ON DUPLICATE KEY UPDATE attempt = attempt"
		    " RETURNING " RECORD_COLUMNS,
	    .move = MOVE_CLAIM,
	    .op = STORE_OP_CLAIM,
	    .result = RESULT_RECORD,
	},
    [STATEMENT_READ] =
	{
	    .name = "read",
	    .text = "SELECT " RECORD_COLUMNS " FROM once_record WHERE id = ?",
	    .move = MOVE_NONE,
	    .op = STORE_OP_READ,
	    .result = RESULT_RECORD,
	    .reads = true,
	},
    [STATEMENT_GLANCE] =
	{
	    .name = "glance",
	    .text = "SELECT once_record.token, state,"
		    " state = 'in_flight' AND once_record.lease_until <= " NOW
		    " AND COALESCE(renewed.lease_until <= " NOW ", TRUE),"
		    " owner_host = ? AND owner_boot = ?"
		    " FROM once_record LEFT JOIN once_lease AS renewed"
		    " ON renewed.token = once_record.token WHERE id = ?",
	    .move = MOVE_NONE,
	    .op = STORE_OP_READ,
	    .result = RESULT_GLANCE,
	    .reads = true,
	},
    [STATEMENT_RECLAIM] =
	{
	    .name = "reclaim",
	    .text = UPDATE_RECORD
	    " SET state = 'in_flight', token = ?, attempt = 1,"
	    " tenant = ?, route = ?, key_text = ?,"
	    " fingerprint = ?, fingerprint_scheme = ?, part_digests = ?,"
	    " lease_until = " FROM_NOW ", created_at = " NOW ", expires_at = " FROM_NOW ","
	    " owner_host = ?, owner_boot = ?, owner_pidns = ?, owner_pid = ?, owner_start = ?,"
	    " flags = ?,"
	    " settled_at = NULL, status = NULL, headers = NULL, body = NULL, reference = NULL,"
	    " checkpoint = NULL, checkpoint_data = NULL, checkpoint_seq = 0"
	    " WHERE id = ? AND token = ?"
	    " AND expires_at <= " NOW " - INTERVAL IF(state = 'expired', 0, ?) MICROSECOND"
	    " AND (state IN ('complete', 'expired')"
	    " OR (state = 'in_flight' AND " LEASE_IS_CLOSED "))",
	    .move = MOVE_RECLAIM,
	    .op = STORE_OP_CLAIM,
	},
    [STATEMENT_CLOSE_LEASE] =
	{
	    .name = "close lease",
	    .text = "INSERT INTO once_lease (token, lease_until) VALUES (?, " CLOSED ")"
		    " ON DUPLICATE KEY UPDATE"
		    " lease_until = IF(lease_until <= " NOW ", " CLOSED ", lease_until)"
		    " RETURNING lease_until = " CLOSED,
	    .move = MOVE_NONE,
	    .op = STORE_OP_CLAIM,
	    .result = RESULT_LEASE,
	},
    [STATEMENT_TAKE_OVER] =
	{
	    /* LAST_INSERT_ID(expression) sends the number back with the row count: no second round
	       trip. */
	    .name = "take over",
	    .text = UPDATE_RECORD
	    " SET state = 'in_flight', token = ?,"
	    " attempt = LAST_INSERT_ID(attempt + 1), lease_until = " FROM_NOW ","
	    " expires_at = GREATEST(expires_at, " FROM_NOW "),"
	    " owner_host = ?, owner_boot = ?, owner_pidns = ?, owner_pid = ?, owner_start = ?,"
	    " flags = ?, settled_at = NULL"
	    " WHERE id = ? AND token = ?"
	    " AND (state = 'released' OR (state = 'in_flight' AND " LEASE_IS_CLOSED "))",
	    .move = MOVE_TAKE_OVER,
	    .op = STORE_OP_CLAIM,
	},
    [STATEMENT_LAPSE] =
	{
	    .name = "lapse",
	    .text = UPDATE_RECORD
	    " SET state = 'unknown', settled_at = " NOW
	    " WHERE id = ? AND token = ? AND state = 'in_flight' AND " LEASE_IS_CLOSED,
	    .move = MOVE_LAPSE,
	    .op = STORE_OP_CLAIM,
	},
    [STATEMENT_RENEW] =
	{
	    .name = "renew",
	    .text = "INSERT INTO once_lease (token, lease_until) VALUES (?, " FROM_NOW ")"
		    " ON DUPLICATE KEY UPDATE"
		    " lease_until = IF(lease_until = " CLOSED ", " CLOSED ", VALUES(lease_until))"
		    " RETURNING lease_until = " CLOSED,
	    .move = MOVE_NONE,
	    .op = STORE_OP_RENEW,
	    .result = RESULT_LEASE,
	},
    [STATEMENT_STORE] =
	{
	    .name = "store",
	    .text = UPDATE_RECORD
	    " SET " ANSWER " WHERE id = ? AND token = ? AND state IN ('in_flight', 'unknown')",
	    .move = MOVE_STORE,
	    .op = STORE_OP_SETTLE,
	    .waits = true,
	    .patient = true,
	},
    [STATEMENT_STORE_NATURAL] =
	{
	    .name = "store",
	    .text = "UPDATE " WITH_NATURAL " SET " ANSWER ","
		    " held.settled_at = IF(?, " NOW ", NULL),"
		    " held.window_until = IF(?, held.window_until, " NOW "), held.location = ?"
		    " WHERE " OWN " AND state IN ('in_flight', 'unknown')",
	    .move = MOVE_STORE,
	    .op = STORE_OP_SETTLE,
	    .waits = true,
	    .patient = true,
	},
    [STATEMENT_RELEASE] =
	{
	    .name = "release",
	    .text = DELETE_RECORD
	    " WHERE id = ? AND token = ? AND state = 'in_flight' AND checkpoint IS NULL",
	    .move = MOVE_RELEASE,
	    .op = STORE_OP_SETTLE,
	    .waits = true,
	    .patient = true,
	},
    [STATEMENT_RELEASE_NATURAL] =
	{
	    .name = "release",
	    .text = "DELETE once_record, held FROM " WITH_NATURAL " WHERE " OWN
		    " AND state = 'in_flight' AND checkpoint IS NULL",
	    .move = MOVE_RELEASE,
	    .op = STORE_OP_SETTLE,
	    .waits = true,
	    .patient = true,
	},
    [STATEMENT_RELEASE_KEPT] =
	{
	    .name = "release",
	    .text = UPDATE_RECORD " SET state = 'released', settled_at = " NOW
				  " WHERE id = ? AND token = ? AND state = 'in_flight'",
	    .move = MOVE_RELEASE,
	    .op = STORE_OP_SETTLE,
	    .waits = true,
	    .patient = true,
	},
    [STATEMENT_RELEASE_KEPT_NATURAL] =
	{
	    /* No statement both changes one table and deletes from another; a window that is over
	       frees the natural key as well. */
	    .name = "release",
	    .text = "UPDATE " WITH_NATURAL " SET state = 'released',"
		    " once_record.settled_at = " NOW ", held.window_until = " NOW " WHERE " OWN
		    " AND state = 'in_flight'",
	    .move = MOVE_RELEASE,
	    .op = STORE_OP_SETTLE,
	    .waits = true,
	    .patient = true,
	},
    [STATEMENT_MARK_UNKNOWN] =
	{
	    .name = "mark unknown",
	    .text = UPDATE_RECORD " SET state = 'unknown', settled_at = " NOW
				  " WHERE id = ? AND token = ? AND state = 'in_flight'",
	    .move = MOVE_MARK_UNKNOWN,
	    .op = STORE_OP_SETTLE,
	    .waits = true,
	    .patient = true,
	},
    [STATEMENT_HOLD_NATURAL] =
	{
	    .name = "hold natural key",
	    .text = "INSERT INTO once_natural_key (natural_id, record_id, token, window_until)"
		    " VALUES (?, ?, ?, " WINDOW_END ")"
		    " ON DUPLICATE KEY UPDATE token = token"
		    " RETURNING record_id, token, window_until <= " NOW "," SETTLED_MS ", location",
	    .move = MOVE_NONE,
	    .op = STORE_OP_CLAIM,
	    .result = RESULT_HOLDER,
	},
    [STATEMENT_TAKE_NATURAL] =
	{
	    /* The record is only read, without a lock, and yet this is no check-then-act: a token
	       that has left its record, or whose record was released, never comes back. */
	    .name = "take natural key",
	    .text = "UPDATE once_natural_key SET record_id = ?, token = ?,"
		    " window_until = " WINDOW_END ", settled_at = NULL, location = NULL"
		    " WHERE natural_id = ? AND token = ? AND (window_until <= " NOW
		    " OR (settled_at IS NULL AND NOT EXISTS (SELECT 1 FROM once_record"
		    " WHERE once_record.id = once_natural_key.record_id"
		    " AND once_record.token = once_natural_key.token"
		    " AND once_record.state NOT IN ('released', 'expired'))))",
	    .move = MOVE_NONE,
	    .op = STORE_OP_CLAIM,
	},
    [STATEMENT_SETTLE_NATURAL] =
	{
	    .name = "settle natural key",
	    .text = "UPDATE once_natural_key SET settled_at = " NOW ", location = ?"
		    " WHERE natural_id = ? AND token = ? AND settled_at IS NULL",
	    .move = MOVE_NONE,
	    .op = STORE_OP_SETTLE,
	    .waits = true,
	    .patient = true,
	},
    [STATEMENT_FORGET_LEASE] =
	{
	    .name = "forget lease",
	    .text = "DELETE FROM once_lease WHERE token = ?",
	    .move = MOVE_NONE,
	    .op = STORE_OP_SETTLE,
	},
};
