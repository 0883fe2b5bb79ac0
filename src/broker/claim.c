/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/claim.h"

#include "base/clock.h"
#include "base/log.h"
#include "broker/natural.h"
#include "broker/observe.h"
#include "broker/wait.h"
#include "metrics/count.h"

#include <string.h>

/* How often a claim starts over because the row went or moved between two of its statements. Each
 * turn means that somebody else got something done, so this is met only by a storm on one key; then
 * "in flight" is true. */
#define MOST_TURNS 64

/* What is to be done about a record that was found. */
enum step {
	STEP_VERDICT, /* the verdict stands */
	STEP_AGAIN,   /* the row has gone or moved: claim once more */
};

/* Who only observes is not to be felt. */
static int64_t claim_deadline(const struct exchange *exchange)
{
	const struct config_store *store = &exchange->config->store;
	if (exchange->route->mode == ROUTE_OBSERVE)
		return clock_now() + OBSERVE_BUDGET_MS;
	return clock_now() + store->connect_timeout + store->read_timeout;
}

static enum verdict store_trouble(enum store_result result)
{
	return result == STORE_BUSY ? VERDICT_IN_FLIGHT : VERDICT_STORE_DOWN;
}

/* This request's fingerprint as the record's was made: under another configuration it may be by
 * another scheme. -1: a scheme that this build does not know. */
static int fingerprint_as_recorded(const struct exchange *exchange, struct fingerprint *ours)
{
	if (strcmp(exchange->record.scheme, exchange->fingerprint.scheme) == 0) {
		*ours = exchange->fingerprint;
		return 0;
	}
	struct fingerprint_source source;
	request_fingerprint_source(exchange->request, &source);
	return fingerprint_by_scheme(exchange->record.scheme, &source, ours);
}

/* A scheme that cannot be told is a difference, never an equality. */
static bool fingerprint_is_equal(const struct exchange *exchange)
{
	struct fingerprint ours;
	return fingerprint_as_recorded(exchange, &ours) == 0 &&
	       memcmp(exchange->record.fingerprint, ours.digest, DIGEST_LENGTH) == 0;
}

void claim_difference(const struct exchange *exchange, char *text, size_t size)
{
	const struct record *record = &exchange->record;
	struct fingerprint ours;
	text[0] = '\0';
	if (fingerprint_as_recorded(exchange, &ours) == 0) {
		fingerprint_difference(&ours, record->scheme, record->parts, record->parts_length,
				       text, size);
	}
}

static void log_claim_event(const struct exchange *exchange, enum log_level level,
			    const char *event, uint32_t attempt)
{
	log_begin(level, event);
	log_field_text("route", exchange->route->name);
	log_field_hex("record", exchange->claim.id, DIGEST_LENGTH);
	log_field_number("attempt", attempt);
	log_end();
}

/* An expired record gives way to a new life of its key. */
static enum step reclaim(struct exchange *exchange, int64_t deadline, enum verdict *verdict,
			 struct error *error)
{
	int64_t from = clock_now();
	/* A tombstone's expiry is its end; anything else is one for a while first. */
	int64_t tombstone =
	    exchange->record.state == RECORD_COMPLETE ? exchange->route->tombstone : 0;
	enum store_result result = store_reclaim(
	    exchange->store, &exchange->claim, exchange->record.token, tombstone, deadline, error);
	switch (result) {
	case STORE_DONE:
		exchange->attempt = 1;
		exchange->record.created_ms = 0; /* of the life that is over */
		exchange->lease_from = from;
		*verdict = VERDICT_FIRST;
		log_claim_event(exchange, LOG_LEVEL_INFO, "reclaim", exchange->attempt);
		count_reclaim(exchange->route->counters);
		return STEP_VERDICT;
	case STORE_NO_ROW:
		return STEP_AGAIN;
	default:
		*verdict = store_trouble(result);
		return STEP_VERDICT;
	}
}

