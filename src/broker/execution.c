/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/execution.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "broker/capture.h"
#include "broker/claim.h"
#include "broker/judge.h"
#include "broker/launch.h"
#include "broker/lease.h"
#include "broker/outage.h"
#include "broker/refusal.h"
#include "broker/replay.h"
#include "broker/sender.h"
#include "metrics/count.h"

#include <stdint.h>

struct execution {
	struct exchange *exchange;
	struct launch launch;
	struct lease lease;
	struct capture capture; /* of the answer's body */
	struct judgement judgement;
	bool keep_attempt;      /* a release leaves the attempt counted */
	struct refusal refusal; /* what the client gets in the handler's stead, where it does */
};

static void run(struct execution *execution)
{
	struct exchange *exchange = execution->exchange;
	struct launch *launch = &execution->launch;
	launch->config = exchange->config;
	launch->request = exchange->request;
	launch->reply = exchange->reply;
	launch->exchange = exchange;
	launch->guest = lease_guest(&execution->lease);
	launch->take = capture_take;
	launch->context = &execution->capture;
	launch_run(launch);
	lease_finish(&execution->lease);
	launch_log(launch);
	exchange->handler_ms = launch->run.elapsed;
	exchange->app_status = launch_app_status(launch);
}

/* The largest answer that can be kept, headers and body together. */
static uint64_t largest_kept(const struct execution *execution)
{
	const struct exchange *exchange = execution->exchange;
	if (execution->capture.length > (uint64_t)exchange->config->limits.max_answer)
		return 0;
	uint64_t largest = store_largest_answer(exchange->store);
	return largest == 0 ? UINT64_MAX : largest;
}

static void judge_run(struct execution *execution)
{
	capture_finish(&execution->capture);
	execution->judgement =
	    judge(&(struct evidence){.route = execution->exchange->route,
				     .method = execution->exchange->request->method,
				     .run = &execution->launch.run,
				     .response = &execution->launch.response,
				     .body_length = execution->capture.length,
				     .largest = largest_kept(execution),
				     .body_failed = execution->capture.failed});
}

static void log_judgement(const struct execution *execution, const struct error *error)
{
	const struct exchange *exchange = execution->exchange;
	log_begin(LOG_LEVEL_WARNING, exchange->settlement);
	log_field_text("route", exchange->route->name);
	log_field_hex("record", exchange->claim.id, DIGEST_LENGTH);
	log_field_number("attempt", exchange->attempt);
	log_field_text("cause", execution->judgement.cause);
	log_field_text("message", error->message[0] != '\0' ? error->message : NULL);
	log_end();
}

/* How long the answer is kept: as the handler says, but never less than its own run may take
 * (design section 4, rule 5), nor longer than can be configured. */
static void choose_retention(const struct execution *execution, struct store_answer *answer)
{
	const struct exchange *exchange = execution->exchange;
	const struct config *config = exchange->config;
	int64_t wish = execution->launch.response.once_retention;
	answer->retention = exchange->route->retention;
	if (wish < 0 || execution->judgement.refusal != VERDICT_FIRST)
		return;
	int64_t least = config->handlers.timeout + config->handlers.kill_grace +
			exchange->route->lease + config->store.settle_timeout;
	int64_t most = ROUTE_MOST_RETENTION;
	answer->retention = wish < least ? least : wish > most ? most : wish;
	answer->retention_is_exact = true;
}

/* What is left of an answer that is not kept. */
static void refer(const struct execution *execution, struct store_answer *answer)
{
	const struct buffer *reference = &execution->launch.response.once_reference;
	answer->flags = RECORD_NOT_KEPT;
	if (execution->judgement.settlement == SETTLE_REFERENCE) {
		answer->reference = reference->data;
		answer->reference_length = reference->length;
	}
}

/* The headers and the body that are stored, with the headers in `headers`: the handler's, or ours
 * in their stead where the policy keeps that. */
static int keep(const struct execution *execution, struct buffer *headers,
		struct store_answer *answer)
{
	const struct cgi_response *response = &execution->launch.response;
	const struct refusal *refusal = &execution->refusal;
	bool ours = execution->judgement.refusal != VERDICT_FIRST;
	answer->body = ours ? refusal->body.data : execution->capture.data;
	answer->body_length = ours ? refusal->body.length : execution->capture.length;
	if (replay_keep_headers(headers, execution->exchange->route, answer->status,
				ours ? "" : response->reason,
				ours ? &refusal->headers : &response->headers) != 0)
		return -1;
	answer->headers = headers->data;
	answer->headers_length = headers->length;
	return 0;
}

