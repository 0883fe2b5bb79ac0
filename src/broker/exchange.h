/* SPDX-License-Identifier: ISC */
/* One guarded request on its way through the broker: what is known of it, and what became of it. */
#ifndef ONCEWRAP_BROKER_EXCHANGE_H
#define ONCEWRAP_BROKER_EXCHANGE_H

#include "base/buffer.h"
#include "broker/bell.h"
#include "broker/reply.h"
#include "broker/request.h"
#include "broker/verdict.h"
#include "idem/fingerprint.h"
#include "store/renewal.h"
#include "store/store.h"

#include <stdint.h>

struct exchange {
	/* borrowed, for the exchange's length */
	const struct config *config;
	const struct route *route; /* NULL: none */
	struct store *store;
	struct renewal *renewal;
	struct bell *bell; /* NULL: nobody to wake */
	struct request *request;
	const struct reply *reply;

	/* who asks for what */
	struct buffer key;
	struct buffer tenant;
	struct fingerprint fingerprint;
	struct store_claim claim; /* points into the above */
	struct store_natural natural;
	bool identified;  /* the claim has its id */
	bool has_natural; /* the request has a natural key */

	/* what became of it */
	struct record record;               /* the record as last read; ours or another's */
	uint32_t attempt;                   /* ours, once the claim is won */
	int64_t lease_from;                 /* clock_now before the claim that won was sent */
	struct store_natural_holder holder; /* of the natural key, where it is another */
	int status;                         /* of the answer that was sent; 0: none was owed */
	bool observed;          /* run whatever the verdict, since its route only observes */
	const char *settlement; /* "stored" and so on, for the log; NULL: none was due */
	int app_status;         /* FastCGI appStatus */
	int64_t handler_ms;
	int64_t store_ms;
};

#endif