static enum step take_over(struct exchange *exchange, int64_t deadline, enum verdict *verdict,
			   struct error *error)
{
	int64_t from = clock_now();
	enum store_result result =
	    store_take_over(exchange->store, &exchange->claim, exchange->record.token,
			    &exchange->attempt, deadline, error);
	switch (result) {
	case STORE_DONE:
		exchange->lease_from = from;
		*verdict = VERDICT_FIRST;
		log_claim_event(exchange, LOG_LEVEL_INFO, "takeover", exchange->attempt);
		if (exchange->record.state == RECORD_IN_FLIGHT)
			count_takeover(exchange->route->counters);
		return STEP_VERDICT;
	case STORE_NO_ROW:
		return STEP_AGAIN;
	default:
		*verdict = store_trouble(result);
		return STEP_VERDICT;
	}
}

static enum step lapse(struct exchange *exchange, int64_t deadline, enum verdict *verdict,
		       struct error *error)
{
	enum store_result result = store_lapse(exchange->store, exchange->claim.id,
					       exchange->record.token, deadline, error);
	switch (result) {
	case STORE_DONE:
		*verdict = VERDICT_UNKNOWN;
		bell_ring(exchange->bell, exchange->claim.id);
		log_claim_event(exchange, LOG_LEVEL_WARNING, "unknown_outcome",
				exchange->record.attempt);
		count_settlement(exchange->route->counters, SETTLEMENT_UNKNOWN);
		return STEP_VERDICT;
	case STORE_NO_ROW:
		return STEP_AGAIN;
	default:
		*verdict = store_trouble(result);
		return STEP_VERDICT;
	}
}

/* In flight by the record; its owner may be gone. */
static enum step judge_in_flight(struct exchange *exchange, int64_t deadline, enum verdict *verdict,
				 struct error *error)
{
	*verdict = VERDICT_IN_FLIGHT;
	if (!exchange->record.lapsed)
		return STEP_VERDICT;
	enum store_result result =
	    store_close_lease(exchange->store, exchange->record.token, deadline, error);
	if (result == STORE_NO_ROW)
		return STEP_VERDICT; /* renewed: the owner lives */
	if (result != STORE_DONE) {
		*verdict = store_trouble(result);
		return STEP_VERDICT;
	}
	/* By the policy that the owner claimed under, and before its expiry is looked at: an
	 * outcome that nobody knows does not become known by waiting. */
	if ((exchange->record.flags & RECORD_LAPSE_UNKNOWN) != 0)
		return lapse(exchange, deadline, verdict, error);
	/* The same request takes over, so that its handler knows of the attempt before it. */
	if (exchange->record.expired && !fingerprint_is_equal(exchange))
		return reclaim(exchange, deadline, verdict, error);
	return take_over(exchange, deadline, verdict, error);
}

/* Past its retention, yet still to be told about (times.tombstone)? A purge makes it a tombstone in
 * the table too, whose expiry is its end. */
static bool is_tombstone(const struct exchange *exchange)
{
	const struct record *record = &exchange->record;
	return record->state == RECORD_COMPLETE && record->expired_for < exchange->route->tombstone;
}

/* Another's record: what it means for this request. Expiry comes first, then the fingerprint, then
 * the state, on every path. */
static enum step judge_record(struct exchange *exchange, int64_t deadline, enum verdict *verdict,
			      struct error *error)
{
	struct record *record = &exchange->record;
	bool answered = record->state == RECORD_COMPLETE || record->state == RECORD_EXPIRED;
	if (record->expired && answered) {
		if (is_tombstone(exchange)) {
			*verdict = VERDICT_EXPIRED;
			return STEP_VERDICT;
		}
		return reclaim(exchange, deadline, verdict, error);
	}
	bool gives_way = record->expired && record->state == RECORD_IN_FLIGHT &&
			 (record->flags & RECORD_LAPSE_UNKNOWN) == 0 &&
			 exchange->route->tombstone == 0;
	if (!gives_way && !fingerprint_is_equal(exchange)) {
		*verdict = VERDICT_MISMATCH;
		return STEP_VERDICT;
	}
	switch (record->state) {
	case RECORD_COMPLETE:
		*verdict = record->flags & RECORD_NOT_KEPT ? VERDICT_NOT_KEPT : VERDICT_REPLAYED;
		return STEP_VERDICT;
	case RECORD_UNKNOWN:
		*verdict = VERDICT_UNKNOWN;
		return STEP_VERDICT;
	case RECORD_EXPIRED:
		*verdict = VERDICT_EXPIRED;
		return STEP_VERDICT;
	case RECORD_RELEASED:
		return take_over(exchange, deadline, verdict, error);
	case RECORD_IN_FLIGHT:
		return judge_in_flight(exchange, deadline, verdict, error);
	}
	return STEP_AGAIN;
}

