/* SPDX-License-Identifier: ISC */
/*
 * What a handler's end means for its claim and for its client (docs/design.md section 6, "Judging";
 * cases C11, C29, C30, C31, C43, C44). Pure.
 *
 * Of a whole answer, Once-Outcome decides before exit status and status do. An answer that is not
 * whole goes by what ended it, whatever it says: the header block may have been written before the
 * work. Only "unknown" is believed even then, as it asks for less than either of the others.
 */
#ifndef ONCEWRAP_BROKER_JUDGE_H
#define ONCEWRAP_BROKER_JUDGE_H

#include "broker/verdict.h"
#include "config/route.h"
#include "handler/cgi_response.h"
#include "handler/run.h"

#include <stdbool.h>
#include <stdint.h>

enum settlement {
	SETTLE_STORE,     /* the answer stays with the key */
	SETTLE_REFERENCE, /* done; not the answer is kept, but what it calls itself */
	SETTLE_NOT_KEPT,  /* done, but nothing is kept of the answer */
	SETTLE_RELEASE,   /* the key is free again */
	SETTLE_UNKNOWN,   /* nobody knows whether it was done */
};

struct judgement {
	enum settlement settlement;
	enum verdict refusal; /* VERDICT_FIRST: the client gets the handler's answer; else ours, of
				 this verdict */
	const char *cause;    /* for the log: "exit", "exec failed", "signal", ... */
	bool reference_missing; /* its reference was to be kept, and it gave none: for the log */
};

struct evidence {
	const struct route *route;
	const char *method;
	const struct run_result *run;
	const struct cgi_response *response;
	uint64_t body_length;
	uint64_t largest; /* headers and body together that can be stored */
	bool body_failed; /* the answer could not be taken in, or not be looked at */
};

struct judgement judge(const struct evidence *evidence);

/* What is kept of an answer that is not kept whole, by route->keep, or, where that is "full" and
 * the answer proves too large to be stored, by route->oversize. */
void judge_keep_less(struct judgement *judgement, const struct route *route,
		     const struct cgi_response *response);

/* Is the answer whole: a good header block, and a body as long as it declared (where one belongs)?
 */
bool judge_is_whole(const struct evidence *evidence);

/* Does this run of a handler that was asked for its answer again give one that may stand for the
 * first, which had `status`? Whole, exit status 0, not told to be another outcome, and as
 * successful: a 404 or a 500 of the asking is not what was answered then. */
bool judge_is_rebuilt(const struct evidence *evidence, int status);

#endif
