/* SPDX-License-Identifier: ISC */
/*
 * One plain CGI request, for fronting scripts on web servers without FastCGI. A web server kills
 * its CGI child when the client hangs up; so the claim belongs to a child of that one, in a session
 * of its own, which finishes and settles in any case, while the process that the web server knows
 * only reads the request and relays the answer.
 */
#ifndef ONCEWRAP_WRAP_CGI_MODE_H
#define ONCEWRAP_WRAP_CGI_MODE_H

#include "broker/bell.h"
#include "config/config.h"

#include <stdbool.h>

/* Were we started as a CGI program (RFC 3875 4.1.4)? */
bool cgi_mode_is(void);

/* Serve the request of our environment and standard input by `handler`, ringing the bell (NULL:
 * none). The exit status: 0 whenever something was answered, since a web server would throw the
 * answer away. */
int cgi_mode_run(const struct config *config, const char *handler, struct bell *bell);

#endif
