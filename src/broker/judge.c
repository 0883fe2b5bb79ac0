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

static struct judgement failed(enum route_outcome outcome, enum verdict refusal, const char *cause)
{
	return (struct judgement){settlement_of(outcome), refusal, cause};
}

/* The handler came to its own end with a whole answer. */
static struct judgement judge_answer(const struct evidence *evidence)
{
	const struct route *route = evidence->route;
	const struct cgi_response *response = evidence->response;
	struct judgement judgement = {SETTLE_STORE, VERDICT_FIRST, "exit"};
	if (evidence->run->exit_status != 0) {
		judgement.cause = "exit status not zero";
		if (route->on_exit_nonzero != OUTCOME_BY_STATUS)
			judgement.settlement = settlement_of(route->on_exit_nonzero);
	}
	bool by_status =
	    evidence->run->exit_status == 0 || route->on_exit_nonzero == OUTCOME_BY_STATUS;
	if (by_status && !route_stores_status(route, response->status))
		judgement.settlement = SETTLE_RELEASE;
	if (judgement.settlement == SETTLE_STORE &&
	    response->headers.length + evidence->body_length > evidence->largest)
		judgement.settlement = SETTLE_NOT_KEPT;
	return judgement;
}

struct judgement judge(const struct evidence *evidence)
{
	const struct route *route = evidence->route;
	switch (evidence->run->end) {
	case RUN_NOT_STARTED:
		return failed(OUTCOME_RELEASE, VERDICT_HANDLER_FAILED, "exec failed");
	case RUN_TIMED_OUT:
		return failed(route->on_timeout, VERDICT_HANDLER_TIMEOUT, "timeout");
	case RUN_SIGNALED:
		return failed(route->on_crash, VERDICT_HANDLER_FAILED, "signal");
	case RUN_STOPPED:
		return failed(route->on_crash, VERDICT_UNSETTLED, "lease lost");
	case RUN_OUTPUT_REFUSED:
	case RUN_EXITED:
		break;
	}
	/* It did its work, but its answer could not be taken in: a retry must be told, not run
	 * (case C29). */
	if (evidence->body_failed || evidence->run->end == RUN_OUTPUT_REFUSED) {
		return (struct judgement){SETTLE_NOT_KEPT, VERDICT_HANDLER_FAILED,
					  "answer not taken in"};
	}
	if (!judge_is_whole(evidence)) {
		return failed(route->on_crash, VERDICT_HANDLER_FAILED,
			      evidence->response->state == CGI_RESPONSE_BODY ? "answer cut short"
									     : "no valid answer");
	}
	return judge_answer(evidence);
}
