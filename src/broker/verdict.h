/* SPDX-License-Identifier: ISC */
/* What the broker decides for a request (docs/design.md, "Verdicts"), and what each refusal says.
 */
#ifndef ONCEWRAP_BROKER_VERDICT_H
#define ONCEWRAP_BROKER_VERDICT_H

#include "config/route.h"

#include <stdbool.h>

enum verdict {
	VERDICT_PASSED, /* no route, method not guarded, no key where none is needed, or mode off */
	VERDICT_FIRST,  /* the claim is ours: the handler runs */
	VERDICT_REPLAYED, /* complete, fingerprint equal */
	VERDICT_IN_FLIGHT,
	VERDICT_MISMATCH,
	VERDICT_UNKNOWN,
	VERDICT_NOT_KEPT,
	VERDICT_EXPIRED,
	VERDICT_KEY_MISSING,
	VERDICT_KEY_INVALID,
	VERDICT_TENANT_MISSING,
	VERDICT_TOO_LARGE,
	VERDICT_BAD_BODY,  /* the route requires JSON, and the body is none */
	VERDICT_DUPLICATE, /* another key has done this natural key */
	VERDICT_STORE_DOWN,
	/* What has nothing to do with a record, with a route or without one. */
	VERDICT_NOT_FOUND,
	VERDICT_FORBIDDEN,
	VERDICT_BODY_LENGTH,    /* the body is not as long as it says */
	VERDICT_BODY_UNSPOOLED, /* no room for the body */
	VERDICT_HANDLER_FAILED, /* the handler could not start, crashed, or its answer is none */
	VERDICT_HANDLER_TIMEOUT,
	VERDICT_REBUILD_FAILED, /* the handler could not give an answer again that was not kept */
	VERDICT_UNSETTLED,      /* the handler ran, but its answer could not be stored in time */
	VERDICT_CUT, /* the peer went away before the end of its request: nothing was run, and no
			answer is owed */
	VERDICT_INTERNAL_ERROR,
};

/* "in_flight" and so on: in the log, in problem bodies (`code`), in metrics. */
const char *verdict_name(enum verdict verdict);

struct verdict_answer {
	const char *title;
	const char *detail;
	int retry_after; /* seconds; 0: no Retry-After field */
	bool retryable;  /* may the same request with the same key succeed later? */
};

/* What a refusing verdict says. */
const struct verdict_answer *verdict_answer(enum verdict verdict);

/* The HTTP status of a refusing verdict under this route (NULL: the defaults). */
int verdict_status(enum verdict verdict, const struct route *route);

/* The body template of a refusing verdict under this route (config/template.h): its own, or else
 * the one that is for all of the route's refusals; "": none. */
const char *verdict_template(enum verdict verdict, const struct route *route);

#endif
