/* SPDX-License-Identifier: ISC */
/*
 * A handler's answer, parsed as it comes (RFC 3875 section 6): header block up to the first empty
 * line, LF and CRLF mixed; then the body, which is not kept here. Any split of the input gives the
 * same result.
 *
 * Well-formed means: at least one field and at most CGI_RESPONSE_MAX_FIELDS; every line a token, a
 * colon and a value without control bytes (RFC 9110 5.1, 5.5); no continuation lines; one `Status`
 * at most, of three digits 100 to 599; `Content-Length` a number, and only one; at most
 * max_header_bytes up to and with the empty line; no `HTTP/` first line. Without `Status`: 302
 * where a Location is there, else 200. Hop-by-hop fields, those that a `Connection` nominates,
 * Content-Length, Status and all fields whose names begin with `Once-` do not enter `headers`;
 * repeated fields keep order and number. An Once-* field that is not understood, or stands there
 * twice, says nothing and spoils nothing.
 */
#ifndef ONCEWRAP_HANDLER_CGI_RESPONSE_H
#define ONCEWRAP_HANDLER_CGI_RESPONSE_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGI_RESPONSE_MAX_FIELDS 128

/* How much of a malformed answer is kept for the log. */
#define CGI_RESPONSE_FIRST_BYTES 256

/* What a handler says of its own outcome by `Once-Outcome`, any case (docs/design.md section 6). */
enum once_outcome {
	ONCE_OUTCOME_NONE, /* nothing: its status and its exit decide */
	ONCE_OUTCOME_STORE,
	ONCE_OUTCOME_RELEASE,
	ONCE_OUTCOME_UNKNOWN,
};

/* Longest Once-Reference, the column's width. */
#define ONCE_REFERENCE_LENGTH 1024

enum cgi_response_state {
	CGI_RESPONSE_HEADERS, /* more header bytes are wanted */
	CGI_RESPONSE_BODY,    /* header block complete and good; everything from here on is body */
	CGI_RESPONSE_MALFORMED, /* never becomes good again; `error` says why */
};

struct cgi_response {
	enum cgi_response_state state;
	int status;             /* valid from CGI_RESPONSE_BODY on */
	char reason[64];        /* text after the status, cut to fit; "": none was given */
	struct buffer headers;  /* "Name: value\r\n" lines that stay, in order */
	int64_t content_length; /* what the handler declared; -1: nothing */
	enum once_outcome outcome;
	int64_t once_retention;       /* ms, any number; -1: not said */
	struct buffer once_reference; /* printable UTF-8; "": not said */
	struct error once_trouble;    /* an Once-* field that was not understood, and ignored; for
					 the log */
	struct buffer first_bytes;    /* the start of a malformed answer, for the log line */
	struct error error;
	/* private from here */
	struct buffer line;      /* the line that has not ended yet */
	struct buffer nominated; /* what Connection fields list, a comma behind each */
	size_t block_length;     /* bytes of the header block so far */
	size_t max_header_bytes;
	size_t field_count;
	unsigned once_seen; /* which Once-* fields, a bit each */
	bool has_status, has_location;
};

void cgi_response_init(struct cgi_response *response, size_t max_header_bytes);

/* Take in output; returns how many of the bytes belong to the header block (all, while state is
 * CGI_RESPONSE_HEADERS or MALFORMED). What is left is body. */
size_t cgi_response_feed(struct cgi_response *response, const void *data, size_t length);

/* The output has ended: in the middle of the header block, or before it, is malformed. */
void cgi_response_end(struct cgi_response *response);

void cgi_response_free(struct cgi_response *response);

/* Is `name` (length bytes) a field that belongs to one connection only (RFC 9110 7.6.1)? */
bool header_is_hop_by_hop(const char *name, size_t length);

#endif
