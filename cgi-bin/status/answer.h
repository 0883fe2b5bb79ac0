/* SPDX-License-Identifier: ISC */
/* What goes back to the web server: the header fields (RFC 3875 6.3) and the body. */
#ifndef ONCEWRAP_STATUS_ANSWER_H
#define ONCEWRAP_STATUS_ANSWER_H

#include "base/buffer.h"
#include "cgi-bin/status/request.h"

/* `head`: without the body, which all the same counts for its length. */
void answer_page(struct buffer *out, int status, enum status_format format,
		 const struct buffer *body, bool head);

/* A line of text. */
void answer_line(struct buffer *out, int status, const char *line, bool head);

#endif
