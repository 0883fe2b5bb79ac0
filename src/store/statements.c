/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/statements.h"

/* The columns of a record, for a statement that returns them; row.c binds them in this order. A
 * record that is unknown or released never expires (case C9). Times leave as milliseconds since the
 * epoch, by arithmetic and not by UNIX_TIMESTAMP, which ends in 2038. */
#define RECORD_COLUMNS                                                                             \
	"token, state, attempt, fingerprint, fingerprint_scheme, part_digests,"                    \
	" state NOT IN ('unknown', 'released') AND expires_at <= UTC_TIMESTAMP(6),"                \
	" state = 'in_flight' AND lease_until <= UTC_TIMESTAMP(6),"                                \
	" TIMESTAMPDIFF(MICROSECOND, '1970-01-01', created_at) DIV 1000,"                          \
	" TIMESTAMPDIFF(MICROSECOND, '1970-01-01', settled_at) DIV 1000,"                          \
	" status, flags, headers, body"

#define NOW      "UTC_TIMESTAMP(6)"
#define FROM_NOW "UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND"
/* What a closed lease holds: never in the future, so that it counts as over everywhere. */
#define CLOSED "'1970-01-01'"

/* The clause without which an in-flight record moves to nobody: its first lease is over, and the
 * renewals of its token are closed. A closed lease stays closed while its record is in flight, so
 * that this is no check-then-act. */
#define LEASE_IS_CLOSED                                                                            \
	"lease_until <= " NOW " AND EXISTS (SELECT 1 FROM once_lease AS renewed"                   \
	" WHERE renewed.token = once_record.token AND renewed.lease_until = " CLOSED ")"

const struct statement statements[STATEMENT_COUNT] = {
    [STATEMENT_CLAIM] =
	{
	    .name = "claim",
	    .text = "INSERT INTO once_record (id, tenant, route, key_text, state, token, attempt,"
		    " fingerprint, fingerprint_scheme, part_digests,"
		    " lease_until, created_at, expires_at,"
		    " owner_host, owner_boot, owner_pidns, owner_pid, owner_start)"
		    " VALUES (?, ?, ?, ?, 'in_flight', ?, 1, ?, ?, ?,"
		    " " FROM_NOW ", " NOW ", " FROM_NOW ", ?, ?, ?, ?, ?)"
		    " ON DUPLICATE KEY UPDATE attempt = attempt"
		    " RETURNING " RECORD_COLUMNS,
	    .move = MOVE_CLAIM,
	    .result = RESULT_RECORD,
	},
    [STATEMENT_READ] =
	{
	    .name = "read",
	    .text = "SELECT " RECORD_COLUMNS " FROM once_record WHERE id = ?",
	    .move = MOVE_NONE,
	    .result = RESULT_RECORD,
	},
    [STATEMENT_RECLAIM] =
	{
	    .name = "reclaim",
	    .text =
		"UPDATE once_record SET state = 'in_flight', token = ?, attempt = 1,"
		" tenant = ?, route = ?, key_text = ?,"
		" fingerprint = ?, fingerprint_scheme = ?, part_digests = ?,"
		" lease_until = " FROM_NOW ", created_at = " NOW ", expires_at = " FROM_NOW ","
		" owner_host = ?, owner_boot = ?, owner_pidns = ?, owner_pid = ?, owner_start = ?,"
		" settled_at = NULL, status = NULL, headers = NULL, body = NULL, reference = NULL,"
		" flags = 0, checkpoint = NULL, checkpoint_data = NULL, checkpoint_seq = 0"
		" WHERE id = ? AND token = ? AND expires_at <= " NOW
		" AND (state = 'complete' OR (state = 'in_flight' AND " LEASE_IS_CLOSED "))",
	    .move = MOVE_RECLAIM,
	},
    [STATEMENT_CLOSE_LEASE] =
	{
	    .name = "close lease",
	    .text = "INSERT INTO once_lease (token, lease_until) VALUES (?, " CLOSED ")"
		    " ON DUPLICATE KEY UPDATE"
		    " lease_until = IF(lease_until <= " NOW ", " CLOSED ", lease_until)"
		    " RETURNING lease_until = " CLOSED,
	    .move = MOVE_NONE,
	    .result = RESULT_LEASE,
	},
    [STATEMENT_TAKE_OVER] =
	{
	    /* LAST_INSERT_ID(expression) sends the number back with the row count: no second round
	       trip. */
	    .name = "take over",
	    .text =
		"UPDATE once_record SET state = 'in_flight', token = ?,"
		" attempt = LAST_INSERT_ID(attempt + 1), lease_until = " FROM_NOW ","
		" expires_at = GREATEST(expires_at, " FROM_NOW "),"
		" owner_host = ?, owner_boot = ?, owner_pidns = ?, owner_pid = ?, owner_start = ?,"
		" settled_at = NULL"
		" WHERE id = ? AND token = ?"
		" AND (state = 'released' OR (state = 'in_flight' AND " LEASE_IS_CLOSED "))",
	    .move = MOVE_TAKE_OVER,
	},
    [STATEMENT_LAPSE] =
	{
	    .name = "lapse",
	    .text = "UPDATE once_record SET state = 'unknown', settled_at = " NOW
		    " WHERE id = ? AND token = ? AND state = 'in_flight' AND " LEASE_IS_CLOSED,
	    .move = MOVE_LAPSE,
	},
    [STATEMENT_RENEW] =
	{
	    .name = "renew",
	    .text = "INSERT INTO once_lease (token, lease_until) VALUES (?, " FROM_NOW ")"
		    " ON DUPLICATE KEY UPDATE"
		    " lease_until = IF(lease_until = " CLOSED ", " CLOSED ", VALUES(lease_until))"
		    " RETURNING lease_until = " CLOSED,
	    .move = MOVE_NONE,
	    .result = RESULT_LEASE,
	},
    [STATEMENT_STORE] =
	{
	    .name = "store",
	    .text = "UPDATE once_record SET state = 'complete', status = ?, headers = ?, body = ?,"
		    " flags = ?, settled_at = " NOW ","
		    " expires_at = GREATEST(expires_at, created_at + INTERVAL ? MICROSECOND)"
		    " WHERE id = ? AND token = ? AND state IN ('in_flight', 'unknown')",
	    .move = MOVE_STORE,
	    .waits = true,
	    .patient = true,
	},
    [STATEMENT_RELEASE] =
	{
	    .name = "release",
	    .text = "DELETE FROM once_record"
		    " WHERE id = ? AND token = ? AND state = 'in_flight' AND checkpoint IS NULL",
	    .move = MOVE_RELEASE,
	    .waits = true,
	    .patient = true,
	},
    [STATEMENT_RELEASE_KEPT] =
	{
	    .name = "release",
	    .text =
		"UPDATE once_record SET state = 'released', settled_at = " NOW
		" WHERE id = ? AND token = ? AND state = 'in_flight' AND checkpoint IS NOT NULL",
	    .move = MOVE_RELEASE,
	    .waits = true,
	    .patient = true,
	},
    [STATEMENT_MARK_UNKNOWN] =
	{
	    .name = "mark unknown",
	    .text = "UPDATE once_record SET state = 'unknown', settled_at = " NOW
		    " WHERE id = ? AND token = ? AND state = 'in_flight'",
	    .move = MOVE_MARK_UNKNOWN,
	    .waits = true,
	    .patient = true,
	},
    [STATEMENT_FORGET_LEASE] =
	{
	    .name = "forget lease",
	    .text = "DELETE FROM once_lease WHERE token = ?",
	    .move = MOVE_NONE,
	},
};
