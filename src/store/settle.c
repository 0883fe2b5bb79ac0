/* SPDX-License-Identifier: ISC */
/* The owner's settlements (store.h): store, release, mark unknown. */
#include <config.h>

#include "store/handle.h"

#include <string.h>

/* A settlement under way. */
struct settlement {
	struct store *store;
	const unsigned char *id;
	const unsigned char *token;
	int64_t deadline;
	struct error *error;
	struct issue issue;
	bool in_doubt; /* of any statement of it */
};

static void start(struct settlement *settlement, struct store *store, const unsigned char *id,
		  const unsigned char *token, int64_t deadline, struct error *error)
{
	settlement->store = store;
	settlement->id = id;
	settlement->token = token;
	settlement->deadline = deadline;
	settlement->error = error;
	settlement->in_doubt = false;
	parameters_init(&settlement->issue.parameters);
}

/* Every settlement's conditions begin with the id and the token. */
static enum store_result issue(struct settlement *settlement, enum statement_name name)
{
	settlement->issue.statement = name;
	parameters_add_bytes(&settlement->issue.parameters, settlement->id, DIGEST_LENGTH);
	parameters_add_bytes(&settlement->issue.parameters, settlement->token, TOKEN_LENGTH);
	enum store_result result = store_issue(settlement->store, &settlement->issue,
					       settlement->deadline, settlement->error);
	settlement->in_doubt = settlement->in_doubt || settlement->issue.in_doubt;
	return result;
}

/* Nothing was changed: is that because it had been done? My token, in the state that this leads to:
 * by my own commit whose reply was lost (case C22), or by the handler in its transaction. */
static enum store_result look(struct settlement *settlement, enum record_state target)
{
	struct record record;
	record_init(&record);
	enum store_result result = store_read(settlement->store, settlement->id, &record,
					      settlement->deadline, settlement->error);
	bool mine =
	    result == STORE_DONE && memcmp(record.token, settlement->token, TOKEN_LENGTH) == 0;
	if (mine && record.state != target) {
		result = STORE_NO_ROW;
	} else if (result == STORE_DOWN) {
		result = STORE_UNCERTAIN;
	} else if (!mine) {
		/* In doubt: released by the first issue, and perhaps claimed anew since. */
		bool released = target == RECORD_RELEASED && settlement->in_doubt;
		result = released ? STORE_DONE : STORE_NO_ROW;
	}
	record_free(&record);
	return result;
}

/* A claim that was never renewed has no row there. What cannot be deleted now is swept with the
 * expired records. */
static void forget_lease(struct settlement *settlement)
{
	struct store *store = settlement->store;
	if (!store->renewed || memcmp(store->renewed_token, settlement->token, TOKEN_LENGTH) != 0)
		return;
	store->renewed = false;
	struct issue issue = {.statement = STATEMENT_FORGET_LEASE};
	struct error ignored;
	parameters_init(&issue.parameters);
	parameters_add_bytes(&issue.parameters, settlement->token, TOKEN_LENGTH);
	(void)store_issue(store, &issue, settlement->deadline, &ignored);
}

static enum store_result finish(struct settlement *settlement, enum store_result result,
				enum record_state target)
{
	if (result == STORE_DONE && settlement->issue.rows == 0)
		result = look(settlement, target);
	if (result == STORE_DONE)
		forget_lease(settlement);
	return result;
}

static void add_answer(struct parameters *parameters, const struct store_answer *answer)
{
	parameters_add_number(parameters, answer->status);
	parameters_add_bytes(parameters, answer->headers, answer->headers_length);
	parameters_add_bytes(parameters, answer->body, answer->body_length);
	parameters_add_number(parameters, answer->flags);
	parameters_add_optional(parameters, answer->reference, answer->reference_length);
	parameters_add_number(parameters, answer->retention_is_exact);
	parameters_add_span(parameters, answer->retention);
	parameters_add_span(parameters, answer->retention);
}

