/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/replay.h"

#include "base/clock.h"
#include "broker/refusal.h"
#include "broker/sender.h"
#include "metrics/count.h"

#include <stdio.h>
#include <string.h>

static int strip_markers(struct buffer *out, const struct route *route, const void *headers,
			 size_t length)
{
	struct buffer unmarked = {0};
	sender_filter_lines(&unmarked, headers, length, route->replay_headers.items,
			    route->replay_headers.count);
	sender_filter_lines(out, unmarked.data, unmarked.length, &route->first_seen_header, 1);
	int result = unmarked.failed || out->failed ? -1 : 0;
	buffer_free(&unmarked);
	return result;
}

int replay_strip_markers(struct buffer *out, const struct route *route,
			 const struct buffer *headers)
{
	return strip_markers(out, route, headers->data, headers->length);
}

/* What of a handler's lines is told again. */
static int keep_lines(struct buffer *out, const struct route *route, const struct buffer *headers)
{
	struct buffer unmarked = {0};
	int result = -1;
	if (replay_strip_markers(&unmarked, route, headers) == 0)
		result = sender_filter_lines(out, unmarked.data, unmarked.length,
					     route->drop_headers.items, route->drop_headers.count);
	buffer_free(&unmarked);
	return result;
}

int replay_keep_headers(struct buffer *out, const struct route *route, int status,
			const char *reason, const struct buffer *headers)
{
	buffer_printf(out, "Status: %d%s%s\r\n", status, reason[0] != '\0' ? " " : "", reason);
	return keep_lines(out, route, headers);
}

int replay_first_markers(struct buffer *out, const struct route *route)
{
	if (!route->first_header)
		return 0;
	for (size_t i = 0; i < route->replay_headers.count; i++) {
		const char *line = route->replay_headers.items[i];
		buffer_printf(out, "%.*s: false\r\n", (int)strcspn(line, ":"), line);
	}
	return out->failed ? -1 : 0;
}

/* The stored block begins with its "Status: NNN reason" line; the number is a column too. */
static void split_status(const struct buffer *stored, char *reason, size_t size, size_t *rest)
{
	reason[0] = '\0';
	*rest = 0;
	static const char name[] = "Status: ";
	const char *text = (const char *)stored->data;
	const char *end = stored->length == 0 ? NULL : memchr(text, '\n', stored->length);
	if (end == NULL || stored->length < sizeof(name) - 1 ||
	    memcmp(text, name, sizeof(name) - 1) != 0)
		return;
	*rest = (size_t)(end + 1 - text);
	const char *from = text + sizeof(name) - 1 + strlen("NNN ");
	const char *to = end > text && end[-1] == '\r' ? end - 1 : end;
	if (from < to)
		snprintf(reason, size, "%.*s", (int)(to - from), from);
}

static int add_markers(struct buffer *out, const struct exchange *exchange)
{
	const struct route *route = exchange->route;
	for (size_t i = 0; i < route->replay_headers.count; i++)
		buffer_printf(out, "%s\r\n", route->replay_headers.items[i]);
	if (route->first_seen_header[0] != '\0') {
		char stamp[CLOCK_STAMP_LENGTH];
		clock_format(stamp, exchange->record.created_ms);
		buffer_printf(out, "%s: %s\r\n", route->first_seen_header, stamp);
	}
	return out->failed ? -1 : 0;
}

static bool is_success(int status)
{
	return status >= 200 && status <= 299;
}

static bool may_have_body(int status)
{
	return sender_has_body("GET", status);
}

/* An answer of `status`, which may be told by another one. */
static void send_as(struct exchange *exchange, int status, const char *reason,
		    const struct buffer *headers, const void *body, size_t body_length)
{
	int64_t fixed = exchange->route->replay_status;
	exchange->status =
	    fixed != REPLAY_STATUS_ORIGINAL && is_success(status) ? (int)fixed : status;
	sender_send(exchange->reply,
		    &(struct outgoing){
			.method = exchange->request->method,
			.status = exchange->status,
			/* another status's reason would be wrong, and none is right for each */
			.reason = exchange->status == status ? reason : "",
			.headers = headers->data,
			.headers_length = headers->length,
			.body = body,
			/* What a handler wrote behind a 204 was never sent, and is not now. */
			.body_length = may_have_body(status) ? body_length : 0,
		    });
}

static void out_of_memory(struct exchange *exchange)
{
	exchange->status = refusal_send(exchange->reply, exchange->request->method,
					VERDICT_INTERNAL_ERROR, exchange->route, NULL);
}

void replay_send(struct exchange *exchange)
{
	const struct record *record = &exchange->record;
	struct buffer headers = {0};
	char reason[64];
	size_t rest;
	split_status(&record->headers, reason, sizeof(reason), &rest);
	const unsigned char *lines = rest == 0 ? record->headers.data : record->headers.data + rest;
	/* Stored under another configuration, they may say what only we say now. */
	if (strip_markers(&headers, exchange->route, lines, record->headers.length - rest) == 0 &&
	    add_markers(&headers, exchange) == 0) {
		send_as(exchange, record->status, reason, &headers, record->body.data,
			record->body.length);
		if (sender_has_body(exchange->request->method, record->status))
			count_replay_bytes(record->body.length);
	} else {
		out_of_memory(exchange);
	}
	buffer_free(&headers);
}

void replay_send_rebuilt(struct exchange *exchange, const struct cgi_response *response,
			 const void *body, size_t body_length)
{
	int first = exchange->record.status;
	bool alike = is_success(first) && is_success(response->status) &&
		     may_have_body(first) == may_have_body(response->status);
	int status = alike ? first : response->status;
	struct buffer headers = {0};
	if (keep_lines(&headers, exchange->route, &response->headers) == 0 &&
	    add_markers(&headers, exchange) == 0)
		send_as(exchange, status, status == response->status ? response->reason : "",
			&headers, body, body_length);
	else
		out_of_memory(exchange);
	buffer_free(&headers);
}
