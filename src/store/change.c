/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/change.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "store/query.h"
#include "store/trouble.h"

/* Tries at one change: a Galera node may refuse a commit more than once, a server may be starting
 * up again. */
enum { MOST_TRIES = 5, PAUSE = 50 /* ms */ };

#define NOW    "UTC_TIMESTAMP(6)"
#define CLOSED "'1970-01-01'"

/* The record's lock is taken first, as by every statement on more than one table: what follows sees
 * nobody else at work, and cannot deadlock with a worker. */
static const char lock_text[] = "SELECT token, state, checkpoint IS NOT NULL, lease_until <= " NOW
				" FROM once_record WHERE id = ? FOR UPDATE";

/* A lease that is over, so that it cannot be renewed any more ... */
static const char close_text[] =
    "INSERT INTO once_lease (token, lease_until) VALUES (?, " CLOSED ")"
    " ON DUPLICATE KEY UPDATE lease_until ="
    " IF(lease_until <= " NOW ", " CLOSED ", lease_until)"
    " RETURNING lease_until = " CLOSED;
/* ... and one that runs. */
static const char close_live_text[] =
    "INSERT INTO once_lease (token, lease_until) VALUES (?, " CLOSED ")"
    " ON DUPLICATE KEY UPDATE lease_until = " CLOSED " RETURNING lease_until = " CLOSED;

#define AS_SEEN " WHERE id = ? AND token = ? AND state = ?"

/* In its form for several tables: as in statements.c, so that it goes by the primary key. */
static const char delete_text[] = "DELETE once_record FROM once_record" AS_SEEN;

static const char release_text[] = "UPDATE once_record FORCE INDEX (PRIMARY)"
				   " SET state = 'released', settled_at = " NOW AS_SEEN;

static const char applied_text[] =
    "UPDATE once_record FORCE INDEX (PRIMARY) SET state = 'complete', token = ?, status = ?,"
    " headers = ?, body = ?, reference = ?, flags = ?, settled_at = " NOW ","
    " expires_at = " NOW " + INTERVAL ? MICROSECOND" AS_SEEN;

/* Which natural keys the claim holds. Without a lock: by this index first and the primary key
 * second, it would be taken the other way round than by a claim that takes one. None is missed, for
 * one that comes behind the record's change stands for nothing (0001-records.sql). */
static const char held_text[] =
    "SELECT natural_id FROM once_natural_key WHERE record_id = ? AND token = ?";

static const char free_natural_text[] =
    "DELETE FROM once_natural_key WHERE natural_id = ? AND token = ? AND settled_at IS NULL";

static const char settle_natural_text[] =
    "UPDATE once_natural_key SET token = ?, settled_at = " NOW ", location = ?"
    " WHERE natural_id = ? AND token = ?";

static int take_identity(const struct query *query, unsigned char token[TOKEN_LENGTH],
			 enum record_state *state, struct error *error)
{
	struct query_cell bytes = query_cell(query, 0);
	struct query_cell name = query_cell(query, 1);
	int found = name.data != NULL ? record_state_parse(name.data, name.length) : -1;
	if (bytes.data == NULL || bytes.length != TOKEN_LENGTH || found < 0) {
		error_set(error, ERROR_STORE, "a record is not what this version writes");
		return -1;
	}
	memcpy(token, bytes.data, TOKEN_LENGTH);
	*state = (enum record_state)found;
	return 0;
}

/* A change under way. */
struct change {
	struct connection *connection;
	const struct change_seen *seen;
	enum record_move move;
	bool live;
	const struct store_answer *answer;     /* MOVE_RESOLVE */
	unsigned char own_token[TOKEN_LENGTH]; /* MOVE_RESOLVE: the record's after it */
	const struct audit_author *author;
	struct change_now *now;
	/* The last try came to its commit, and that may have been done: */
	bool in_doubt;
	uint64_t entry;         /* its number in the audit trail */
	struct change_now then; /* how it would leave the record */
	int64_t deadline;
	struct error *error;
};

/* The record as its lock found it. */
struct locked {
	bool has_checkpoint;
	bool first_lease_over;
};

static void begin_statement(const struct change *change, struct query *query, const char *text)
{
	query_init(query, change->connection);
	buffer_append_text(&query->text, text);
}

static void add_as_seen(struct query *query, const struct change_seen *seen)
{
	query_add_bytes(query, seen->id, DIGEST_LENGTH);
	query_add_bytes(query, seen->token, TOKEN_LENGTH);
	query_add_text(query, record_state_name(seen->state));
}

static struct audit_entry entry_of(const struct change *change)
{
	return (struct audit_entry){
	    .record = change->seen->id,
	    .token = change->seen->token,
	    .before = change->seen->state,
	    .after = change->now->state,
	    .deleted = !change->now->is_there,
	};
}