static void add_location(struct parameters *parameters, const struct store_answer *answer)
{
	bool fits = answer->location_length <= STORE_LOCATION_LENGTH;
	parameters_add_optional(parameters, fits ? answer->location : NULL,
				answer->location_length);
}

static void add_natural_end(struct parameters *parameters, const struct store_answer *answer)
{
	parameters_add_number(parameters, answer->natural_done);
	parameters_add_number(parameters, answer->natural_done);
	add_location(parameters, answer);
}

/* The record was complete already. If its handler did that in a transaction of its own, the natural
 * key does not know yet: unsettled, it would go with the record and not with its window. */
static enum store_result settle_natural(const struct settlement *settlement,
					const struct store_answer *answer)
{
	struct issue issue = {.statement = STATEMENT_SETTLE_NATURAL};
	parameters_init(&issue.parameters);
	add_location(&issue.parameters, answer);
	parameters_add_bytes(&issue.parameters, answer->natural->id, DIGEST_LENGTH);
	parameters_add_bytes(&issue.parameters, settlement->token, TOKEN_LENGTH);
	enum store_result result =
	    store_issue(settlement->store, &issue, settlement->deadline, settlement->error);
	return result == STORE_DONE ? STORE_DONE : STORE_UNCERTAIN;
}

enum store_result store_settle(struct store *store, const unsigned char id[DIGEST_LENGTH],
			       const unsigned char token[TOKEN_LENGTH],
			       const struct store_answer *answer, int64_t deadline,
			       struct error *error)
{
	struct settlement settlement;
	struct parameters *parameters = &settlement.issue.parameters;
	start(&settlement, store, id, token, deadline, error);
	enum statement_name statement = STATEMENT_STORE;
	if (answer->natural != NULL) {
		statement = STATEMENT_STORE_NATURAL;
		parameters_add_bytes(parameters, answer->natural->id, DIGEST_LENGTH);
	}
	add_answer(parameters, answer);
	if (answer->natural != NULL)
		add_natural_end(parameters, answer);
	enum store_result result = issue(&settlement, statement);
	bool was_complete = result == STORE_DONE && settlement.issue.rows == 0;
	result = finish(&settlement, result, record_move_target(MOVE_STORE));
	if (result == STORE_DONE && was_complete && answer->natural != NULL && answer->natural_done)
		result = settle_natural(&settlement, answer);
	if (result != STORE_DOWN)
		store_shed(store, parameters->size);
	return result;
}

static enum store_result release(struct settlement *settlement, enum statement_name plain,
				 enum statement_name with_natural,
				 const struct store_natural *natural)
{
	parameters_init(&settlement->issue.parameters);
	if (natural == NULL)
		return issue(settlement, plain);
	parameters_add_bytes(&settlement->issue.parameters, natural->id, DIGEST_LENGTH);
	return issue(settlement, with_natural);
}

enum store_result store_release(struct store *store, const unsigned char id[DIGEST_LENGTH],
				const unsigned char token[TOKEN_LENGTH],
				const struct store_natural *natural, bool keep, int64_t deadline,
				struct error *error)
{
	struct settlement settlement;
	start(&settlement, store, id, token, deadline, error);
	settlement.issue.rows = 0;
	enum store_result result = STORE_DONE;
	if (!keep)
		result =
		    release(&settlement, STATEMENT_RELEASE, STATEMENT_RELEASE_NATURAL, natural);
	if (result == STORE_DONE && settlement.issue.rows == 0)
		result = release(&settlement, STATEMENT_RELEASE_KEPT,
				 STATEMENT_RELEASE_KEPT_NATURAL, natural);
	return finish(&settlement, result, record_move_target(MOVE_RELEASE));
}

enum store_result store_mark_unknown(struct store *store, const unsigned char id[DIGEST_LENGTH],
				     const unsigned char token[TOKEN_LENGTH], int64_t deadline,
				     struct error *error)
{
	struct settlement settlement;
	start(&settlement, store, id, token, deadline, error);
	enum store_result result = issue(&settlement, STATEMENT_MARK_UNKNOWN);
	return finish(&settlement, result, record_move_target(MOVE_MARK_UNKNOWN));
}
