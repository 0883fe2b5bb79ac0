/* SPDX-License-Identifier: ISC */
/*
 * One FastCGI request on a connection of ours, by way of libfcgi; the one module that knows that
 * library's insides. It adds what the library lacks: deadlines, a descriptor that stays ours, and
 * an end that tells a whole input from a cut one.
 */
#ifndef ONCEWRAP_WRAP_FCGI_H
#define ONCEWRAP_WRAP_FCGI_H

#include "base/error.h"
#include "base/params.h"
#include "broker/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fcgi;

struct fcgi_limits {
	int64_t request_timeout; /* ms for the peer to deliver a request, to the end of its body */
	int64_t reply_timeout;   /* ms that may be spent waiting for the peer to take the reply */
};

/* One a process, which takes SIGALRM and its timer, and the library's own choice for SIGPIPE,
 * SIGUSR1 and SIGTERM: set yours afterwards. NULL with *error. */
struct fcgi *fcgi_new(const struct fcgi_limits *limits, struct error *error);
void fcgi_free(struct fcgi *fcgi);

/* Take `fd` over, in which a request begins, and read its parameters (valid to fcgi_end). 0; or -1
 * with *error, the connection closed. */
int fcgi_begin(struct fcgi *fcgi, int fd, struct params *params, struct error *error)
    __attribute__((warn_unused_result));

/* The next bytes of the body; less than `size` at its end. */
size_t fcgi_read(struct fcgi *fcgi, void *data, size_t size);

/* No more is read. Did the body end as it should, and in time? Else *error says, and the peer is
 * owed no answer and gets none. */
bool fcgi_read_end(struct fcgi *fcgi, struct error *error);

/* Valid as long as `fcgi`, for the request in hand, after fcgi_read_end. Its descriptor becomes
 * readable when the peer aborts the request or closes. */
const struct reply *fcgi_reply(struct fcgi *fcgi);

/* Hand on what is left, end the request with this appStatus, and close the connection, whether or
 * not the peer asked to keep it: a kept idle connection would pin this process, and every web
 * server copes. */
void fcgi_end(struct fcgi *fcgi, int app_status);

#endif
