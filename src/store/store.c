/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/handle.h"

/* Widths of the columns that hold text for people. Who owns a record is decided by its id, so a
 * longer text is cut and never a reason to refuse a claim. */
enum { TENANT_WIDTH = 255, ROUTE_WIDTH = 255, KEY_WIDTH = 1024 };

struct store *store_new(const struct config_store *config)
{
	struct store *store = calloc(1, sizeof(*store));
	if (store != NULL)
		connection_init(&store->connection, config, CONNECTION_BROKER, NULL);
	return store;
}

void store_free(struct store *store)
{
	if (store == NULL)
		return;
	connection_close(&store->connection);
	free(store);
}

void store_abandon(struct store *store)
{
	connection_abandon(&store->connection);
}

enum store_result store_connect(struct store *store, int64_t deadline, struct error *error)
{
	struct roundtrip roundtrip = {.connection = &store->connection, .goal = ROUNDTRIP_OPEN};
	if (roundtrip_run(&roundtrip, deadline) == ROUNDTRIP_DONE)
		return STORE_DONE;
	*error = roundtrip.error;
	return STORE_DOWN;
}

uint64_t store_largest_answer(const struct store *store)
{
	return connection_largest(&store->connection);
}

static void add_cut(struct parameters *parameters, const void *text, size_t length, size_t width)
{
	parameters_add_bytes(parameters, text, length < width ? length : width);
}

static void add_names(struct parameters *parameters, const struct store_claim *claim)
{
	add_cut(parameters, claim->tenant, claim->tenant_length, TENANT_WIDTH);
	add_cut(parameters, claim->route, strlen(claim->route), ROUTE_WIDTH);
	add_cut(parameters, claim->key, claim->key_length, KEY_WIDTH);
}

static void add_fingerprint(struct parameters *parameters, const struct store_claim *claim)
{
	parameters_add_bytes(parameters, claim->fingerprint, DIGEST_LENGTH);
	parameters_add_text(parameters, claim->scheme);
	parameters_add_bytes(parameters, claim->parts, claim->parts_length);
}

static void add_times(struct parameters *parameters, const struct store_claim *claim)
{
	parameters_add_span(parameters, claim->lease);
	parameters_add_span(parameters, claim->retention);
}

static void add_owner(struct parameters *parameters, const struct store_claim *claim)
{
	const struct store_owner *owner = claim->owner;
	parameters_add_text(parameters, owner->host);
	parameters_add_text(parameters, owner->boot);
	parameters_add_unsigned(parameters, owner->pidns);
	parameters_add_number(parameters, owner->pid);
	parameters_add_unsigned(parameters, owner->start);
	parameters_add_number(parameters, claim->lapse_unknown ? RECORD_LAPSE_UNKNOWN : 0);
}

static void add_row(struct parameters *parameters, const unsigned char id[DIGEST_LENGTH],
		    const unsigned char token[TOKEN_LENGTH])
{
	parameters_add_bytes(parameters, id, DIGEST_LENGTH);
	parameters_add_bytes(parameters, token, TOKEN_LENGTH);
}

enum store_result store_claim(struct store *store, const struct store_claim *claim,
			      struct record *record, int64_t deadline, struct error *error)
{
	struct issue issue = {.statement = STATEMENT_CLAIM};
	parameters_init(&issue.parameters);
	parameters_add_bytes(&issue.parameters, claim->id, DIGEST_LENGTH);
	add_names(&issue.parameters, claim);
	parameters_add_bytes(&issue.parameters, claim->token, TOKEN_LENGTH);
	add_fingerprint(&issue.parameters, claim);
	add_times(&issue.parameters, claim);
	add_owner(&issue.parameters, claim);
	enum store_result result = store_issue(store, &issue, deadline, error);
	if (result != STORE_DONE)
		return result;
	result = store_take_record(store, &issue, record, error);
	if (result == STORE_NO_ROW) {
		error_set(error, ERROR_STORE, "claim: the database returned no row");
		result = STORE_UNCERTAIN;
	}
	return result;
}

enum store_result store_read(struct store *store, const unsigned char id[DIGEST_LENGTH],
			     struct record *record, int64_t deadline, struct error *error)
{
	struct issue issue = {.statement = STATEMENT_READ};
	parameters_init(&issue.parameters);
	parameters_add_bytes(&issue.parameters, id, DIGEST_LENGTH);
	enum store_result result = store_issue(store, &issue, deadline, error);
	return result == STORE_DONE ? store_take_record(store, &issue, record, error) : result;
}

