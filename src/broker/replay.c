/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/replay.h"

#include "broker/sender.h"

#include <stdio.h>
#include <string.h>

int replay_strip_markers(struct buffer *out, const struct route *route,
			 const struct buffer *headers)
{
	return sender_filter_lines(out, headers->data, headers->length, route->replay_headers.items,
				   route->replay_headers.count);
}

int replay_keep_headers(struct buffer *out, const struct route *route, int status,
			const char *reason, const struct buffer *headers)
{
	struct buffer unmarked = {0};
	buffer_printf(out, "Status: %d%s%s\r\n", status, reason[0] != '\0' ? " " : "", reason);
	if (replay_strip_markers(&unmarked, route, headers) == 0) {
		sender_filter_lines(out, unmarked.data, unmarked.length, route->drop_headers.items,
				    route->drop_headers.count);
	}
	int result = unmarked.failed || out->failed ? -1 : 0;
	buffer_free(&unmarked);
	return result;
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

void replay_send(struct exchange *exchange)
{
	const struct record *record = &exchange->record;
	const struct route *route = exchange->route;
	struct buffer markers = {0};
	for (size_t i = 0; i < route->replay_headers.count; i++)
		buffer_printf(&markers, "%s\r\n", route->replay_headers.items[i]);
	char reason[64];
	size_t rest;
	split_status(&record->headers, reason, sizeof(reason), &rest);
	exchange->status = record->status;
	sender_send(exchange->reply,
		    &(struct outgoing){.method = exchange->request->method,
				       .status = record->status,
				       .reason = reason,
				       .headers = record->headers.data + rest,
				       .headers_length = record->headers.length - rest,
				       .more_headers = markers.data,
				       .more_headers_length = markers.length,
				       .body = record->body.data,
				       .body_length = record->body.length});
	buffer_free(&markers);
}