/* Make the answer stand in the record, or what is kept in its stead. */
static enum store_result store_answer(struct execution *execution, int64_t deadline,
				      struct error *error)
{
	struct exchange *exchange = execution->exchange;
	const struct cgi_response *response = &execution->launch.response;
	bool kept = execution->judgement.settlement == SETTLE_STORE;
	bool ours = execution->judgement.refusal != VERDICT_FIRST;
	/* An answer of ours leaves the natural key as it is: nobody knows whether it was done. */
	bool answered = exchange->has_natural && (!ours || !kept);
	/* Where the answer is not kept its status is that of the work that was done, whatever its
	 * client was told: a rebuilt answer is held against it. */
	bool told = response->state == CGI_RESPONSE_BODY && (!kept || !ours);
	struct store_answer answer = {
	    .status = told ? response->status : execution->refusal.status,
	    .natural = answered ? &exchange->natural : NULL,
	};
	answer.natural_done = answer.status < 400;
	struct buffer headers = {0};
	struct buffer location = {0};
	enum store_result result = STORE_DOWN;
	choose_retention(execution, &answer);
	if (answered) {
		sender_field(&location, &response->headers, "Location");
		answer.location = location.data;
		answer.location_length = location.length;
	}
	if (!kept) {
		refer(execution, &answer);
	} else if (keep(execution, &headers, &answer) != 0) {
		error_set(error, ERROR_MEMORY, "out of memory for an answer");
		goto out;
	}
	result = store_settle(exchange->store, exchange->claim.id, exchange->claim.token, &answer,
			      deadline, error);
out:
	buffer_free(&location);
	buffer_free(&headers);
	return result;
}

static enum store_result settle_once(struct execution *execution, int64_t deadline,
				     struct error *error)
{
	struct exchange *exchange = execution->exchange;
	switch (execution->judgement.settlement) {
	case SETTLE_STORE:
	case SETTLE_REFERENCE:
	case SETTLE_NOT_KEPT:
		return store_answer(execution, deadline, error);
	case SETTLE_RELEASE:
		return store_release(exchange->store, exchange->claim.id, exchange->claim.token,
				     exchange->has_natural ? &exchange->natural : NULL,
				     execution->keep_attempt, deadline, error);
	case SETTLE_UNKNOWN:
		return store_mark_unknown(exchange->store, exchange->claim.id,
					  exchange->claim.token, deadline, error);
	}
	return STORE_DOWN;
}

static void count(const struct execution *execution, enum store_result result)
{
	static const enum metrics_settlement settlements[] = {
	    [SETTLE_STORE] = SETTLEMENT_STORED,    [SETTLE_REFERENCE] = SETTLEMENT_STORED,
	    [SETTLE_NOT_KEPT] = SETTLEMENT_STORED, [SETTLE_RELEASE] = SETTLEMENT_RELEASED,
	    [SETTLE_UNKNOWN] = SETTLEMENT_UNKNOWN,
	};
	unsigned route = execution->exchange->route->counters;
	if (result == STORE_DONE)
		count_settlement(route, settlements[execution->judgement.settlement]);
	else if (result == STORE_NO_ROW)
		count_settlement(route, SETTLEMENT_LEASE_LOST);
}

/* Make the judgement stand in the record; what cannot be made to stand before the deadline is left
 * to the lease. */
static enum store_result settle(struct execution *execution)
{
	struct exchange *exchange = execution->exchange;
	static const char *const names[] = {
	    [SETTLE_STORE] = "stored",
	    [SETTLE_REFERENCE] = "reference_kept",
	    [SETTLE_NOT_KEPT] = "not_kept",
	    [SETTLE_RELEASE] = "released",
	    [SETTLE_UNKNOWN] = "unknown_outcome",
	};
	enum settlement *settlement = &execution->judgement.settlement;
	int64_t from = clock_now();
	int64_t deadline = from + exchange->config->store.settle_timeout;
	struct error error = {0};
	count_worker_state(WORKER_SETTLING);
	enum store_result result = settle_once(execution, deadline, &error);
	/* A connection made anew may carry less than the one that was asked: then the answer is its
	 * client's, and not kept (case C20). */
	if (result == STORE_DOWN && error.kind == ERROR_LIMIT && *settlement == SETTLE_STORE) {
		judge_keep_less(&execution->judgement, exchange->route,
				&execution->launch.response);
		result = settle_once(execution, deadline, &error);
	}
	exchange->store_ms += clock_now() - from;
	if (result == STORE_DOWN || result == STORE_UNCERTAIN)
		outage_note_failure(&error);
	else
		outage_note_success();
	bell_ring(exchange->bell, exchange->claim.id);
	count(execution, result);
	exchange->settlement = result == STORE_DONE     ? names[*settlement]
			       : result == STORE_NO_ROW ? "lease_lost"
							: "unsettled";
	if (execution->judgement.reference_missing)
		error_set(&execution->capture.error, ERROR_INPUT,
			  "the handler's answer is not kept and it named no Once-Reference");
	bool told = result == STORE_NO_ROW && execution->lease.lost; /* by the lease itself */
	if ((result != STORE_DONE && !told) || *settlement == SETTLE_UNKNOWN ||
	    execution->judgement.reference_missing)
		log_judgement(execution, result == STORE_DONE ? &execution->capture.error : &error);
	return result;
}

