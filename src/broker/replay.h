/* SPDX-License-Identifier: ISC */
/*
 * Answering from the record: what was stored, byte for byte, with the route's markers, by the
 * route's fixed status where it has one for replays. The markers and route->first_seen_header are
 * ours to say: fields of those names leave a handler's answer, the first and the stored one.
 */
#ifndef ONCEWRAP_BROKER_REPLAY_H
#define ONCEWRAP_BROKER_REPLAY_H

#include "base/buffer.h"
#include "broker/exchange.h"
#include "handler/cgi_response.h"

/* The header lines of a handler's answer that are stored: "Status: ..." first, the route's
 * drop_headers and what is ours to say left out. 0, or -1 when out of memory. */
int replay_keep_headers(struct buffer *out, const struct route *route, int status,
			const char *reason, const struct buffer *headers);

/* The handler's own header lines without fields that only we may say. 0, or -1 when out of memory.
 */
int replay_strip_markers(struct buffer *out, const struct route *route,
			 const struct buffer *headers);

/* "Name: false" for each marker, where the route marks first answers. */
int replay_first_markers(struct buffer *out, const struct route *route);

/* Send the answer that exchange->record holds. Sets exchange->status. */
void replay_send(struct exchange *exchange);

/* Send the answer that a handler gave anew in place of one that was not kept, as its replay: with
 * the first one's status (exchange->record.status) where both are a success with a body, or both
 * without. Sets exchange->status. */
void replay_send_rebuilt(struct exchange *exchange, const struct cgi_response *response,
			 const void *body, size_t body_length);

#endif
