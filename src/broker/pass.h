/* SPDX-License-Identifier: ISC */
/*
 * The way of a request that is not guarded: run the handler and hand its output on as it is
 * written. A client that hangs up ends the handler (cases C54, C55).
 */
#ifndef ONCEWRAP_BROKER_PASS_H
#define ONCEWRAP_BROKER_PASS_H

#include "broker/reply.h"
#include "broker/request.h"
#include "config/config.h"

#include <stdbool.h>
#include <stdint.h>

struct pass_result {
	int status;     /* of the answer sent */
	bool whole;     /* the handler came to its own end with a good header block */
	int app_status; /* FastCGI appStatus */
	int64_t handler_ms;
};

void pass_through(const struct config *config, struct request *request, const struct reply *reply,
		  struct pass_result *result);

#endif
