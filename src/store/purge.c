/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/purge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/query.h"
#include "store/statements.h"
#include "store/trouble.h"

#define NOW   "UTC_TIMESTAMP(6)"
#define PLACE "CAST(? AS DATETIME(6))"
/* Who meets a locked row has 1205 at once, so that nobody waits behind a purge that waits. */
#define AT_ONCE "SET STATEMENT innodb_lock_wait_timeout = 0 FOR "

/* A closed lease is what tells an owner that was stopped for long, when it goes on, that it has
 * lost its record: it is kept for a day, in which any host should have woken up. */
#define FORGOTTEN NOW " - INTERVAL 1 DAY"

enum { MOST_RETRIES = 20 };

enum walk_name {
	WALK_ANSWERS,
	WALK_TOMBSTONES,
	WALK_ABANDONED,
	WALK_NATURAL_KEYS,
	WALK_LEASES,
	WALK_BY_TENANT,
	WALK_BY_ID,
	WALK_END,
};

const char *const purge_work_names[PURGE_WORKS] = {
    [PURGE_SELECT] = "select",
    [PURGE_DELETE] = "delete",
    [PURGE_TOMBSTONE] = "tombstone",
    [PURGE_CLOSE_LEASE] = "close lease",
    [PURGE_MARK_UNKNOWN] = "mark unknown",
};

struct purge_row {
	unsigned char id[DIGEST_LENGTH]; /* or a token, or a natural key's */
	size_t id_length;
	unsigned char token[TOKEN_LENGTH]; /* of a record in flight */
	enum record_state state;
	enum purge_work work;
	int64_t tombstone; /* ms that it is one past its retention */
	bool chosen;       /* and not yet done */
};

/* Rows to be treated alike, by one statement. */
struct group {
	enum purge_work work;
	enum record_state state;
	int64_t tombstone;
	const struct purge_row **rows;
	size_t count;
};

int purge_init(struct purge *purge, struct connection *connection,
	       const struct purge_settings *settings)
{
	*purge = (struct purge){.connection = connection, .settings = *settings};
	purge->walk = settings->selection.expired          ? WALK_ANSWERS
		      : settings->selection.tenant != NULL ? WALK_BY_TENANT
							   : WALK_BY_ID;
	purge->rows = calloc(settings->batch, sizeof(*purge->rows));
	strcpy(purge->place, "1970-01-01");
	return purge->rows != NULL ? 0 : -1;
}

void purge_free(struct purge *purge)
{
	free(purge->rows);
	purge->rows = NULL;
}

uint64_t purge_changed(const struct purge *purge)
{
	return purge->counts.deleted + purge->counts.tombstoned + purge->counts.unknown;
}

uint64_t purge_touched(const struct purge *purge)
{
	return purge_changed(purge) + purge->counts.leases + purge->counts.natural_keys;
}

/* No more than may still be changed. */
static uint64_t left(const struct purge *purge)
{
	uint64_t most = purge->settings.most;
	return most == 0 ? UINT64_MAX : most - purge_changed(purge);
}

/* A condition that holds for the records selected, whatever their state. */
static void append_selection(struct query *query, const struct purge_selection *selection)
{
	buffer_append_text(&query->text, selection->expired ? "expires_at <= " NOW : "TRUE");
	if (selection->route != NULL) {
		buffer_append_text(&query->text, " AND route = ?");
		query_add_text(query, selection->route);
	}
	if (selection->tenant != NULL) {
		buffer_append_text(&query->text, " AND tenant = ?");
		query_add_text(query, selection->tenant);
	}
	if (selection->older > 0) {
		buffer_append_text(&query->text,
				   " AND created_at <= " NOW " - INTERVAL ? MICROSECOND");
		query_add_number(query, selection->older * 1000);
	}
}

static int run(struct purge *purge, struct query *query, enum purge_work work, struct error *error)
{
	int64_t began = clock_now();
	int result = query_run(query, CLOCK_NEVER, error);
	struct purge_figures *figures = &purge->figures[work];
	figures->calls++;
	figures->time += clock_now() - began;
	return result;
}

