/* SPDX-License-Identifier: ISC */
/* One request as the broker takes it, whichever front end it came by. */
#ifndef ONCEWRAP_BROKER_REQUEST_H
#define ONCEWRAP_BROKER_REQUEST_H

#include "base/body.h"
#include "base/error.h"
#include "base/params.h"
#include "broker/request_id.h"
#include "config/config.h"
#include "handler/script.h"
#include "idem/document.h"
#include "idem/fingerprint.h"

#include <stdbool.h>
#include <stdint.h>

enum request_body_state {
	REQUEST_BODY_WHOLE, /* read to its end, and as long as Content-Length says */
	REQUEST_BODY_CUT,   /* the peer went away, aborted, or stopped sending: no answer is owed */
	REQUEST_BODY_MISMATCH,  /* ended properly, but is not as long as Content-Length says: 400 */
	REQUEST_BODY_TOO_LARGE, /* over limits.max_body: 413 */
	REQUEST_BODY_FAILED,    /* could not be spooled: 507 */
};

struct request {
	struct params params;
	struct body *body; /* owned */
	enum request_body_state body_state;
	struct error body_error; /* why, for REQUEST_BODY_FAILED and REQUEST_BODY_CUT */
	int64_t started;         /* clock_now at request_prepare */
	int64_t started_us;      /* count_now then */

	/* by request_prepare */
	char id[REQUEST_ID_SIZE]; /* in every log, and in the answer; "": none could be made */
	enum script_result script_result;
	struct error script_error; /* for the log alone: it names files */
	struct script script;      /* owned */
	const char *method;
	char *path; /* SCRIPT_NAME and PATH_INFO as rebuilt, owned: what routes, scopes and
		       fingerprints see */
	const char *query;
	const char *content_type;
	const struct route *route; /* NULL: none */
	bool guarded;              /* the route guards this method */

	/* by request_end_body */
	unsigned char body_digest[DIGEST_LENGTH]; /* SHA-256 of the raw body; only where guarded */

	/* by request_open_document */
	struct document *document; /* owned; NULL before */
};

/* The front end's order: request_prepare once the parameters are there (finds script and route,
 * makes the body), request_add_body for each piece, request_end_body, then broker_handle, then
 * request_free. `handler` is the program of --handler, or NULL. 0, or -1 with *error when out of
 * memory. */
int request_prepare(struct request *request, const struct params *params,
		    const struct config *config, const char *handler, struct error *error);

/* After TOO_LARGE or FAILED further pieces are dropped, so that the peer can finish sending. */
void request_add_body(struct request *request, const void *data, size_t length);

/* `cut`: why the input did not end as it should; NULL: it did, and its length is held against
 * CONTENT_LENGTH. */
void request_end_body(struct request *request, const struct error *cut);

/* Make the body ready to be looked into. 0, or -1 with *error. */
int request_open_document(struct request *request, struct error *error);

/* What the request asks, as a fingerprint sees it; borrows from the request. Only where guarded,
 * and after request_open_document. */
void request_fingerprint_source(const struct request *request, struct fingerprint_source *source);

/* The number of its route's counters. */
unsigned request_counters(const struct request *request);

void request_free(struct request *request);

#endif
