/* SPDX-License-Identifier: ISC */
/*
 * A request's handler, started and followed to its end: environment, header block, standard error,
 * the group's slot, one log line. What is done with the answer's body is its caller's.
 */
#ifndef ONCEWRAP_BROKER_LAUNCH_H
#define ONCEWRAP_BROKER_LAUNCH_H

#include "base/buffer.h"
#include "base/error.h"
#include "broker/exchange.h"
#include "broker/reply.h"
#include "broker/request.h"
#include "handler/cgi_response.h"
#include "handler/run.h"

#include <stdbool.h>

struct launch {
	/* set by the caller; the rest zero */
	const struct config *config;
	struct request *request;
	const struct reply *reply;
	const struct exchange *exchange; /* the claim that the handler is told of; NULL: none */
	bool rebuild; /* asked to give its answer again, by exchange->record's reference */
	struct run_guest guest; /* zero: none */
	/* Once the header block is good: each piece of body, the first at once even if empty. true:
	 * end the handler. */
	bool (*take)(void *context, const void *data, size_t length);
	void *context;

	/* what came of it */
	struct run_result run;
	struct cgi_response response;
	struct buffer complaint; /* the start of standard error */
	struct error error;      /* why it was not started */
};

/* Run it. -1: out of memory or the like, nothing ran (run.end is RUN_NOT_STARTED). Free in any
 * case. */
int launch_run(struct launch *launch);

/* A line for a handler that did not simply exit with 0 and a good answer, that said something by an
 * Once-* field that was not understood, or that wrote to standard error; which also goes to the web
 * server's log. */
void launch_log(struct launch *launch);

/* FastCGI appStatus: the exit status, 128 + the signal, or 0. */
int launch_app_status(const struct launch *launch);

void launch_free(struct launch *launch);

#endif