/* Where the page before ended; so written that an index gives it a start, which it would not for a
 * comparison of pairs. */
static void append_place(struct query *query, const struct purge *purge, const char *column,
			 const char *id)
{
	buffer_printf(&query->text,
		      " AND %s >= " PLACE " AND (%s > " PLACE " OR %s > ?) ORDER BY %s, %s LIMIT ?",
		      column, column, id, column, id);
	query_add_text(query, purge->place);
	query_add_text(query, purge->place);
	query_add_bytes(query, purge->last, purge->last_length);
	query_add_number(query, (int64_t)purge->settings.batch);
}

/*
 * Each of these writes the query for the next page: the row's id; where in the index it stands, ""
 * where that is its id alone; and, of a record, whether it is one of the selected ones, its state
 * and route, for how long it has been past its retention, in ms, and of one in flight its token,
 * its flags and whether it has a checkpoint. Answers and tombstones that have but expired are read
 * from the index alone.
 */
#define IN_FLIGHT_COLUMNS "token, flags, checkpoint IS NOT NULL"
#define NOT_IN_FLIGHT     "'', 0, 0"
#define RECORD_COLUMNS                                                                             \
	", state, route, TIMESTAMPDIFF(MICROSECOND, expires_at, " NOW ") DIV 1000, %s"             \
	" FROM once_record WHERE "

static void write_by_expiry(struct query *query, const struct purge *purge, const char *state,
			    const char *in_flight, const char *more)
{
	buffer_append_text(&query->text, "SELECT id, expires_at, ");
	append_selection(query, &purge->settings.selection);
	buffer_printf(&query->text, RECORD_COLUMNS "state = '%s' AND expires_at <= " NOW "%s",
		      in_flight, state, more);
	append_place(query, purge, "expires_at", "id");
}

static void write_answers(struct query *query, const struct purge *purge)
{
	write_by_expiry(query, purge, "complete", NOT_IN_FLIGHT, "");
}

static void write_tombstones(struct query *query, const struct purge *purge)
{
	write_by_expiry(query, purge, "expired", NOT_IN_FLIGHT, "");
}

static void write_abandoned(struct query *query, const struct purge *purge)
{
	write_by_expiry(query, purge, "in_flight", IN_FLIGHT_COLUMNS, " AND lease_until <= " NOW);
}

/* A tombstone stands until its end, whatever is selected: what a selection has made of an answer
 * the same selection must not take when it is run again. */
#define MAY_GO "(state = 'complete' OR state = 'expired' AND expires_at <= " NOW ") AND "

static void write_by_tenant(struct query *query, const struct purge *purge)
{
	buffer_append_text(&query->text, "SELECT id, created_at, " MAY_GO);
	append_selection(query, &purge->settings.selection);
	buffer_printf(&query->text, RECORD_COLUMNS "tenant = ?", NOT_IN_FLIGHT);
	query_add_text(query, purge->settings.selection.tenant);
	append_place(query, purge, "created_at", "id");
}

static void write_by_id(struct query *query, const struct purge *purge)
{
	buffer_append_text(&query->text, "SELECT id, '', " MAY_GO);
	append_selection(query, &purge->settings.selection);
	buffer_printf(&query->text, RECORD_COLUMNS "id > ? ORDER BY id LIMIT ?", NOT_IN_FLIGHT);
	query_add_bytes(query, purge->last, purge->last_length);
	query_add_number(query, (int64_t)purge->settings.batch);
}

static void write_natural_keys(struct query *query, const struct purge *purge)
{
	buffer_append_text(&query->text, "SELECT natural_id, window_until FROM once_natural_key"
					 " WHERE window_until <= " NOW);
	append_place(query, purge, "window_until", "natural_id");
}

/* A token that has left its record never comes back to it, so that no later statement need ask for
 * the record again. */
