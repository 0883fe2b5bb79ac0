/* SPDX-License-Identifier: ISC */
/*
 * The answers oncewrap gives in a handler's stead: by the route's own templates
 * (config/template.h), else problem details (RFC 9457) as application/problem+json. Retry-After,
 * Cache-Control, Location and the link to the documentation are headers of either.
 */
#ifndef ONCEWRAP_BROKER_REFUSAL_H
#define ONCEWRAP_BROKER_REFUSAL_H

#include "base/buffer.h"
#include "broker/reply.h"
#include "broker/verdict.h"
#include "config/route.h"

#include <stdint.h>

struct refusal {
	int status;
	struct buffer headers; /* raw lines */
	struct buffer body;
};

/* What one refusal says beyond its verdict. */
struct refusal_facts {
	const char *detail;   /* NULL: the verdict's own */
	const char *location; /* where the answer of the first one is; NULL or "": not known */
	int64_t first_ms;     /* when the first one was done, ms since the epoch; 0: not told */
};

/* `facts` NULL: none. Free with refusal_free in any case; -1 when out of memory. */
int refusal_make(struct refusal *refusal, enum verdict verdict, const struct route *route,
		 const struct refusal_facts *facts);
void refusal_free(struct refusal *refusal);

/* Make, send and free; returns the status. */
int refusal_send(const struct reply *reply, const char *method, enum verdict verdict,
		 const struct route *route, const struct refusal_facts *facts);

#endif
