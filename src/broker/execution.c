/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/execution.h"

#include "base/body.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "broker/claim.h"
#include "broker/judge.h"
#include "broker/launch.h"
#include "broker/lease.h"
#include "broker/refusal.h"
#include "broker/replay.h"
#include "broker/sender.h"

#include <stdint.h>

struct execution {
	struct exchange *exchange;
	struct launch launch;
	struct lease lease;
	struct body *body; /* the answer's */
	struct error body_error;
	bool body_failed;
	const unsigned char *view; /* the body in one piece */
	size_t view_length;
	struct judgement judgement;
	struct refusal refusal; /* what the client gets in the handler's stead, where it does */
};

static bool take(void *context, const void *data, size_t length)
{
	struct execution *execution = context;
	switch (body_append(execution->body, data, length, &execution->body_error)) {
	case BODY_OK:
		return false;
	case BODY_TOO_LARGE:
		error_set(&execution->body_error, ERROR_LIMIT,
			  "the answer is larger than limits.max_output");
		break;
	case BODY_FAILED:
		break;
	}
	execution->body_failed = true;
	return true;
}

static void run(struct execution *execution)
{
	struct exchange *exchange = execution->exchange;
	struct launch *launch = &execution->launch;
	launch->config = exchange->config;
	launch->request = exchange->request;
	launch->reply = exchange->reply;
	launch->exchange = exchange;
	launch->guest = lease_guest(&execution->lease);
	launch->take = take;
	launch->context = execution;
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
	if (execution->view_length > (uint64_t)exchange->config->limits.max_answer)
		return 0;
	uint64_t largest = store_largest_answer(exchange->store);
	return largest == 0 ? UINT64_MAX : largest;
}

static void judge_run(struct execution *execution)
{
	if (!execution->body_failed &&
	    body_view(execution->body, &execution->view, &execution->view_length,
		      &execution->body_error) != 0)
		execution->body_failed = true;
	execution->judgement =
	    judge(&(struct evidence){.route = execution->exchange->route,
				     .method = execution->exchange->request->method,
				     .run = &execution->launch.run,
				     .response = &execution->launch.response,
				     .body_length = execution->view_length,
				     .largest = largest_kept(execution),
				     .body_failed = execution->body_failed});
}

static void log_judgement(const struct execution *execution, const struct error *error)
{
	const struct exchange *exchange = execution->exchange;
	log_begin(LOG_LEVEL_WARNING, exchange->settlement);
	log_field_text("route", exchange->route->name);
	log_field_hex("record", exchange->claim.id, DIGEST_LENGTH);
	log_field_number("attempt", exchange->attempt);
	log_field_text("cause", execution->judgement.cause);
	log_field_text("message", error->message);
	log_end();
}

/* What is stored: the handler's answer, or ours in its stead where the policy keeps that. */
static enum store_result store_answer(struct execution *execution, int64_t deadline,
				      struct error *error)
{
	struct exchange *exchange = execution->exchange;
	const struct cgi_response *response = &execution->launch.response;
	bool ours = execution->judgement.refusal != VERDICT_FIRST;
	struct store_answer answer = {
	    .status = ours ? execution->refusal.status : response->status,
	    .retention = exchange->route->retention,
	};
	struct buffer headers = {0};
	enum store_result result = STORE_DOWN;
	if (execution->judgement.settlement == SETTLE_NOT_KEPT) {
		answer.flags = RECORD_NOT_KEPT;
	} else {
		answer.body = ours ? execution->refusal.body.data : execution->view;
		answer.body_length = ours ? execution->refusal.body.length : execution->view_length;
		if (replay_keep_headers(
			&headers, exchange->route, answer.status, ours ? "" : response->reason,
			ours ? &execution->refusal.headers : &response->headers) != 0) {
			error_set(error, ERROR_MEMORY, "out of memory for an answer");
			goto out;
		}
		answer.headers = headers.data;
		answer.headers_length = headers.length;
	}
	result = store_settle(exchange->store, exchange->claim.id, exchange->claim.token, &answer,
			      deadline, error);
out:
	buffer_free(&headers);
	return result;
}

