/* SPDX-License-Identifier: ISC */
/*
 * What a handler's end means for its claim and for its client (docs/design.md section 6, "Judging";
 * cases C11, C31, C43, C44). Pure.
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
	SETTLE_STORE,    /* the answer stays with the key */
	SETTLE_NOT_KEPT, /* done, but the answer is too large to keep */
	SETTLE_RELEASE,  /* the key is free again */
	SETTLE_UNKNOWN,  /* nobody knows whether it was done */
};

struct judgement {
	enum settlement settlement;
	enum verdict refusal; /* VERDICT_FIRST: the client gets the handler's answer; else ours, of
				 this verdict */
	const char *cause;    /* for the log: "exit", "exec failed", "signal", ... */
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

/* Is the answer whole: a good header block, and a body as long as it declared (where one belongs)?
 */
bool judge_is_whole(const struct evidence *evidence);

#endif
