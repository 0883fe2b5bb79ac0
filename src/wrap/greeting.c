/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/greeting.h"

#include <errno.h>
#include <fastcgi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* No web server needs more than one; more is a peer that keeps us busy. */
#define MOST_RECORDS 16

static unsigned request_id(const FCGI_Header *header)
{
	return (unsigned)header->requestIdB1 << 8 | header->requestIdB0;
}

static size_t content_length(const FCGI_Header *header)
{
	return (size_t)header->contentLengthB1 << 8 | header->contentLengthB0;
}

static FCGI_Header make_header(unsigned char type, unsigned id, size_t length)
{
	return (FCGI_Header){
	    .version = FCGI_VERSION_1,
	    .type = type,
	    .requestIdB1 = (unsigned char)(id >> 8),
	    .requestIdB0 = (unsigned char)id,
	    .contentLengthB1 = (unsigned char)(length >> 8),
	    .contentLengthB0 = (unsigned char)length,
	};
}

/* A name's or value's length (FastCGI 1.0, 3.4: one byte, or four with the top bit set). -1 when it
 * is cut short. */
static int take_length(const unsigned char **at, const unsigned char *end, size_t *length)
{
	if (*at == end)
		return -1;
	if ((**at & 0x80) == 0) {
		*length = *(*at)++;
		return 0;
	}
	if (end - *at < 4)
		return -1;
	const unsigned char *byte = *at;
	*length =
	    (size_t)(byte[0] & 0x7f) << 24 | (size_t)byte[1] << 16 | (size_t)byte[2] << 8 | byte[3];
	*at += 4;
	return 0;
}

static const char *const variables[] = {FCGI_MAX_CONNS, FCGI_MAX_REQS, FCGI_MPXS_CONNS};
#define VARIABLES (sizeof(variables) / sizeof(variables[0]))

/* Which variables are asked for; a name counts once however often it comes, so the answer is
 * bounded. */
static int find_asked(const unsigned char *content, size_t length, bool asked[VARIABLES])
{
	const unsigned char *at = content;
	const unsigned char *end = content + length;
	while (at != end) {
		size_t name_length, value_length;
		if (take_length(&at, end, &name_length) != 0 ||
		    take_length(&at, end, &value_length) != 0 || name_length > (size_t)(end - at) ||
		    value_length > (size_t)(end - at) - name_length)
			return -1;
		for (size_t i = 0; i < VARIABLES; i++)
			if (name_length == strlen(variables[i]) &&
			    memcmp(at, variables[i], name_length) == 0)
				asked[i] = true;
		at += name_length + value_length;
	}
	return 0;
}

static int answer_values(const unsigned char *content, size_t length, size_t workers,
			 struct buffer *out)
{
	bool asked[VARIABLES] = {false};
	if (length > 0 && find_asked(content, length, asked) != 0)
		return -1;
	struct buffer values = {.limit = FCGI_MAX_LENGTH};
	for (size_t i = 0; i < VARIABLES; i++) {
		char value[24];
		/* One request a connection (FastCGI 1.0, 4.1: FCGI_MPXS_CONNS 0), one connection a
		 * worker. */
		snprintf(value, sizeof(value), "%zu",
			 strcmp(variables[i], FCGI_MPXS_CONNS) == 0 ? 0 : workers);
		if (!asked[i])
			continue;
		buffer_append_byte(&values, (unsigned char)strlen(variables[i]));
		buffer_append_byte(&values, (unsigned char)strlen(value));
		buffer_append_text(&values, variables[i]);
		buffer_append_text(&values, value);
	}
	FCGI_Header header =
	    make_header(FCGI_GET_VALUES_RESULT, FCGI_NULL_REQUEST_ID, values.length);
	buffer_append(out, &header, sizeof(header));
	if (values.length > 0)
		buffer_append(out, values.data, values.length);
	int result = values.failed || out->failed ? -1 : 0;
	buffer_free(&values);
	return result;
}

int greeting_answer(unsigned char type, const unsigned char *content, size_t length, size_t workers,
		    struct buffer *out)
{
	if (type == FCGI_GET_VALUES)
		return answer_values(content, length, workers, out);
	const FCGI_UnknownTypeRecord record = {
	    .header = make_header(FCGI_UNKNOWN_TYPE, FCGI_NULL_REQUEST_ID, sizeof(record.body)),
	    .body = {.type = type},
	};
	return buffer_append(out, &record, sizeof(record));
}

/* Its answer always fits a fresh socket's buffer: a peer that does not take it is not worth waiting
 * for. */
static int send_all(int fd, const void *data, size_t length, struct error *error)
{
	ssize_t sent = send(fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent >= 0 && (size_t)sent == length)
		return 0;
	error_set(error, ERROR_INPUT, "the peer does not take what it asked for");
	return -1;
}