static enum verdict send_refusal(struct exchange *exchange, enum verdict verdict)
{
	exchange->status = refusal_send(exchange->reply, exchange->request->method, verdict,
					exchange->route, NULL);
	return verdict;
}

static enum verdict send_handlers_answer(struct execution *execution)
{
	struct exchange *exchange = execution->exchange;
	const struct cgi_response *response = &execution->launch.response;
	struct buffer headers = {0};
	enum verdict verdict = VERDICT_FIRST;
	if (replay_strip_markers(&headers, exchange->route, &response->headers) != 0 ||
	    replay_first_markers(&headers, exchange->route) != 0) {
		/* Settled already: a retry will get the answer. */
		verdict = send_refusal(exchange, VERDICT_UNSETTLED);
		goto out;
	}
	exchange->status = response->status;
	sender_send(exchange->reply, &(struct outgoing){.method = exchange->request->method,
							.status = response->status,
							.reason = response->reason,
							.headers = headers.data,
							.headers_length = headers.length,
							.body = execution->capture.data,
							.body_length = execution->capture.length});
out:
	buffer_free(&headers);
	return verdict;
}

/* The record is another's now: its answer is the only one that may be seen (case C4). */
static enum verdict send_successors_answer(struct exchange *exchange)
{
	struct error error = {0};
	enum verdict verdict = claim_look(exchange, &error);
	if (verdict == VERDICT_REPLAYED) {
		replay_send(exchange);
		return verdict;
	}
	return send_refusal(exchange, verdict);
}

static enum verdict answer(struct execution *execution, enum store_result settled)
{
	struct exchange *exchange = execution->exchange;
	enum settlement settlement = execution->judgement.settlement;
	bool tied = settlement != SETTLE_RELEASE;
	if (tied && settled == STORE_NO_ROW)
		return send_successors_answer(exchange);
	if (tied && settled != STORE_DONE) {
		/* Nothing is sent before it is stored: the retry must not learn anything else. */
		return send_refusal(exchange, VERDICT_UNSETTLED);
	}
	if (execution->judgement.refusal != VERDICT_FIRST)
		return send_refusal(exchange, execution->judgement.refusal);
	return send_handlers_answer(execution);
}

/* The claim was confirmed too late to be sure of: nothing has run, so the key is given back. */
static enum verdict give_up(struct execution *execution)
{
	struct exchange *exchange = execution->exchange;
	execution->judgement = (struct judgement){
	    .settlement = SETTLE_RELEASE, .refusal = VERDICT_STORE_DOWN, .cause = "late claim"};
	execution->keep_attempt = exchange->attempt > 1;
	settle(execution);
	return send_refusal(exchange, VERDICT_STORE_DOWN);
}

enum verdict execution_run(struct exchange *exchange)
{
	struct execution execution = {.exchange = exchange};
	enum verdict verdict;
	lease_init(&execution.lease, exchange);
	if (!lease_confirm(&execution.lease))
		return give_up(&execution);
	if (capture_init(&execution.capture, exchange->config) != 0)
		return give_up(&execution);
	fault_point("after-claim");
	run(&execution);
	fault_point("handler-ended");
	judge_run(&execution);
	if (execution.judgement.refusal != VERDICT_FIRST &&
	    refusal_make(&execution.refusal, execution.judgement.refusal, exchange->route, NULL) !=
		0 &&
	    execution.judgement.settlement == SETTLE_STORE)
		execution.judgement.settlement = SETTLE_NOT_KEPT;
	enum store_result settled = settle(&execution);
	fault_point("after-store");
	verdict = answer(&execution, settled);
	refusal_free(&execution.refusal);
	launch_free(&execution.launch);
	capture_free(&execution.capture);
	return verdict;
}
