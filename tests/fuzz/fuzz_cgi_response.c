/* SPDX-License-Identifier: ISC */
/*
 * A handler's answer, whatever it is: read whole and read in pieces it is the same, and one that is
 * found good is fit to be sent and stored. The first byte of the input says how it is cut.
 */
#include <config.h>

#include "handler/cgi_response.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/encode.h"
#include "tests/fuzz/driver.h"

#define MAX_HEADER_BYTES 512

const char fuzz_corpus[] = "cgi_response";

/* Feed in pieces of 1 to `most` bytes; returns where the body begins. */
static size_t parse(struct cgi_response *response, const uint8_t *data, size_t size, size_t most)
{
	size_t head = 0;
	cgi_response_init(response, MAX_HEADER_BYTES);
	for (size_t at = 0, piece = most; at < size; at += piece) {
		if (piece > size - at)
			piece = size - at;
		size_t taken = cgi_response_feed(response, data + at, piece);
		require(taken <= piece);
		require(taken == piece || response->state == CGI_RESPONSE_BODY);
		head += taken;
	}
	cgi_response_end(response);
	require(response->state != CGI_RESPONSE_HEADERS);
	return head;
}

static bool equal(const struct buffer *one, const struct buffer *other)
{
	return one->length == other->length &&
	       (one->length == 0 || memcmp(one->data, other->data, one->length) == 0);
}

static void require_same(const struct cgi_response *one, const struct cgi_response *other)
{
	require(one->state == other->state);
	require(equal(&one->first_bytes, &other->first_bytes));
	require(strcmp(one->error.message, other->error.message) == 0);
	if (one->state != CGI_RESPONSE_BODY)
		return;
	require(one->status == other->status);
	require(strcmp(one->reason, other->reason) == 0);
	require(one->content_length == other->content_length);
	require(equal(&one->headers, &other->headers));
	require(one->outcome == other->outcome);
	require(one->once_retention == other->once_retention);
	require(equal(&one->once_reference, &other->once_reference));
	require(strcmp(one->once_trouble.message, other->once_trouble.message) == 0);
}

/* What is put into environments and on terminals. */
static void require_reference(const struct cgi_response *response)
{
	const struct buffer *reference = &response->once_reference;
	uint32_t code = 0;
	require(reference->length <= ONCE_REFERENCE_LENGTH);
	for (size_t at = 0, size; at < reference->length; at += size) {
		size = utf8_next(reference->data + at, reference->length - at, &code);
		require(size > 0 && code >= 0x20 && (code < 0x7f || code >= 0xa0));
	}
}

/* Header injection is impossible: every line is one field, ended by the only CR and LF in it. */
static void require_lines(const struct buffer *headers)
{
	const unsigned char *line = headers->data;
	size_t rest = headers->length;
	while (rest > 0) {
		const unsigned char *end = memchr(line, '\n', rest);
		require(end != NULL && end > line && end[-1] == '\r');
		size_t length = (size_t)(end - line) - 1;
		const unsigned char *colon = memchr(line, ':', length);
		require(colon != NULL && colon > line && colon[1] == ' ');
		require(memchr(line, '\r', length) == NULL && memchr(line, '\0', length) == NULL);
		require(!header_is_hop_by_hop((const char *)line, (size_t)(colon - line)));
		require(strncasecmp((const char *)line, "Once-", 5) != 0);
		line += length + 2;
		rest -= length + 2;
	}
}

/* What was kept is read back as it is. */
static void require_fixed_point(const struct cgi_response *response)
{
	struct cgi_response again;
	cgi_response_init(&again, 4 * MAX_HEADER_BYTES);
	cgi_response_feed(&again, "Status: 299\r\n", 13);
	cgi_response_feed(&again, response->headers.data, response->headers.length);
	cgi_response_feed(&again, "\r\n", 2);
	require(again.state == CGI_RESPONSE_BODY);
	require(equal(&again.headers, &response->headers));
	cgi_response_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	size_t most = 1 + data[0] % 16;
	data++;
	size--;
	struct cgi_response whole, pieces;
	size_t head = parse(&whole, data, size, size > 0 ? size : 1);
	require(parse(&pieces, data, size, most) == head);
	require_same(&whole, &pieces);
	if (whole.state == CGI_RESPONSE_BODY) {
		require(whole.status >= 100 && whole.status <= 599);
		require(whole.content_length >= -1);
		require(head <= MAX_HEADER_BYTES);
		require_lines(&whole.headers);
		require_reference(&whole);
		require(whole.once_retention >= -1);
		/* With room for the status, which is a field, too. */
		if (whole.headers.length > 0 && whole.field_count < CGI_RESPONSE_MAX_FIELDS)
			require_fixed_point(&whole);
	} else {
		require(whole.error.message[0] != '\0');
	}
	cgi_response_free(&whole);
	cgi_response_free(&pieces);
	return 0;
}