static void write_leases(struct query *query, const struct purge *purge)
{
	buffer_append_text(
	    &query->text,
	    "SELECT token, '' FROM once_lease WHERE token > ? AND lease_until <= " NOW
	    " AND written_at <= " FORGOTTEN " AND token NOT IN (SELECT token FROM once_record"
	    " WHERE state = 'in_flight') ORDER BY token LIMIT ?");
	query_add_bytes(query, purge->last, purge->last_length);
	query_add_number(query, (int64_t)purge->settings.batch);
}

enum column {
	COLUMN_ID,
	COLUMN_PLACE,
	COLUMN_SELECTED,
	COLUMN_STATE,
	COLUMN_ROUTE,
	COLUMN_OVERDUE,
	COLUMN_TOKEN,
	COLUMN_FLAGS,
	COLUMN_CHECKPOINT,
};

/* What becomes of an in-flight record past its retention once its lease is closed: by the policy
 * that its owner claimed under, as where a retry finds it, and never its checkpoint's loss. */
static void judge_abandoned(const struct query *query, struct purge_row *row)
{
	if ((query_number(query, COLUMN_FLAGS) & RECORD_LAPSE_UNKNOWN) != 0)
		row->work = PURGE_MARK_UNKNOWN;
	else if (query_number(query, COLUMN_CHECKPOINT) != 0)
		row->chosen = false;
}

static int take_record(const struct purge *purge, const struct query *query, struct purge_row *row,
		       struct error *error)
{
	struct query_cell state = query_cell(query, COLUMN_STATE);
	struct query_cell token = query_cell(query, COLUMN_TOKEN);
	struct query_cell route = query_cell(query, COLUMN_ROUTE);
	int found = record_state_parse(state.data, state.length);
	if (found < 0 || row->id_length != DIGEST_LENGTH ||
	    (purge->walk == WALK_ABANDONED && token.length != TOKEN_LENGTH)) {
		error_set(error, ERROR_STORE, "a record is not what this version writes");
		return -1;
	}
	row->state = (enum record_state)found;
	row->chosen = query_number(query, COLUMN_SELECTED) != 0;
	if (purge->walk == WALK_ABANDONED) {
		memcpy(row->token, token.data, TOKEN_LENGTH);
		judge_abandoned(query, row);
	}
	if (row->state == RECORD_COMPLETE)
		row->tombstone =
		    purge->settings.tombstone(purge->settings.context, route.data, route.length);
	if (row->tombstone > 0 && query_number(query, COLUMN_OVERDUE) < row->tombstone)
		row->work = PURGE_TOMBSTONE;
	return 0;
}

static int take_row(struct purge *purge, const struct query *query, bool is_record,
		    struct error *error)
{
	struct query_cell id = query_cell(query, COLUMN_ID);
	struct query_cell place = query_cell(query, COLUMN_PLACE);
	struct purge_row *row = &purge->rows[purge->row_count++];
	*row = (struct purge_row){.id_length = id.length, .work = PURGE_DELETE, .chosen = true};
	if (id.length > sizeof(row->id)) {
		error_set(error, ERROR_STORE, "an id is longer than this version writes");
		return -1;
	}
	memcpy(row->id, id.data, id.length);
	memcpy(purge->last, id.data, id.length);
	purge->last_length = id.length;
	if (place.length > 0)
		snprintf(purge->place, sizeof(purge->place), "%s", place.data);
	return is_record ? take_record(purge, query, row, error) : 0;
}

static const struct walk {
	void (*write)(struct query *query, const struct purge *purge);
	bool is_record;
	/* WALK_END: the purge is done. What is no record has no route and no tenant to select by.
	 */
	enum walk_name next;
	bool once; /* what comes behind its cursor was not there when somebody asked for it */
} walks[] = {
    [WALK_ANSWERS] = {write_answers, true, WALK_TOMBSTONES, false},
    [WALK_TOMBSTONES] = {write_tombstones, true, WALK_ABANDONED, false},
    [WALK_ABANDONED] = {write_abandoned, true, WALK_NATURAL_KEYS, false},
    [WALK_NATURAL_KEYS] = {write_natural_keys, false, WALK_LEASES, false},
    [WALK_LEASES] = {write_leases, false, WALK_END, false},
    [WALK_BY_TENANT] = {write_by_tenant, true, WALK_END, true},
    [WALK_BY_ID] = {write_by_id, true, WALK_END, true},
};

