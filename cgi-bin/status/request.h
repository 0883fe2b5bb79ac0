/* SPDX-License-Identifier: ISC */
/* What a client asks of the status page (RFC 3875): its method, the query (format=..., probe=ready)
 * and its Accept field. */
#ifndef ONCEWRAP_STATUS_REQUEST_H
#define ONCEWRAP_STATUS_REQUEST_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum status_format { STATUS_HTML, STATUS_JSON, STATUS_TEXT };

struct status_request {
	bool head;  /* HEAD: no body */
	bool probe; /* readiness is asked for, in a word */
	enum status_format format;
};

/* The HTTP status to refuse it with, and *error; 200: none. */
int request_read(struct status_request *request, struct error *error);

const char *request_format_name(enum status_format format);
#define STATUS_FORMATS (STATUS_TEXT + 1)

/* The format that is called so: 0, or -1 with *error. */
int request_format(const char *name, enum status_format *format, struct error *error);

/* By an Accept field. A browser names HTML and gets it; who likes everything alike, as curl does,
 * gets text. */
enum status_format request_accept(const char *accept);

#endif