/* Somebody is at work on the row (1205): look without locking. What looks lapsed there is in
 * flight, since its row is in use. */
static enum step judge_busy(struct exchange *exchange, int64_t deadline, enum verdict *verdict,
			    struct error *error)
{
	enum store_result result =
	    store_read(exchange->store, exchange->claim.id, &exchange->record, deadline, error);
	if (result == STORE_NO_ROW || (result == STORE_DONE && exchange->record.expired))
		return STEP_AGAIN;
	if (result != STORE_DONE) {
		*verdict = store_trouble(result);
		return STEP_VERDICT;
	}
	exchange->record.lapsed = false;
	if (exchange->record.state == RECORD_RELEASED)
		return STEP_AGAIN;
	return judge_record(exchange, deadline, verdict, error);
}

static enum step claim_once(struct exchange *exchange, int64_t deadline, enum verdict *verdict,
			    struct error *error)
{
	int64_t from = clock_now();
	enum store_result result =
	    store_claim(exchange->store, &exchange->claim, &exchange->record, deadline, error);
	if (result == STORE_BUSY) {
		*error = (struct error){0}; /* somebody at work on the row is no trouble */
		return judge_busy(exchange, deadline, verdict, error);
	}
	if (result != STORE_DONE) {
		*verdict = VERDICT_STORE_DOWN;
		return STEP_VERDICT;
	}
	if (memcmp(exchange->record.token, exchange->claim.token, TOKEN_LENGTH) == 0) {
		exchange->attempt = exchange->record.attempt;
		exchange->lease_from = from;
		*verdict = VERDICT_FIRST;
		return STEP_VERDICT;
	}
	return judge_record(exchange, deadline, verdict, error);
}

static enum verdict claim_now(struct exchange *exchange, struct error *error)
{
	int64_t deadline = claim_deadline(exchange);
	enum verdict verdict = VERDICT_IN_FLIGHT;
	for (int turn = 0; turn < MOST_TURNS; turn++) {
		if (claim_once(exchange, deadline, &verdict, error) == STEP_VERDICT)
			return verdict;
		clock_pause(1);
	}
	return VERDICT_IN_FLIGHT;
}

enum verdict claim_decide(struct exchange *exchange, struct error *error)
{
	count_worker_state(WORKER_CLAIMING);
	enum verdict verdict = claim_now(exchange, error);
	if (verdict == VERDICT_IN_FLIGHT)
		count_conflict(exchange->route->counters);
	if (verdict == VERDICT_IN_FLIGHT && exchange->route->in_flight == IN_FLIGHT_WAIT &&
	    exchange->route->mode == ROUTE_ENFORCE)
		verdict = wait_for_owner(exchange, claim_now, error);
	if (verdict == VERDICT_FIRST)
		verdict = natural_hold(exchange, claim_deadline(exchange), error);
	return verdict;
}

enum verdict claim_look(struct exchange *exchange, struct error *error)
{
	enum store_result result = store_read(exchange->store, exchange->claim.id,
					      &exchange->record, claim_deadline(exchange), error);
	if (result != STORE_DONE)
		return result == STORE_NO_ROW ? VERDICT_IN_FLIGHT : store_trouble(result);
	if (exchange->record.expired)
		return VERDICT_IN_FLIGHT;
	if (!fingerprint_is_equal(exchange))
		return VERDICT_MISMATCH;
	switch (exchange->record.state) {
	case RECORD_COMPLETE:
		return exchange->record.flags & RECORD_NOT_KEPT ? VERDICT_NOT_KEPT
								: VERDICT_REPLAYED;
	case RECORD_UNKNOWN:
		return VERDICT_UNKNOWN;
	default:
		return VERDICT_IN_FLIGHT;
	}
}
