/* SPDX-License-Identifier: ISC */
/* A handler's whole answer, taken in before any of it is sent: memory first, an unlinked file
 * beyond (docs/design.md section 2). */
#ifndef ONCEWRAP_BROKER_CAPTURE_H
#define ONCEWRAP_BROKER_CAPTURE_H

#include "base/body.h"
#include "base/error.h"
#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>

struct capture {
	struct body *body;
	struct error error;
	bool failed;               /* could not be taken in, or not be looked at: *error says why */
	const unsigned char *data; /* the body in one piece, after capture_finish */
	size_t length;
};

/* 0, or -1 when out of memory. */
int capture_init(struct capture *capture, const struct config *config);

/* For launch.take, with the capture as its context. */
bool capture_take(void *capture, const void *data, size_t length);

/* The answer has ended. */
void capture_finish(struct capture *capture);

void capture_free(struct capture *capture);

#endif
