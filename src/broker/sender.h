/* SPDX-License-Identifier: ISC */
/*
 * Puts one whole answer on the wire: explicit Status, header lines, a correct Content-Length where
 * one belongs, the request's id, and the body where one belongs (RFC 9110 6.4.1: none for HEAD,
 * 1xx, 204 and 304).
 */
#ifndef ONCEWRAP_BROKER_SENDER_H
#define ONCEWRAP_BROKER_SENDER_H

#include "base/buffer.h"
#include "broker/reply.h"

#include <stdbool.h>
#include <stddef.h>

struct outgoing {
	const char *method; /* of the request */
	int status;
	const char *reason;  /* "" : none */
	const void *headers; /* "Name: value\r\n" lines */
	size_t headers_length;
	const void *more_headers; /* as headers, put behind them; may be NULL */
	size_t more_headers_length;
	const void *body;
	size_t body_length;
};

/* May an answer of this status to this method carry a body? */
bool sender_has_body(const char *method, int status);

/* 0, or -1 when the client has gone. */
int sender_send(const struct reply *reply, const struct outgoing *outgoing);

/* The header block alone, for a body that streams behind it: with Content-Length when
 * `content_length` is not -1. */
int sender_send_headers(const struct reply *reply, const struct outgoing *outgoing,
			long long content_length);

/* Append the value of the first of the raw header lines that has this name, without blanks around;
 * false when none has. */
bool sender_field(struct buffer *out, const struct buffer *lines, const char *name);

/* Append those of the raw header lines whose field name is not in `names` (compared without case;
 * NULL-safe). Each entry of `names` may be a bare name or a "Name: value" line. 0, or -1 when out
 * of memory. */
int sender_filter_lines(struct buffer *out, const void *lines, size_t length, char *const *names,
			size_t count);

#endif