static enum change_result take_locked(struct change *change, const struct query *query,
				      struct locked *locked)
{
	unsigned char token[TOKEN_LENGTH];
	if (take_identity(query, token, &change->now->state, change->error) < 0)
		return CHANGE_FAILED;
	change->now->is_there = true;
	change->now->other_token = memcmp(token, change->seen->token, TOKEN_LENGTH) != 0;
	locked->has_checkpoint = query_number(query, 2) != 0;
	locked->first_lease_over = query_number(query, 3) != 0;
	bool as_seen = !change->now->other_token && change->now->state == change->seen->state;
	return as_seen && record_may_move(change->move, change->now->state) ? CHANGE_DONE
									    : CHANGE_MOVED;
}

/* CHANGE_DONE: it is as it was seen, and nobody else's until the transaction ends. */
static enum change_result lock(struct change *change, struct locked *locked)
{
	struct query query;
	enum change_result result = CHANGE_FAILED;
	*change->now = (struct change_now){0};
	begin_statement(change, &query, lock_text);
	query_add_bytes(&query, change->seen->id, DIGEST_LENGTH);
	if (query_run(&query, change->deadline, change->error) < 0)
		goto out;
	if (query_next(&query, change->error))
		result = take_locked(change, &query, locked);
	else if (change->error->kind == ERROR_NONE)
		result = CHANGE_GONE;
out:
	query_free(&query);
	return result;
}

/* Nobody moves a record in flight before its lease is closed; `locked` is how it was found. */
static enum change_result close_lease(struct change *change, const struct locked *locked)
{
	struct query query;
	enum change_result result = CHANGE_FAILED;
	if (change->seen->state != RECORD_IN_FLIGHT)
		return CHANGE_DONE;
	/* The row that closing makes where there is none would end a lease that nobody has renewed
	 * yet. */
	if (!locked->first_lease_over && !change->live)
		return CHANGE_LIVE;
	begin_statement(change, &query, change->live ? close_live_text : close_text);
	query_add_bytes(&query, change->seen->token, TOKEN_LENGTH);
	if (query_run(&query, change->deadline, change->error) < 0)
		goto out;
	if (query_next(&query, change->error))
		result = query_number(&query, 0) != 0 ? CHANGE_DONE : CHANGE_LIVE;
	else if (change->error->kind == ERROR_NONE)
		error_set(change->error, ERROR_STORE, "close lease: the database returned no row");
out:
	query_free(&query);
	return result;
}

static void compose_move(struct change *change, const struct locked *locked, struct query *query)
{
	const struct store_answer *answer = change->answer;
	if (change->move == MOVE_FREE) {
		begin_statement(change, query, locked->has_checkpoint ? release_text : delete_text);
	} else {
		begin_statement(change, query, applied_text);
		query_add_bytes(query, change->own_token, TOKEN_LENGTH);
		query_add_number(query, answer->status);
		query_add_bytes(query, answer->headers, answer->headers_length);
		query_add_bytes(query, answer->body, answer->body_length);
		if (answer->reference != NULL)
			query_add_bytes(query, answer->reference, answer->reference_length);
		else
			query_add_null(query);
		query_add_number(query, answer->flags);
		query_add_number(query, answer->retention * 1000);
	}
	add_as_seen(query, change->seen);
}

static enum change_result move(struct change *change, const struct locked *locked)
{
	struct query query;
	enum change_result result = CHANGE_FAILED;
	compose_move(change, locked, &query);
	if (query_run(&query, change->deadline, change->error) < 0)
		goto out;
	result = query_changed(&query) == 1 ? CHANGE_DONE : CHANGE_MOVED;
	if (result == CHANGE_DONE) {
		change->now->state = record_move_target(change->move);
		change->now->is_there = change->move != MOVE_FREE || locked->has_checkpoint;
	}
out:
	query_free(&query);
	return result;
}

/* What was not done, in a person's words or by the answer's, is another key's to do. */
static bool frees_natural_key(const struct change *change)
{
	return change->move == MOVE_FREE || !change->answer->natural_done;
}

static int move_natural_key(struct change *change, struct query_cell natural)
{
	struct query query;
	const struct store_answer *answer = change->answer;
	if (frees_natural_key(change)) {
		begin_statement(change, &query, free_natural_text);
	} else {
		begin_statement(change, &query, settle_natural_text);
		query_add_bytes(&query, change->own_token, TOKEN_LENGTH);
		if (answer->location != NULL && answer->location_length <= STORE_LOCATION_LENGTH)
			query_add_bytes(&query, answer->location, answer->location_length);
		else
			query_add_null(&query);
	}
	query_add_bytes(&query, natural.data, natural.length);
	query_add_bytes(&query, change->seen->token, TOKEN_LENGTH);
	int result = query_run(&query, change->deadline, change->error);
	query_free(&query);
	return result;
}

