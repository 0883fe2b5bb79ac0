/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/sender.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "metrics/count.h"

static bool gives_id(const struct reply *reply)
{
	return reply->id != NULL && *reply->id != '\0' && reply->id_header != NULL &&
	       *reply->id_header != '\0';
}

bool sender_has_body(const char *method, int status)
{
	return strcmp(method, "HEAD") != 0 && status >= 200 && status != 204 && status != 304;
}

/* The lines of an answer, but for one that would give the request another id. */
static void add_lines(struct buffer *block, const struct reply *reply, const void *lines,
		      size_t length)
{
	if (gives_id(reply))
		sender_filter_lines(block, lines, length,
				    (char *const[]){(char *)(uintptr_t)reply->id_header}, 1);
	else
		buffer_append(block, lines, length);
}

int sender_send_headers(const struct reply *reply, const struct outgoing *outgoing,
			long long content_length)
{
	struct buffer block = {0};
	int result = -1;
	buffer_printf(&block, "Status: %d%s%s\r\n", outgoing->status,
		      outgoing->reason[0] != '\0' ? " " : "", outgoing->reason);
	add_lines(&block, reply, outgoing->headers, outgoing->headers_length);
	add_lines(&block, reply, outgoing->more_headers, outgoing->more_headers_length);
	if (gives_id(reply))
		buffer_printf(&block, "%s: %s\r\n", reply->id_header, reply->id);
	if (content_length >= 0)
		buffer_printf(&block, "Content-Length: %lld\r\n", content_length);
	buffer_append_text(&block, "\r\n");
	if (!block.failed)
		result = reply->write(reply->context, block.data, block.length);
	buffer_free(&block);
	return result;
}

int sender_send(const struct reply *reply, const struct outgoing *outgoing)
{
	bool has_body = sender_has_body(outgoing->method, outgoing->status);
	/* A HEAD tells the length its GET would have (RFC 9110 8.6); 204 and 1xx must not, 304 need
	 * not. */
	bool has_length = has_body || strcmp(outgoing->method, "HEAD") == 0;
	if (outgoing->status < 200 || outgoing->status == 204 || outgoing->status == 304)
		has_length = false;
	count_worker_state(WORKER_SENDING);
	if (sender_send_headers(reply, outgoing,
				has_length ? (long long)outgoing->body_length : -1) != 0)
		return -1;
	if (has_body && outgoing->body_length > 0)
		return reply->write(reply->context, outgoing->body, outgoing->body_length);
	return 0;
}

/* A raw header line. */
struct line {
	const char *start;
	size_t length;      /* with its end */
	size_t name_length; /* all of it where there is no colon */
};

static bool next_line(const char **at, const char *end, struct line *line)
{
	if (*at >= end)
		return false;
	const char *newline = memchr(*at, '\n', (size_t)(end - *at));
	line->start = *at;
	line->length = (size_t)((newline == NULL ? end : newline + 1) - *at);
	const char *colon = memchr(*at, ':', line->length);
	line->name_length = colon == NULL ? line->length : (size_t)(colon - *at);
	*at += line->length;
	return true;
}

bool sender_field(struct buffer *out, const struct buffer *lines, const char *name)
{
	const char *at = (const char *)lines->data;
	const char *end = lines->length == 0 ? at : at + lines->length;
	for (struct line line; next_line(&at, end, &line);) {
		if (line.name_length != strlen(name) ||
		    strncasecmp(line.start, name, line.name_length) != 0)
			continue;
		const char *from = line.start + line.name_length + 1;
		const char *to = line.start + line.length;
		while (from < to && strchr(" \t", *from) != NULL)
			from++;
		while (to > from && strchr(" \t\r\n", to[-1]) != NULL)
			to--;
		buffer_append(out, from, (size_t)(to - from));
		return true;
	}
	return false;
}

static bool name_is_listed(const char *line, size_t name_length, char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcspn(names[i], ":") == name_length &&
		    strncasecmp(names[i], line, name_length) == 0)
			return true;
	return false;
}

int sender_filter_lines(struct buffer *out, const void *lines, size_t length, char *const *names,
			size_t count)
{
	const char *at = lines;
	const char *end = length == 0 ? at : at + length;
	for (struct line line; next_line(&at, end, &line);)
		if (!name_is_listed(line.start, line.name_length, names, count))
			buffer_append(out, line.start, line.length);
	return out->failed ? -1 : 0;
}
