/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/judge.h"

#include "broker/sender.h"

bool judge_is_whole(const struct evidence *evidence)
{
	const struct cgi_response *response = evidence->response;
	if (response->state != CGI_RESPONSE_BODY)
		return false;
	/* HEAD and 304 may declare the length of a body that they do not carry (RFC 9110 8.6). */
	if (!sender_has_body(evidence->method, response->status))
		return true;
	return response->content_length < 0 ||
	       (uint64_t)response->content_length <= evidence->body_length;
}

static bool is_success(int status)
{
	return status >= 200 && status <= 299;
}

static enum settlement settlement_of(enum route_outcome outcome)
{
	switch (outcome) {
	case OUTCOME_RELEASE:
		return SETTLE_RELEASE;
	case OUTCOME_UNKNOWN:
		return SETTLE_UNKNOWN;
	case OUTCOME_STORE:
	case OUTCOME_BY_STATUS: /* decided by the caller, which knows the status */
		break;
	}
	return SETTLE_STORE;
}

static bool has_good_headers(const struct evidence *evidence)
{
	return evidence->response->state == CGI_RESPONSE_BODY;
}

/* No answer of the handler's can be sent: ours, and the key by the policy for that end. */
static struct judgement failed(const struct evidence *evidence, enum route_outcome outcome,
			       enum verdict refusal, const char *cause)
{
	struct judgement judgement = {settlement_of(outcome), refusal, cause, false};
	if (has_good_headers(evidence) && evidence->response->outcome == ONCE_OUTCOME_UNKNOWN)
		judgement.settlement = SETTLE_UNKNOWN;
	return judgement;
}

void judge_keep_less(struct judgement *judgement, const struct route *route,
		     const struct cgi_response *response)
{
	enum route_keep keep = route->keep == KEEP_FULL ? route->oversize : route->keep;
	bool referred = response->once_reference.length > 0;
	judgement->settlement =
	    keep == KEEP_REFERENCE && referred ? SETTLE_REFERENCE : SETTLE_NOT_KEPT;
	judgement->reference_missing = keep == KEEP_REFERENCE && !referred;
}

/* It did its work, but its answer could not be taken in: a retry must be told, not run (case
 * C29). */
static struct judgement judge_lost(const struct evidence *evidence)
{
	struct judgement judgement =
	    failed(evidence, OUTCOME_STORE, VERDICT_HANDLER_FAILED, "answer not taken in");
	if (judgement.settlement == SETTLE_STORE)
		judge_keep_less(&judgement, evidence->route, evidence->response);
	return judgement;
}

/* What the handler says goes before what its end and its status say (case C31). */
static void settle_answer(struct judgement *judgement, const struct evidence *evidence)
{
	const struct route *route = evidence->route;
	bool failed_exit = evidence->run->exit_status != 0;
	switch (evidence->response->outcome) {
	case ONCE_OUTCOME_STORE:
		judgement->cause = "Once-Outcome: store";
		return;
	case ONCE_OUTCOME_RELEASE:
		judgement->settlement = SETTLE_RELEASE;
		judgement->cause = "Once-Outcome: release";
		return;
	case ONCE_OUTCOME_UNKNOWN:
		judgement->settlement = SETTLE_UNKNOWN;
		judgement->cause = "Once-Outcome: unknown";
		return;
	case ONCE_OUTCOME_NONE:
		break;
	}
	if (failed_exit)
		judgement->cause = "exit status not zero";
	if (failed_exit && route->on_exit_nonzero != OUTCOME_BY_STATUS)
		judgement->settlement = settlement_of(route->on_exit_nonzero);
	else if (!route_stores_status(route, evidence->response->status))
		judgement->settlement = SETTLE_RELEASE;
}

/* The handler came to its own end with a whole answer, which is its client's in any case. */
static struct judgement judge_answer(const struct evidence *evidence)
{
	const struct route *route = evidence->route;
	const struct cgi_response *response = evidence->response;
	struct judgement judgement = {SETTLE_STORE, VERDICT_FIRST, "exit", false};
	settle_answer(&judgement, evidence);
	if (judgement.settlement != SETTLE_STORE)
		return judgement;
	bool fits = response->headers.length + evidence->body_length <= evidence->largest;
	/* An error is small, and a handler that is asked again cannot know that it is to fail. */
	bool less = route->keep != KEEP_FULL && is_success(response->status);
	if (less || !fits)
		judge_keep_less(&judgement, route, response);
	return judgement;
}

/* The handler's own word that it did nothing; with output, or its input looked at, it may be
 * another's (a shell's 127, a library's exit). */
static bool was_not_done(const struct evidence *evidence)
{
	const struct run_result *run = evidence->run;
	return run->end == RUN_EXITED && evidence->route->exit_not_done != EXIT_NOT_DONE_NONE &&
	       run->exit_status == evidence->route->exit_not_done && run->output_bytes == 0 &&
	       !run->input_read;
}

struct judgement judge(const struct evidence *evidence)
{
	const struct route *route = evidence->route;
	switch (evidence->run->end) {
	case RUN_NOT_STARTED:
		return failed(evidence, OUTCOME_RELEASE, VERDICT_HANDLER_FAILED, "exec failed");
	case RUN_TIMED_OUT:
		return failed(evidence, route->on_timeout, VERDICT_HANDLER_TIMEOUT, "timeout");
	case RUN_SIGNALED:
		return failed(evidence, route->on_crash, VERDICT_HANDLER_FAILED, "signal");
	case RUN_STOPPED:
		return failed(evidence, route->on_crash, VERDICT_UNSETTLED, "lease lost");
	case RUN_OUTPUT_REFUSED:
		return judge_lost(evidence);
	case RUN_EXITED:
		break;
	}
	if (was_not_done(evidence))
		return failed(evidence, OUTCOME_RELEASE, VERDICT_HANDLER_FAILED, "not done");
	if (evidence->body_failed)
		return judge_lost(evidence);
	if (!judge_is_whole(evidence))
		return failed(evidence, route->on_crash, VERDICT_HANDLER_FAILED,
			      has_good_headers(evidence) ? "answer cut short" : "no valid answer");
	return judge_answer(evidence);
}

bool judge_is_rebuilt(const struct evidence *evidence, int status)
{
	const struct cgi_response *response = evidence->response;
	if (evidence->run->end != RUN_EXITED || evidence->run->exit_status != 0 ||
	    evidence->body_failed || !judge_is_whole(evidence))
		return false;
	if (response->outcome == ONCE_OUTCOME_RELEASE || response->outcome == ONCE_OUTCOME_UNKNOWN)
		return false;
	bool alike = sender_has_body(evidence->method, response->status) ==
		     sender_has_body(evidence->method, status);
	return response->status == status ||
	       (is_success(response->status) && is_success(status) && alike);
}