/* Free or settle what the claim holds beside its record. */
static enum change_result move_natural_keys(struct change *change)
{
	struct query held;
	enum change_result result = CHANGE_FAILED;
	begin_statement(change, &held, held_text);
	query_add_bytes(&held, change->seen->id, DIGEST_LENGTH);
	query_add_bytes(&held, change->seen->token, TOKEN_LENGTH);
	if (query_run(&held, change->deadline, change->error) < 0)
		goto out;
	/* Its rows are all on this side: others may be run between them. */
	while (query_next(&held, change->error))
		if (move_natural_key(change, query_cell(&held, 0)) < 0)
			goto out;
	result = change->error->kind == ERROR_NONE ? CHANGE_DONE : CHANGE_FAILED;
out:
	query_free(&held);
	return result;
}

static enum change_result commit(struct change *change)
{
	change->then = *change->now;
	if (query_commit(change->connection, change->deadline, change->error) == 0)
		return CHANGE_DONE;
	change->in_doubt = trouble_leaves_doubt(change->connection->code);
	return CHANGE_FAILED;
}

static enum change_result write_and_commit(struct change *change, const struct locked *locked)
{
	enum change_result result = move(change, locked);
	if (result == CHANGE_DONE)
		result = move_natural_keys(change);
	if (result != CHANGE_DONE)
		return result;
	struct audit_entry entry = entry_of(change);
	if (audit_write(change->connection, &entry, change->author, &change->entry,
			change->deadline, change->error) < 0)
		return CHANGE_FAILED;
	return commit(change);
}

/* Was the try in doubt committed? The record's lock has been waited for, so that it is over. */
static int was_done(struct change *change)
{
	struct audit_entry entry = entry_of(change);
	int has =
	    audit_has(change->connection, &entry, change->entry, change->deadline, change->error);
	if (has >= 0)
		change->in_doubt = false;
	if (has > 0)
		*change->now = change->then;
	return has;
}

static enum change_result lock_and_change(struct change *change, bool *was)
{
	struct locked locked = {0};
	enum change_result result = lock(change, &locked);
	if (change->in_doubt && result != CHANGE_FAILED) {
		int done = was_done(change);
		*was = done > 0;
		if (done != 0)
			return done > 0 ? CHANGE_DONE : CHANGE_FAILED;
	}
	if (result == CHANGE_DONE)
		result = close_lease(change, &locked);
	return result == CHANGE_DONE ? write_and_commit(change, &locked) : result;
}

static enum change_result try_once(struct change *change)
{
	bool was_done_before = false;
	if (query_begin(change->connection, change->deadline, change->error) < 0)
		return CHANGE_FAILED;
	enum change_result result = lock_and_change(change, &was_done_before);
	if (result != CHANGE_DONE || was_done_before)
		query_rollback(change->connection, change->deadline);
	return result;
}

/* May the same thing be done the next time, or at least be seen whether it was done? */
static bool may_pass(const struct change *change)
{
	unsigned code = change->connection->code;
	enum trouble trouble = trouble_of(code);
	return code != 0 && clock_now() < change->deadline &&
	       (trouble == TROUBLE_DEADLOCK || trouble == TROUBLE_GONE ||
		(trouble == TROUBLE_STOPPED && change->in_doubt));
}

static void tell_doubt(struct error *error)
{
	size_t length = strlen(error->message);
	snprintf(error->message + length, sizeof(error->message) - length,
		 "; whether it was done is not known: see once-show --history");
}

static enum change_result carry_out(struct change *change)
{
	enum change_result result = try_once(change);
	for (int tries = 1; tries < MOST_TRIES && result == CHANGE_FAILED && may_pass(change);
	     tries++) {
		clock_pause(tries * PAUSE);
		result = try_once(change);
	}
	if (result == CHANGE_FAILED && change->in_doubt)
		tell_doubt(change->error);
	return result;
}

enum change_result change_release(struct connection *connection, const struct change_seen *seen,
				  bool live, const struct audit_author *author,
				  struct change_now *now, int64_t deadline, struct error *error)
{
	return carry_out(&(struct change){
	    .connection = connection,
	    .seen = seen,
	    .move = MOVE_FREE,
	    .live = live,
	    .author = author,
	    .now = now,
	    .deadline = deadline,
	    .error = error,
	});
}

enum change_result change_applied(struct connection *connection, const struct change_seen *seen,
				  const struct store_answer *answer,
				  const struct audit_author *author, struct change_now *now,
				  int64_t deadline, struct error *error)
{
	struct change change = {
	    .connection = connection,
	    .seen = seen,
	    .move = MOVE_RESOLVE,
	    .answer = answer,
	    .author = author,
	    .now = now,
	    .deadline = deadline,
	    .error = error,
	};
	if (random_bytes(change.own_token, TOKEN_LENGTH) < 0) {
		error_set(error, ERROR_SYSTEM, "the system gives no random bytes");
		return CHANGE_FAILED;
	}
	return carry_out(&change);
}