static enum store_result settle_once(struct execution *execution, int64_t deadline,
				     struct error *error)
{
	struct exchange *exchange = execution->exchange;
	switch (execution->judgement.settlement) {
	case SETTLE_STORE:
	case SETTLE_NOT_KEPT:
		return store_answer(execution, deadline, error);
	case SETTLE_RELEASE:
		return store_release(exchange->store, exchange->claim.id, exchange->claim.token,
				     deadline, error);
	case SETTLE_UNKNOWN:
		return store_mark_unknown(exchange->store, exchange->claim.id,
					  exchange->claim.token, deadline, error);
	}
	return STORE_DOWN;
}

/* Make the judgement stand in the record; what cannot be made to stand before the deadline is left
 * to the lease. */
static enum store_result settle(struct execution *execution)
{
	struct exchange *exchange = execution->exchange;
	static const char *const names[] = {
	    [SETTLE_STORE] = "stored",
	    [SETTLE_NOT_KEPT] = "not_kept",
	    [SETTLE_RELEASE] = "released",
	    [SETTLE_UNKNOWN] = "unknown_outcome",
	};
	enum settlement *settlement = &execution->judgement.settlement;
	int64_t from = clock_now();
	int64_t deadline = from + exchange->config->store.settle_timeout;
	struct error error = {0};
	enum store_result result = settle_once(execution, deadline, &error);
	/* A connection made anew may carry less than the one that was asked: then the answer is its
	 * client's, and not kept (case C20). */
	if (result == STORE_DOWN && error.kind == ERROR_LIMIT && *settlement == SETTLE_STORE) {
		*settlement = SETTLE_NOT_KEPT;
		result = settle_once(execution, deadline, &error);
	}
	exchange->store_ms += clock_now() - from;
	exchange->settlement = result == STORE_DONE     ? names[*settlement]
			       : result == STORE_NO_ROW ? "lease_lost"
							: "unsettled";
	if (result != STORE_DONE || *settlement == SETTLE_UNKNOWN)
		log_judgement(execution, result == STORE_DONE ? &execution->body_error : &error);
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
							.body = execution->view,
							.body_length = execution->view_length});
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
	bool tied = settlement == SETTLE_STORE || settlement == SETTLE_NOT_KEPT;
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
	execution->judgement = (struct judgement){SETTLE_RELEASE, VERDICT_STORE_DOWN, "late claim"};
	settle(execution);
	return send_refusal(exchange, VERDICT_STORE_DOWN);
}

enum verdict execution_run(struct exchange *exchange)
{
	struct execution execution = {.exchange = exchange};
	const struct config *config = exchange->config;
	enum verdict verdict;
	lease_init(&execution.lease, exchange);
	if (!lease_confirm(&execution.lease))
		return give_up(&execution);
	execution.body =
	    body_new(&(struct body_limits){.memory = (size_t)config->limits.body_memory,
					   .total = (uint64_t)config->limits.max_output,
					   .directory = config->spool.directory},
		     false);
	if (execution.body == NULL)
		return give_up(&execution);
	fault_point("after-claim");
	run(&execution);
	fault_point("handler-ended");
	judge_run(&execution);
	if (execution.judgement.refusal != VERDICT_FIRST &&
	    refusal_make(&execution.refusal, execution.judgement.refusal, exchange->route, NULL) !=
		0)
		execution.judgement.settlement = SETTLE_NOT_KEPT;
	enum store_result settled = settle(&execution);
	fault_point("after-store");
	verdict = answer(&execution, settled);
	refusal_free(&execution.refusal);
	launch_free(&execution.launch);
	body_free(execution.body);
	return verdict;
}
