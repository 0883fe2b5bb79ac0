/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/natural.h"

#include "base/clock.h"
#include "base/log.h"
#include "metrics/count.h"

#include <string.h>

/* As in claim.c: each turn means that somebody else got something done. */
#define MOST_TURNS 64

/* What is to be done about another's hold. */
enum step {
	STEP_VERDICT, /* the verdict stands */
	STEP_TAKE,    /* it stands for nothing any more: take it */
	STEP_AGAIN,   /* it has moved */
};

static enum verdict store_trouble(enum store_result result)
{
	return result == STORE_BUSY ? VERDICT_IN_FLIGHT : VERDICT_STORE_DOWN;
}

/* The holder's owner is gone, and nobody may ever call with its key again: take its record over, as
 * a retry would, and free it. */
static enum step free_holder(struct exchange *exchange, const struct record *record,
			     int64_t deadline, enum verdict *verdict, struct error *error)
{
	struct store_claim taken = exchange->claim;
	uint32_t attempt;
	memcpy(taken.id, exchange->holder.record, DIGEST_LENGTH);
	if (random_bytes(taken.token, TOKEN_LENGTH) != 0) {
		*verdict = VERDICT_IN_FLIGHT;
		return STEP_VERDICT;
	}
	enum store_result result =
	    store_take_over(exchange->store, &taken, record->token, &attempt, deadline, error);
	if (result == STORE_DONE) {
		count_takeover(exchange->route->counters);
		result = store_release(exchange->store, taken.id, taken.token, NULL, false,
				       deadline, error);
	}
	if (result == STORE_DONE)
		return STEP_TAKE;
	if (result == STORE_NO_ROW)
		return STEP_AGAIN;
	*verdict = store_trouble(result);
	return STEP_VERDICT;
}

static void log_lapse(const struct exchange *exchange)
{
	log_begin(LOG_LEVEL_WARNING, "unknown_outcome");
	log_field_text("route", exchange->route->name);
	log_field_hex("record", exchange->holder.record, DIGEST_LENGTH);
	log_field_text("cause", "lapsed");
	log_end();
}

/* The holder's first lease is over; whether its owner lives, only closing it tells. */
static enum step judge_lapsed(struct exchange *exchange, const struct record *record,
			      int64_t deadline, enum verdict *verdict, struct error *error)
{
	enum store_result result =
	    store_close_lease(exchange->store, record->token, deadline, error);
	if (result == STORE_NO_ROW) {
		*verdict = VERDICT_IN_FLIGHT;
		return STEP_VERDICT;
	}
	/* By the policy of the holder's own route, which may be another than ours. */
	if (result == STORE_DONE && (record->flags & RECORD_LAPSE_UNKNOWN) == 0)
		return free_holder(exchange, record, deadline, verdict, error);
	if (result == STORE_DONE)
		result = store_lapse(exchange->store, exchange->holder.record, record->token,
				     deadline, error);
	if (result == STORE_NO_ROW)
		return STEP_AGAIN;
	if (result == STORE_DONE)
		count_settlement(exchange->route->counters, SETTLEMENT_UNKNOWN);
	if (result == STORE_DONE)
		log_lapse(exchange);
	*verdict = result == STORE_DONE ? VERDICT_UNKNOWN : store_trouble(result);
	bell_ring(exchange->bell, exchange->holder.record);
	return STEP_VERDICT;
}

/* A hold that was never settled means what its record means; one whose record has gone, or lives
 * another life, means nothing. */
static enum step judge_unsettled(struct exchange *exchange, int64_t deadline, enum verdict *verdict,
				 struct error *error)
{
	struct store_natural_holder *holder = &exchange->holder;
	struct record record;
	enum step step = STEP_VERDICT;
	record_init(&record);
	enum store_result result =
	    store_read(exchange->store, holder->record, &record, deadline, error);
	bool same = result == STORE_DONE && memcmp(record.token, holder->token, TOKEN_LENGTH) == 0;
	if (result == STORE_NO_ROW) {
		step = STEP_TAKE;
	} else if (result != STORE_DONE) {
		*verdict = store_trouble(result);
	} else {
		switch (record.state) {
		case RECORD_IN_FLIGHT:
			*verdict = VERDICT_IN_FLIGHT;
			if (record.lapsed)
				step = judge_lapsed(exchange, &record, deadline, verdict, error);
			break;
		case RECORD_UNKNOWN:
			*verdict = VERDICT_UNKNOWN;
			break;
		case RECORD_COMPLETE:
			/* By the handler's own transaction, which knows no natural keys; or with an
			 * answer of ours, after which nobody knows whether it was done. */
			*verdict = record.status < 400 ? VERDICT_DUPLICATE : VERDICT_UNKNOWN;
			holder->settled_ms = record.settled_ms;
			if (!same)
				step = STEP_TAKE;
			break;
		case RECORD_RELEASED:
		case RECORD_EXPIRED:
			step = STEP_TAKE;
			break;
		}
	}
	record_free(&record);
	return step;
}

