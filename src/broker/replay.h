/* SPDX-License-Identifier: ISC */
/* Answering from the record: what was stored, byte for byte, with the route's marker. */
#ifndef ONCEWRAP_BROKER_REPLAY_H
#define ONCEWRAP_BROKER_REPLAY_H

#include "base/buffer.h"
#include "broker/exchange.h"
#include "handler/cgi_response.h"

/* The header lines of a handler's answer that are stored: "Status: ..." first, the route's
 * drop_headers and marker names left out. 0, or -1 when out of memory. */
int replay_keep_headers(struct buffer *out, const struct route *route, int status,
			const char *reason, const struct buffer *headers);

/* The handler's own header lines without fields of the marker's names, which only we may say. */
int replay_strip_markers(struct buffer *out, const struct route *route,
			 const struct buffer *headers);

/* "Name: false" for each marker, where the route marks first answers. */
int replay_first_markers(struct buffer *out, const struct route *route);

/* Send the answer that exchange->record holds. Sets exchange->status. */
void replay_send(struct exchange *exchange);

#endif
