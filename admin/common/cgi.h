/* SPDX-License-Identifier: ISC */
/* A program that a web server has started to answer one request (RFC 3875): what is asked of it. */
#ifndef ONCEWRAP_ADMIN_CGI_H
#define ONCEWRAP_ADMIN_CGI_H

#include "base/error.h"

#include <stdbool.h>

/* Has a web server started us? */
bool cgi_is_asked(void);

/* May the arguments be the client's? Web servers make a query without "=" into them (RFC 3875
 * 4.4). */
bool cgi_arguments_are_foreign(void);

/* The value of a variable; "" where there is none. */
const char *cgi_variable(const char *name);

bool cgi_method_is(const char *name);

/* Hand on each "name=value" of the query, its escapes decoded, until one is refused. 0, or -1 with
 * *error. */
int cgi_query(int (*take)(void *context, const char *parameter, struct error *error), void *context,
	      struct error *error) __attribute__((warn_unused_result));

/* Take in the body of a request that has none that matters: a web server that reads our answer from
 * the same socket loses it when we end with something unread. */
void cgi_drain(void);

/* What stands behind a status in its line. */
const char *cgi_reason(int status);

#endif