static int read_page(struct purge *purge, struct error *error)
{
	const struct walk *walk = &walks[purge->walk];
	struct query query;
	query_init(&query, purge->connection);
	purge->row_count = 0;
	walk->write(&query, purge);
	int result = run(purge, &query, PURGE_SELECT, error);
	while (result == 0 && query_next(&query, error))
		result = take_row(purge, &query, walk->is_record, error);
	if (result == 0 && error->kind != ERROR_NONE)
		result = -1;
	query_free(&query);
	purge->figures[PURGE_SELECT].rows += purge->row_count;
	purge->looked += walk->is_record ? purge->row_count : 0;
	return result;
}

/* The statement on a group's rows, up to their ids ... */
static const char *head_of(const struct purge *purge, enum purge_work work)
{
	if (purge->walk == WALK_NATURAL_KEYS)
		return AT_ONCE "DELETE FROM once_natural_key WHERE natural_id IN (";
	if (purge->walk == WALK_LEASES)
		return AT_ONCE "DELETE FROM once_lease WHERE token IN (";
	if (work == PURGE_TOMBSTONE)
		return AT_ONCE
		    "UPDATE once_record FORCE INDEX (PRIMARY) SET state = 'expired', status = NULL,"
		    " headers = NULL, body = NULL, reference = NULL, flags = 0,"
		    " checkpoint = NULL, checkpoint_data = NULL,"
		    " expires_at = expires_at + INTERVAL ? MICROSECOND WHERE id IN (";
	return AT_ONCE "DELETE FROM once_record WHERE id IN (";
}

/* ... and what must still hold of them, from behind those. */
static void append_tail(struct query *query, const struct purge *purge, const struct group *group)
{
	if (purge->walk == WALK_NATURAL_KEYS) {
		buffer_append_text(&query->text, ") AND window_until <= " NOW);
		return;
	}
	if (purge->walk == WALK_LEASES) {
		buffer_append_text(&query->text,
				   ") AND lease_until <= " NOW " AND written_at <= " FORGOTTEN);
		return;
	}
	buffer_printf(&query->text, ") AND state = '%s' AND ", record_state_name(group->state));
	append_selection(query, &purge->settings.selection);
	if (group->state == RECORD_EXPIRED)
		buffer_append_text(&query->text, " AND expires_at <= " NOW);
	if (group->tombstone > 0) {
		buffer_printf(&query->text, " AND expires_at %s " NOW " - INTERVAL ? MICROSECOND",
			      group->work == PURGE_TOMBSTONE ? ">" : "<=");
		query_add_number(query, group->tombstone * 1000);
	}
}

static void write_change(struct query *query, const struct purge *purge, const struct group *group)
{
	query_clear(query);
	buffer_append_text(&query->text, head_of(purge, group->work));
	if (group->work == PURGE_TOMBSTONE)
		query_add_number(query, group->tombstone * 1000);
	for (size_t i = 0; i < group->count; i++) {
		buffer_append_text(&query->text, i == 0 ? "?" : ", ?");
		query_add_bytes(query, group->rows[i]->id, group->rows[i]->id_length);
	}
	append_tail(query, purge, group);
}

static uint64_t *count_of(struct purge *purge, enum purge_work work)
{
	struct purge_counts *counts = &purge->counts;
	return purge->walk == WALK_NATURAL_KEYS ? &counts->natural_keys
	       : purge->walk == WALK_LEASES     ? &counts->leases
	       : work == PURGE_TOMBSTONE        ? &counts->tombstoned
	       : work == PURGE_MARK_UNKNOWN     ? &counts->unknown
						: &counts->deleted;
}

/* Change what is still to be changed. Where one of the rows is held by somebody else the statement
 * has done nothing: then the halves, each by itself. */