static enum greeting_step refuse_role(int fd, const FCGI_BeginRequestRecord *begin,
				      struct error *error)
{
	const FCGI_EndRequestRecord end = {
	    .header = make_header(FCGI_END_REQUEST, request_id(&begin->header), sizeof(end.body)),
	    .body = {.protocolStatus = FCGI_UNKNOWN_ROLE},
	};
	if (send_all(fd, &end, sizeof(end), error) != 0)
		return GREETING_BROKEN;
	error_set(error, ERROR_INPUT, "a request for role %d: only responders (1) are served",
		  begin->body.roleB1 << 8 | begin->body.roleB0);
	return GREETING_REFUSED;
}

/* The request's first record, of which `have` bytes have been peeked at. */
static enum greeting_step look_at_request(int fd, const FCGI_BeginRequestRecord *begin, size_t have,
					  struct error *error)
{
	if (begin->header.type != FCGI_BEGIN_REQUEST) {
		error_set(error, ERROR_INPUT,
			  "a record of type %d for a request that was not begun",
			  begin->header.type);
		return GREETING_BROKEN;
	}
	if (content_length(&begin->header) != sizeof(begin->body)) {
		error_set(error, ERROR_INPUT, "a BEGIN_REQUEST of %zu bytes, 8 are wanted",
			  content_length(&begin->header));
		return GREETING_BROKEN;
	}
	if (have < sizeof(*begin))
		return GREETING_WAITING;
	if ((begin->body.roleB1 << 8 | begin->body.roleB0) != FCGI_RESPONDER)
		return refuse_role(fd, begin, error);
	return GREETING_REQUEST;
}

/* Between records: look at the next one without taking it, unless it is a management record. True:
 * go on reading. */
static bool look_at_record(struct greeting *greeting, int fd, enum greeting_step *step,
			   struct error *error)
{
	FCGI_BeginRequestRecord record;
	ssize_t have = recv(fd, &record, sizeof(record), MSG_PEEK | MSG_DONTWAIT);
	if (have <= 0) {
		*step = have == -1 && errno == EAGAIN ? GREETING_WAITING : GREETING_CLOSED;
		return false;
	}
	*step = GREETING_BROKEN;
	if (record.header.version != FCGI_VERSION_1) {
		error_set(error, ERROR_INPUT, "FastCGI version %d: 1 is wanted",
			  record.header.version);
		return false;
	}
	if ((size_t)have < sizeof(record.header)) {
		*step = GREETING_WAITING;
		return false;
	}
	if (request_id(&record.header) != FCGI_NULL_REQUEST_ID) {
		*step = look_at_request(fd, &record, (size_t)have, error);
		return false;
	}
	if (record.header.type == FCGI_BEGIN_REQUEST) {
		error_set(error, ERROR_INPUT, "a BEGIN_REQUEST without a request id");
		return false;
	}
	if (++greeting->records > MOST_RECORDS) {
		error_set(error, ERROR_INPUT, "more than %d management records", MOST_RECORDS);
		return false;
	}
	if (recv(fd, &record.header, sizeof(record.header), MSG_DONTWAIT) !=
	    sizeof(record.header)) {
		*step = GREETING_CLOSED;
		return false;
	}
	greeting->in_record = true;
	greeting->type = record.header.type;
	greeting->content_left = content_length(&record.header);
	greeting->padding_left = record.header.paddingLength;
	buffer_clear(&greeting->content);
	return true;
}

static bool answer_record(struct greeting *greeting, int fd, size_t workers, struct error *error)
{
	struct buffer answer = {0};
	bool answered = false;
	if (greeting_answer(greeting->type, greeting->content.data, greeting->content.length,
			    workers, &answer) != 0)
		error_set(error, ERROR_INPUT, "a malformed management record of type %d",
			  greeting->type);
	else
		answered = send_all(fd, answer.data, answer.length, error) == 0;
	buffer_free(&answer);
	greeting->in_record = false;
	return answered;
}

/* Inside a management record: take what there is of it, and answer at its end. True: go on reading.
 */
static bool take_record(struct greeting *greeting, int fd, size_t workers, enum greeting_step *step,
			struct error *error)
{
	unsigned char piece[4096];
	size_t left = greeting->content_left + greeting->padding_left;
	*step = GREETING_BROKEN;
	if (left == 0)
		return answer_record(greeting, fd, workers, error);
	ssize_t have = recv(fd, piece, left < sizeof(piece) ? left : sizeof(piece), MSG_DONTWAIT);
	if (have <= 0) {
		*step = have == -1 && errno == EAGAIN ? GREETING_WAITING : GREETING_CLOSED;
		return false;
	}
	size_t content =
	    (size_t)have < greeting->content_left ? (size_t)have : greeting->content_left;
	if (content > 0 && buffer_append(&greeting->content, piece, content) != 0) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return false;
	}
	greeting->content_left -= content;
	greeting->padding_left -= (size_t)have - content;
	return true;
}

enum greeting_step greeting_read(struct greeting *greeting, int fd, size_t workers,
				 struct error *error)
{
	enum greeting_step step;
	while (greeting->in_record ? take_record(greeting, fd, workers, &step, error)
				   : look_at_record(greeting, fd, &step, error))
		;
	return step;
}

void greeting_free(struct greeting *greeting)
{
	buffer_free(&greeting->content);
	*greeting = (struct greeting){0};
}