enum store_result store_glance(struct store *store, const unsigned char id[DIGEST_LENGTH],
			       const struct store_owner *owner, struct store_glance *glance,
			       int64_t deadline, struct error *error)
{
	struct issue issue = {.statement = STATEMENT_GLANCE};
	parameters_init(&issue.parameters);
	parameters_add_text(&issue.parameters, owner->host);
	parameters_add_text(&issue.parameters, owner->boot);
	parameters_add_bytes(&issue.parameters, id, DIGEST_LENGTH);
	enum store_result result = store_issue(store, &issue, deadline, error);
	if (result != STORE_DONE)
		return result;
	switch (row_fetch_glance(store->connection.statements[issue.statement], glance, error)) {
	case ROW_FETCHED:
		return STORE_DONE;
	case ROW_NONE:
		return STORE_NO_ROW;
	case ROW_FAILED:
		break;
	}
	return STORE_DOWN;
}

/* 0 rows, and an earlier issue of the same statement in doubt: my token in the row means that it
 * was done. */
static enum store_result settle_doubt(struct store *store, const struct store_claim *claim,
				      uint32_t *attempt, int64_t deadline, struct error *error)
{
	struct record record;
	record_init(&record);
	enum store_result result = store_read(store, claim->id, &record, deadline, error);
	if (result == STORE_DONE) {
		*attempt = record.attempt;
		if (memcmp(record.token, claim->token, TOKEN_LENGTH) != 0)
			result = STORE_NO_ROW;
	} else if (result == STORE_DOWN) {
		result = STORE_UNCERTAIN;
	}
	record_free(&record);
	return result;
}

enum store_result store_reclaim(struct store *store, const struct store_claim *claim,
				const unsigned char seen[TOKEN_LENGTH], int64_t tombstone,
				int64_t deadline, struct error *error)
{
	struct issue issue = {.statement = STATEMENT_RECLAIM};
	parameters_init(&issue.parameters);
	parameters_add_bytes(&issue.parameters, claim->token, TOKEN_LENGTH);
	add_names(&issue.parameters, claim);
	add_fingerprint(&issue.parameters, claim);
	add_times(&issue.parameters, claim);
	add_owner(&issue.parameters, claim);
	add_row(&issue.parameters, claim->id, seen);
	parameters_add_span(&issue.parameters, tombstone);
	enum store_result result = store_issue(store, &issue, deadline, error);
	if (result != STORE_DONE || issue.rows == 1)
		return result;
	uint32_t attempt;
	return issue.in_doubt ? settle_doubt(store, claim, &attempt, deadline, error)
			      : STORE_NO_ROW;
}

enum store_result store_close_lease(struct store *store, const unsigned char seen[TOKEN_LENGTH],
				    int64_t deadline, struct error *error)
{
	struct issue issue = {.statement = STATEMENT_CLOSE_LEASE};
	parameters_init(&issue.parameters);
	parameters_add_bytes(&issue.parameters, seen, TOKEN_LENGTH);
	enum store_result result = store_issue(store, &issue, deadline, error);
	if (result != STORE_DONE)
		return result;
	MYSQL_STMT *statement = store->connection.statements[issue.statement];
	bool closed = false;
	enum row_result row = row_fetch_lease(statement, &closed, error);
	if (row != ROW_FETCHED)
		return STORE_DOWN;
	return closed ? STORE_DONE : STORE_NO_ROW;
}

enum store_result store_take_over(struct store *store, const struct store_claim *claim,
				  const unsigned char seen[TOKEN_LENGTH], uint32_t *attempt,
				  int64_t deadline, struct error *error)
{
	struct issue issue = {.statement = STATEMENT_TAKE_OVER};
	parameters_init(&issue.parameters);
	parameters_add_bytes(&issue.parameters, claim->token, TOKEN_LENGTH);
	add_times(&issue.parameters, claim);
	add_owner(&issue.parameters, claim);
	add_row(&issue.parameters, claim->id, seen);
	enum store_result result = store_issue(store, &issue, deadline, error);
	if (result != STORE_DONE)
		return result;
	if (issue.rows == 1) {
		*attempt = (uint32_t)issue.number;
		return STORE_DONE;
	}
	return issue.in_doubt ? settle_doubt(store, claim, attempt, deadline, error) : STORE_NO_ROW;
}

enum store_result store_lapse(struct store *store, const unsigned char id[DIGEST_LENGTH],
			      const unsigned char seen[TOKEN_LENGTH], int64_t deadline,
			      struct error *error)
{
	struct issue issue = {.statement = STATEMENT_LAPSE};
	parameters_init(&issue.parameters);
	add_row(&issue.parameters, id, seen);
	enum store_result result = store_issue(store, &issue, deadline, error);
	/* In doubt or not, a record that did not move is read anew by the caller: it may be unknown
	 * already. */
	if (result == STORE_DONE && issue.rows == 0)
		return STORE_NO_ROW;
	return result;
}