static int change(struct purge *purge, const struct group *group, struct error *error)
{
	struct query query;
	query_init(&query, purge->connection);
	int failed = -1;
	bool again = true;
	for (int turn = 0; failed != 0 && again && turn < MOST_RETRIES; turn++) {
		if (turn > 0)
			clock_pause(turn);
		write_change(&query, purge, group);
		failed = run(purge, &query, group->work, error);
		again = failed != 0 && trouble_of(purge->connection->code) == TROUBLE_DEADLOCK;
	}
	uint64_t rows = failed == 0 ? query_changed(&query) : 0;
	query_free(&query);
	*count_of(purge, group->work) += rows;
	purge->counts.expired += purge->walk == WALK_ANSWERS ? rows : 0;
	purge->figures[group->work].rows += rows;
	if (failed == 0 || trouble_of(purge->connection->code) != TROUBLE_BUSY)
		return failed;
	if (group->count == 1) {
		purge->counts.busy++;
		return 0;
	}
	struct group first = *group, second = *group;
	first.count = group->count / 2;
	second.rows += first.count;
	second.count -= first.count;
	return change(purge, &first, error) < 0 || change(purge, &second, error) < 0 ? -1 : 0;
}

/* A row that somebody else is at work on is left for later; else as it was. */
static int leave_busy(struct purge *purge, int result)
{
	if (result == 0)
		return 0;
	switch (trouble_of(purge->connection->code)) {
	case TROUBLE_BUSY:
	case TROUBLE_DEADLOCK:
		purge->counts.busy++;
		return 0;
	default:
		return result;
	}
}

/* *closed: nobody can renew it any more. */
static int close_lease(struct purge *purge, const struct purge_row *row, bool *closed,
		       struct error *error)
{
	struct query query;
	query_init(&query, purge->connection);
	buffer_printf(&query.text, AT_ONCE "%s", statements[STATEMENT_CLOSE_LEASE].text);
	query_add_bytes(&query, row->token, TOKEN_LENGTH);
	int result = run(purge, &query, PURGE_CLOSE_LEASE, error);
	*closed = result == 0 && query_next(&query, error) && query_number(&query, 0) != 0;
	if (result == 0 && error->kind != ERROR_NONE)
		result = -1;
	query_free(&query);
	purge->figures[PURGE_CLOSE_LEASE].rows += *closed;
	return leave_busy(purge, result);
}

/* It goes as by a reclaim: it alone, for its token, under its closed lease, with the natural key
 * that its claim held. The lease's row stays, see FORGOTTEN. */
static const char delete_abandoned_text[] =
    AT_ONCE "DELETE once_record, held FROM once_record JOIN once_lease AS renewed"
	    " ON renewed.token = once_record.token"
	    " LEFT JOIN once_natural_key AS held"
	    " ON held.record_id = once_record.id AND held.token = once_record.token"
	    " WHERE once_record.id = ? AND once_record.token = ?"
	    " AND state = 'in_flight' AND checkpoint IS NULL"
	    " AND once_record.lease_until <= " NOW " AND renewed.lease_until = '1970-01-01' AND ";

static void write_end(struct query *query, const struct purge *purge, const struct purge_row *row)
{
	bool unknown = row->work == PURGE_MARK_UNKNOWN;
	if (unknown)
		buffer_printf(&query->text, AT_ONCE "%s", statements[STATEMENT_LAPSE].text);
	else
		buffer_append_text(&query->text, delete_abandoned_text);
	query_add_bytes(query, row->id, row->id_length);
	query_add_bytes(query, row->token, TOKEN_LENGTH);
	if (!unknown)
		append_selection(query, &purge->settings.selection);
}

/* An in-flight record past its retention, whose owner has gone. */
static int end_abandoned(struct purge *purge, const struct purge_row *row, struct error *error)
{
	bool closed;
	int result = close_lease(purge, row, &closed, error);
	if (!closed)
		return result;
	struct query query;
	query_init(&query, purge->connection);
	write_end(&query, purge, row);
	result = run(purge, &query, row->work, error);
	uint64_t rows = result == 0 && query_changed(&query) > 0; /* its natural key counts too */
	query_free(&query);
	*count_of(purge, row->work) += rows;
	purge->counts.expired += row->work == PURGE_DELETE ? rows : 0;
	purge->figures[row->work].rows += rows;
	return leave_busy(purge, result);
}

