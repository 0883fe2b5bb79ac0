/* SPDX-License-Identifier: ISC */
/*
 * Where an answer goes. Implemented by the front ends (FastCGI, plain CGI); the broker sees this
 * alone. Every call may fail for good once the client has gone: later ones then fail too, at no
 * cost.
 */
#ifndef ONCEWRAP_BROKER_REPLY_H
#define ONCEWRAP_BROKER_REPLY_H

#include <stddef.h>

struct reply {
	void *context;
	/* Bytes of the answer: header block ("Status: ..." first), empty line, body. 0 or -1. */
	int (*write)(void *context, const void *data, size_t length);
	/* Hand on what was written so far (pass-through streaming). 0 or -1. */
	int (*flush)(void *context);
	/* A line for the web server's error log (FastCGI's STDERR stream). */
	void (*complain)(void *context, const char *text);
	/* A descriptor that becomes readable, or hangs up, when the client has gone; -1: none to
	 * watch. */
	int (*descriptor)(void *context);
	/* Set by the broker: the request's id, and the header by which every answer gives it back,
	 * in the place of one that a handler wrote. NULL or "": none. */
	const char *id_header;
	const char *id;
};

#endif
