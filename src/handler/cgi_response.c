/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "handler/cgi_response.h"

#include <string.h>
#include <strings.h>

/* A piece of a line; not NUL-terminated. */
struct span {
	const char *data;
	size_t length;
};

static void malformed(struct cgi_response *response, enum error_kind kind, const char *message)
{
	response->state = CGI_RESPONSE_MALFORMED;
	error_set(&response->error, kind, "%s", message);
}

/* RFC 9110 5.6.2 */
static bool is_token_byte(char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= 'a' && byte <= 'z') ||
	       (byte != '\0' && strchr("!#$%&'*+-.^_`|~", byte) != NULL);
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* RFC 9110 5.5: any byte from 0x80 up may stand in a value (case C28). Of the control bytes NUL and
 * CR must be refused; the others Apache refuses in its turn. */
static bool is_value_byte(char byte)
{
	unsigned char code = (unsigned char)byte;
	return code == '\t' || (code >= 0x20 && code != 0x7f);
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool span_is(const char *data, size_t length, const char *name)
{
	return strlen(name) == length && strncasecmp(data, name, length) == 0;
}

static struct span trimmed(struct span span)
{
	while (span.length > 0 && is_blank(span.data[0])) {
		span.data++;
		span.length--;
	}
	while (span.length > 0 && is_blank(span.data[span.length - 1]))
		span.length--;
	return span;
}

bool header_is_hop_by_hop(const char *name, size_t length)
{
	static const char *const names[] = {
	    "Connection", "Keep-Alive",        "Proxy-Connection", "TE",
	    "Trailer",    "Transfer-Encoding", "Upgrade",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (span_is(name, length, names[i]))
			return true;
	}
	return false;
}

/* RFC 3875 6.3.3. Twice is refused (6.3: "MUST NOT appear more than once"): whether an answer is
 * kept hangs on it, so it is not guessed. */
static void take_status(struct cgi_response *response, struct span value)
{
	const char *text = value.data;
	bool number = value.length >= 3 && is_digit(text[0]) && is_digit(text[1]) &&
		      is_digit(text[2]) && (value.length == 3 || is_blank(text[3]));
	int status = number ? (text[0] - '0') * 100 + (text[1] - '0') * 10 + (text[2] - '0') : 0;
	if (status < 100 || status > 599) {
		malformed(response, ERROR_INPUT, "Status is not a number from 100 to 599");
		return;
	}
	if (response->has_status) {
		malformed(response, ERROR_INPUT, "Status stands there twice");
		return;
	}
	struct span reason = trimmed((struct span){text + 3, value.length - 3});
	if (reason.length >= sizeof(response->reason))
		reason.length = sizeof(response->reason) - 1;
	memcpy(response->reason, reason.data, reason.length);
	response->reason[reason.length] = '\0';
	response->status = status;
	response->has_status = true;
}

/* RFC 9110 8.6. The same number again is harmless, another one is not to be sent on. */
static void take_content_length(struct cgi_response *response, struct span value)
{
	int64_t length = 0;
	bool number = value.length > 0;
	for (size_t i = 0; i < value.length && number; i++) {
		number = is_digit(value.data[i]) && !__builtin_mul_overflow(length, 10, &length) &&
			 !__builtin_add_overflow(length, value.data[i] - '0', &length);
	}
	if (!number)
		malformed(response, ERROR_INPUT, "Content-Length is not a number");
	else if (response->content_length >= 0 && response->content_length != length)
		malformed(response, ERROR_INPUT,
			  "Content-Length stands there twice, with two numbers");
	else
		response->content_length = length;
}

static void keep_field(struct cgi_response *response, struct span name, struct span value)
{
	buffer_append(&response->headers, name.data, name.length);
	buffer_append(&response->headers, ": ", 2);
	buffer_append(&response->headers, value.data, value.length);
	buffer_append(&response->headers, "\r\n", 2);
	if (response->headers.failed)
		malformed(response, ERROR_MEMORY, "out of memory for the header block");
}

static void take_field(struct cgi_response *response, struct span name, struct span value)
{
	if (++response->field_count > CGI_RESPONSE_MAX_FIELDS) {
		malformed(response, ERROR_LIMIT, "there are more than 128 header fields");
	} else if (span_is(name.data, name.length, "Status")) {
		take_status(response, value);
	} else if (span_is(name.data, name.length, "Content-Length")) {
		take_content_length(response, value);
	} else if (!header_is_hop_by_hop(name.data, name.length)) {
		if (value.length > 0 && span_is(name.data, name.length, "Location"))
			response->has_location = true;
		keep_field(response, name, value);
	}
}

/* No internal redirect for a Location of a path alone (RFC 3875 6.2.2): from here the web server
 * cannot be made to follow it, so the client is (case C46). */
static void end_block(struct cgi_response *response)
{
	if (response->field_count == 0) {
		malformed(response, ERROR_INPUT, "the output begins with an empty line");
		return;
	}
	if (!response->has_status)
		response->status = response->has_location ? 302 : 200;
	response->state = CGI_RESPONSE_BODY;
}

/* A line without its LF. */
static void take_line(struct cgi_response *response, struct span line)
{
	if (line.length > 0 && line.data[line.length - 1] == '\r')
		line.length--;
	if (line.length == 0) {
		end_block(response);
		return;
	}
	if (response->field_count == 0 && line.length >= 5 && memcmp(line.data, "HTTP/", 5) == 0) {
		malformed(response, ERROR_INPUT,
			  "the output begins with a status line: scripts with non-parsed headers "
			  "cannot be run");
		return;
	}
	/* RFC 9112 5.2 deprecates it, and servers disagree about what it means */
	if (is_blank(line.data[0])) {
		malformed(response, ERROR_INPUT, "a header line begins with a blank");
		return;
	}
	struct span name = {line.data, 0};
	while (name.length < line.length && is_token_byte(line.data[name.length]))
		name.length++;
	if (name.length == 0 || name.length == line.length || line.data[name.length] != ':') {
		malformed(response, ERROR_INPUT,
			  "a header line is not a name, a colon and a value");
		return;
	}
	struct span value = {line.data + name.length + 1, line.length - name.length - 1};
	for (size_t i = 0; i < value.length; i++) {
		if (!is_value_byte(value.data[i])) {
			malformed(response, ERROR_INPUT, "a header value has a control byte in it");
			return;
		}
	}
	take_field(response, name, trimmed(value));
}

void cgi_response_init(struct cgi_response *response, size_t max_header_bytes)
{
	*response = (struct cgi_response){
	    .state = CGI_RESPONSE_HEADERS,
	    .content_length = -1,
	    .max_header_bytes = max_header_bytes,
	};
}

/* Up to the next LF, or all there is; returns the bytes taken. */
static size_t take_piece(struct cgi_response *response, const char *data, size_t length)
{
	const char *end = memchr(data, '\n', length);
	size_t piece = end != NULL ? (size_t)(end - data) : length;
	size_t taken = piece + (end != NULL);
	if (taken > response->max_header_bytes - response->block_length) {
		malformed(response, ERROR_LIMIT,
			  "the header block is longer than limits.max_header_bytes");
		return length;
	}
	response->block_length += taken;
	if (end != NULL && response->line.length == 0) {
		/* the usual case: nothing to put together */
		take_line(response, (struct span){data, piece});
		return taken;
	}
	if (buffer_append(&response->line, data, piece) == -1) {
		malformed(response, ERROR_MEMORY, "out of memory for a header line");
	} else if (end != NULL) {
		take_line(response,
			  (struct span){(const char *)response->line.data, response->line.length});
		buffer_clear(&response->line);
	}
	return taken;
}

static void keep_first_bytes(struct cgi_response *response, const void *data, size_t length)
{
	size_t room = CGI_RESPONSE_FIRST_BYTES - response->first_bytes.length;
	buffer_append(&response->first_bytes, data, length < room ? length : room);
}

size_t cgi_response_feed(struct cgi_response *response, const void *data, size_t length)
{
	const char *bytes = data;
	size_t taken = 0;
	if (response->state == CGI_RESPONSE_BODY)
		return 0;
	while (response->state == CGI_RESPONSE_HEADERS && taken < length)
		taken += take_piece(response, bytes + taken, length - taken);
	if (response->state != CGI_RESPONSE_BODY)
		taken = length;
	keep_first_bytes(response, data, taken);
	return taken;
}

void cgi_response_end(struct cgi_response *response)
{
	if (response->state != CGI_RESPONSE_HEADERS)
		return;
	malformed(response, ERROR_INPUT,
		  response->block_length == 0 ? "there is no output"
					      : "the output ends before the header block does");
}

void cgi_response_free(struct cgi_response *response)
{
	buffer_free(&response->headers);
	buffer_free(&response->first_bytes);
	buffer_free(&response->line);
}