/* Rows that are treated as the first one left is, taken off the page. */
static struct group gather(struct purge *purge, const struct purge_row **room)
{
	struct group group = {.rows = room};
	for (size_t i = 0; i < purge->row_count; i++) {
		struct purge_row *row = &purge->rows[i];
		if (!row->chosen)
			continue;
		if (group.count == 0) {
			group.work = row->work;
			group.state = row->state;
			group.tombstone = row->tombstone;
		}
		if (row->work != group.work || row->state != group.state ||
		    row->tombstone != group.tombstone)
			continue;
		room[group.count++] = row;
		row->chosen = false;
	}
	return group;
}

static int change_group(struct purge *purge, struct group *group, struct error *error)
{
	if (walks[purge->walk].is_record && group->count > left(purge))
		group->count = (size_t)left(purge);
	if (purge->settings.dry_run) {
		*count_of(purge, group->work) += group->count;
		return 0;
	}
	int result = 0;
	if (purge->walk != WALK_ABANDONED)
		return group->count > 0 ? change(purge, group, error) : 0;
	for (size_t i = 0; i < group->count && result == 0; i++)
		result = end_abandoned(purge, group->rows[i], error);
	return result;
}

static int change_page(struct purge *purge, struct error *error)
{
	const struct purge_row **room = calloc(purge->row_count + 1, sizeof(*room));
	if (room == NULL) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return -1;
	}
	int result = 0;
	for (struct group group = gather(purge, room); group.count > 0 && result == 0;
	     group = gather(purge, room))
		result = change_group(purge, &group, error);
	free(room);
	return result;
}

/* What is behind the cursor may have expired, or been let go, since it passed: a pass that found
 * much is followed by another one from the start. */
static void end_pass(struct purge *purge)
{
	uint64_t changed = purge_touched(purge) - purge->pass_began;
	const struct purge_selection *selection = &purge->settings.selection;
	if (walks[purge->walk].once || changed < purge->settings.batch || purge->settings.dry_run)
		purge->walk = walks[purge->walk].next;
	bool partly = selection->route != NULL || selection->tenant != NULL || selection->older > 0;
	if (partly && purge->walk < WALK_END && !walks[purge->walk].is_record)
		purge->walk = WALK_END;
	purge->pass_began = purge_touched(purge);
	strcpy(purge->place, "1970-01-01");
	purge->last_length = 0;
}

enum purge_result purge_step(struct purge *purge, struct error *error)
{
	if (read_page(purge, error) < 0 || change_page(purge, error) < 0)
		return PURGE_FAILED;
	purge->counts.batches++;
	if (purge->row_count < purge->settings.batch)
		end_pass(purge);
	return purge->walk == WALK_END || left(purge) == 0 ? PURGE_DONE : PURGE_MORE;
}

void purge_expect(struct purge *purge)
{
	struct query query;
	struct error ignored;
	query_init(&query, purge->connection);
	buffer_append_text(&query.text, "SELECT COUNT(*) FROM once_record WHERE state IN"
					" ('complete', 'expired') AND expires_at <= " NOW);
	if (purge->settings.selection.expired && query_run(&query, CLOCK_NEVER, &ignored) == 0 &&
	    query_next(&query, &ignored))
		purge->expected = (uint64_t)query_number(&query, 0);
	query_free(&query);
}

double purge_fraction(const struct purge *purge)
{
	/* Ids are evenly spread. */
	if (purge->walk == WALK_BY_ID && purge->last_length > 1)
		return (purge->last[0] * 256 + purge->last[1]) / 65536.0;
	if (purge->expected == 0)
		return -1;
	return purge->looked < purge->expected ? (double)purge->looked / (double)purge->expected
					       : 1;
}
