/* SPDX-License-Identifier: ISC */
/*
 * What a peer says before its request. Management records are answered here, since libfcgi answers
 * them late and into a buffer of 64 bytes that repeated names overflow; the request's first record
 * is looked at and left in the socket for libfcgi. Never blocks, so a peer that stalls holds nobody
 * up.
 */
#ifndef ONCEWRAP_WRAP_GREETING_H
#define ONCEWRAP_WRAP_GREETING_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum greeting_step {
	GREETING_WAITING, /* more bytes are wanted */
	GREETING_REQUEST, /* a request for a responder begins in the socket, all of its first record
			     there */
	GREETING_REFUSED, /* a request for another role: the peer has been told so; close, its
			     request unread */
	GREETING_CLOSED,  /* the peer has closed */
	GREETING_BROKEN,  /* this is not FastCGI, or not in order; *error says */
};

/* One peer's; starts as all zeros. */
struct greeting {
	/* private */
	bool in_record; /* the header of a management record has been taken */
	unsigned char type;
	struct buffer content;
	size_t content_left;
	size_t padding_left;
	unsigned records;
};

/* Read what is there. `workers` is told to a peer that asks how many connections we take. */
enum greeting_step greeting_read(struct greeting *greeting, int fd, size_t workers,
				 struct error *error) __attribute__((warn_unused_result));

void greeting_free(struct greeting *greeting);

/* The answer to one management record, header and all, appended to `out`. 0; -1 when the content is
 * malformed. */
int greeting_answer(unsigned char type, const unsigned char *content, size_t length, size_t workers,
		    struct buffer *out) __attribute__((warn_unused_result));

#endif
