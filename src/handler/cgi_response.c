/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "handler/cgi_response.h"

#include <string.h>
#include <strings.h>

#include "base/encode.h"

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

/* Fields that are for everybody who gets the answer: RFC 9110 7.6.1 forbids to nominate such, and
 * without them the answer would be another one. */
static bool header_is_end_to_end(const char *name, size_t length)
{
	static const char *const names[] = {
	    "Accept-Ranges",
	    "Age",
	    "Allow",
	    "Authentication-Info",
	    "Cache-Control",
	    "Content-Disposition",
	    "Content-Encoding",
	    "Content-Language",
	    "Content-Location",
	    "Content-Range",
	    "Content-Security-Policy",
	    "Content-Type",
	    "Date",
	    "ETag",
	    "Expires",
	    "Last-Modified",
	    "Link",
	    "Location",
	    "Pragma",
	    "Retry-After",
	    "Set-Cookie",
	    "Strict-Transport-Security",
	    "Vary",
	    "WWW-Authenticate",
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

/* Digits alone, of a number that fits. */
static bool read_number(struct span value, int64_t *number)
{
	bool good = value.length > 0;
	*number = 0;
	for (size_t i = 0; i < value.length && good; i++) {
		good = is_digit(value.data[i]) && !__builtin_mul_overflow(*number, 10, number) &&
		       !__builtin_add_overflow(*number, value.data[i] - '0', number);
	}
	return good;
}

/* RFC 9110 8.6. The same number again is harmless, another one is not to be sent on. */
static void take_content_length(struct cgi_response *response, struct span value)
{
	int64_t length;
	if (!read_number(value, &length))
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

static void nominate(struct cgi_response *response, struct span value)
{
	buffer_append(&response->nominated, value.data, value.length);
	buffer_append(&response->nominated, ",", 1);
	if (response->nominated.failed)
		malformed(response, ERROR_MEMORY, "out of memory for the header block");
}

static bool is_nominated(const struct cgi_response *response, struct span name)
{
	const char *option = (const char *)response->nominated.data;
	const char *end = option + response->nominated.length;
	while (option < end) {
		const char *comma = memchr(option, ',', (size_t)(end - option));
		struct span word = trimmed((struct span){option, (size_t)(comma - option)});
		if (word.length == name.length &&
		    strncasecmp(word.data, name.data, name.length) == 0)
			return !header_is_end_to_end(name.data, name.length);
		option = comma + 1;
	}
	return false;
}

/* RFC 9110 7.6.1. Only at the end of the block, as a field may stand before the Connection that
 * nominates it. */
static void drop_nominated(struct cgi_response *response)
{
	struct buffer *headers = &response->headers;
	size_t kept = 0, length;
	if (response->nominated.length == 0)
		return;
	for (size_t at = 0; at < headers->length; at += length) {
		const char *line = (const char *)headers->data + at;
		const char *colon = memchr(line, ':', headers->length - at);
		const char *end = memchr(line, '\n', headers->length - at);
		length = (size_t)(end - line) + 1;
		if (is_nominated(response, (struct span){line, (size_t)(colon - line)}))
			continue;
		memmove(headers->data + kept, line, length);
		kept += length;
	}
	headers->length = kept;
}

/* The values of Once-* fields. Each taker first forgets what was said, and returns whether `value`
 * says something now. */

static bool take_outcome(struct cgi_response *response, struct span value)
{
	static const char *const words[] = {
	    [ONCE_OUTCOME_STORE] = "store",
	    [ONCE_OUTCOME_RELEASE] = "release",
	    [ONCE_OUTCOME_UNKNOWN] = "unknown",
	};
	response->outcome = ONCE_OUTCOME_NONE;
	for (size_t i = ONCE_OUTCOME_STORE; i < sizeof(words) / sizeof(words[0]); i++) {
		if (span_is(value.data, value.length, words[i]))
			response->outcome = (enum once_outcome)i;
	}
	return response->outcome != ONCE_OUTCOME_NONE;
}

static bool take_retention(struct cgi_response *response, struct span value)
{
	int64_t retention;
	response->once_retention = -1;
	if (!read_number(value, &retention) || __builtin_mul_overflow(retention, 1000, &retention))
		return false;
	response->once_retention = retention;
	return true;
}

/* It stands in the database, in environments and on terminals: characters alone. */
static bool is_printable(struct span text)
{
	uint32_t code = 0;
	for (size_t at = 0, size; at < text.length; at += size) {
		size = utf8_next((const unsigned char *)text.data + at, text.length - at, &code);
		if (size == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0))
			return false;
	}
	return true;
}

static bool take_reference(struct cgi_response *response, struct span value)
{
	buffer_clear(&response->once_reference);
	if (value.length == 0 || value.length > ONCE_REFERENCE_LENGTH || !is_printable(value))
		return false;
	if (buffer_append(&response->once_reference, value.data, value.length) != 0)
		malformed(response, ERROR_MEMORY, "out of memory for a reference");
	return true;
}

static const struct once_field {
	const char *name;
	bool (*take)(struct cgi_response *response, struct span value);
	const char *wanted;
} once_fields[] = {
    {"Once-Outcome", take_outcome, "it is none of store, release and unknown"},
    {"Once-Retention", take_retention, "it is not a number of seconds"},
    {"Once-Reference", take_reference, "it is not 1 to 1024 bytes of printable UTF-8"},
};

static void note_trouble(struct cgi_response *response, struct span name, const char *reason)
{
	if (response->once_trouble.kind == ERROR_NONE)
		error_set(&response->once_trouble, ERROR_INPUT, "%.*s is ignored: %s",
			  (int)(name.length < 64 ? name.length : 64), name.data, reason);
}

static bool is_ours(struct span name)
{
	static const char prefix[] = "Once-";
	return name.length >= strlen(prefix) && strncasecmp(name.data, prefix, strlen(prefix)) == 0;
}

/* A field that is for us. What is not understood is ignored, as if it had not been there: the work
 * is done, and its answer good. Of two that say different things neither is to be believed. */
static void take_once_field(struct cgi_response *response, struct span name, struct span value)
{
	for (size_t i = 0; i < sizeof(once_fields) / sizeof(once_fields[0]); i++) {
		const struct once_field *field = &once_fields[i];
		if (!span_is(name.data, name.length, field->name))
			continue;
		bool repeated = (response->once_seen & 1u << i) != 0;
		response->once_seen |= 1u << i;
		if (!field->take(response, repeated ? (struct span){"", 0} : value))
			note_trouble(response, name,
				     repeated ? "it stands there twice" : field->wanted);
		return;
	}
	note_trouble(response, name,
		     "there are only Once-Outcome, Once-Retention and Once-Reference");
}

static void take_field(struct cgi_response *response, struct span name, struct span value)
{
	if (++response->field_count > CGI_RESPONSE_MAX_FIELDS) {
		malformed(response, ERROR_LIMIT, "there are more than 128 header fields");
	} else if (span_is(name.data, name.length, "Status")) {
		take_status(response, value);
	} else if (span_is(name.data, name.length, "Content-Length")) {
		take_content_length(response, value);
	} else if (span_is(name.data, name.length, "Connection")) {
		nominate(response, value);
	} else if (is_ours(name)) {
		take_once_field(response, name, value);
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
	drop_nominated(response);
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
	    .once_retention = -1,
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
	buffer_free(&response->once_reference);
	buffer_free(&response->nominated);
	buffer_free(&response->first_bytes);
	buffer_free(&response->line);
}
