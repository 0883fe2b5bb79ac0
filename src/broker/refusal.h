/* SPDX-License-Identifier: ISC */
/* The answers oncewrap gives in a handler's stead: problem details (RFC 9457) as
 * application/problem+json. */
#ifndef ONCEWRAP_BROKER_REFUSAL_H
#define ONCEWRAP_BROKER_REFUSAL_H

#include "base/buffer.h"
#include "broker/reply.h"
#include "broker/verdict.h"
#include "config/route.h"

struct refusal {
	int status;
	struct buffer headers; /* raw lines */
	struct buffer body;
};

/* `detail` NULL: the verdict's own. Free with refusal_free in any case; -1 when out of memory. */
int refusal_make(struct refusal *refusal, enum verdict verdict, const struct route *route,
		 const char *detail);
void refusal_free(struct refusal *refusal);

/* Make, send and free; returns the status. */
int refusal_send(const struct reply *reply, const char *method, enum verdict verdict,
		 const struct route *route, const char *detail);

#endif