static enum step judge_holder(struct exchange *exchange, int64_t deadline, enum verdict *verdict,
			      struct error *error)
{
	const struct store_natural_holder *holder = &exchange->holder;
	/* By the token and not by the record: the window outlives the retention, so an earlier life
	 * of this very key may have done it. */
	if (memcmp(holder->token, exchange->claim.token, TOKEN_LENGTH) == 0) {
		*verdict = VERDICT_FIRST;
		return STEP_VERDICT;
	}
	if (holder->over)
		return STEP_TAKE;
	if (holder->settled_ms != 0) {
		*verdict = VERDICT_DUPLICATE;
		return STEP_VERDICT;
	}
	return judge_unsettled(exchange, deadline, verdict, error);
}

static enum step hold_once(struct exchange *exchange, int64_t deadline, enum verdict *verdict,
			   struct error *error)
{
	const struct store_claim *claim = &exchange->claim;
	buffer_free(&exchange->holder.location);
	enum store_result result =
	    store_hold_natural(exchange->store, &exchange->natural, claim->id, claim->token,
			       &exchange->holder, deadline, error);
	if (result != STORE_DONE) {
		*verdict = store_trouble(result);
		return STEP_VERDICT;
	}
	enum step step = judge_holder(exchange, deadline, verdict, error);
	if (step != STEP_TAKE)
		return step;
	result = store_take_natural(exchange->store, &exchange->natural, exchange->holder.token,
				    claim->id, claim->token, deadline, error);
	if (result == STORE_NO_ROW)
		return STEP_AGAIN;
	*verdict = result == STORE_DONE ? VERDICT_FIRST : store_trouble(result);
	return STEP_VERDICT;
}

/* Nothing has run, so the key is free again, and the natural key where it came to be held after
 * all; what cannot be freed in time, the lease will. An attempt that took over stays counted. */
static void give_back(struct exchange *exchange, enum verdict verdict)
{
	struct error error = {0};
	int64_t deadline = clock_now() + exchange->config->store.settle_timeout;
	enum store_result result =
	    store_release(exchange->store, exchange->claim.id, exchange->claim.token,
			  &exchange->natural, exchange->attempt > 1, deadline, &error);
	bell_ring(exchange->bell, exchange->claim.id);
	if (result == STORE_DONE)
		count_settlement(exchange->route->counters, SETTLEMENT_RELEASED);
	if (result == STORE_DONE || result == STORE_NO_ROW)
		return;
	log_begin(LOG_LEVEL_WARNING, "unsettled");
	log_field_text("route", exchange->route->name);
	log_field_hex("record", exchange->claim.id, DIGEST_LENGTH);
	log_field_text("cause", "natural key");
	log_field_text("verdict", verdict_name(verdict));
	log_field_text("message", error.message);
	log_end();
}

/* A route that runs without a database at all runs without a natural key rather than unguarded. */
static enum verdict go_without(struct exchange *exchange, const struct error *error)
{
	exchange->has_natural = false;
	log_begin(LOG_LEVEL_WARNING, "natural_key");
	log_field_text("route", exchange->route->name);
	log_field_hex("record", exchange->claim.id, DIGEST_LENGTH);
	log_field_text("message", error->message);
	log_end();
	return VERDICT_FIRST;
}

enum verdict natural_hold(struct exchange *exchange, int64_t deadline, struct error *error)
{
	enum verdict verdict = VERDICT_IN_FLIGHT;
	if (!exchange->has_natural)
		return VERDICT_FIRST;
	for (int turn = 0; turn < MOST_TURNS; turn++) {
		if (hold_once(exchange, deadline, &verdict, error) == STEP_VERDICT)
			break;
		verdict = VERDICT_IN_FLIGHT;
		clock_pause(1);
	}
	if (verdict == VERDICT_STORE_DOWN && exchange->route->store_down == STORE_DOWN_RUN)
		return go_without(exchange, error);
	if (verdict == VERDICT_IN_FLIGHT)
		*error = (struct error){0}; /* 1205 is no trouble */
	if (verdict != VERDICT_FIRST)
		give_back(exchange, verdict);
	return verdict;
}
