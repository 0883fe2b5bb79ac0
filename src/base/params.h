/* SPDX-License-Identifier: ISC */
/*
 * A request's parameters as the web server sent them (CGI names, RFC 3875 4.1): an ordered list of
 * NAME=VALUE, repeated names kept, since a repeated key must be seen to be refused (case C19).
 */
#ifndef ONCEWRAP_BASE_PARAMS_H
#define ONCEWRAP_BASE_PARAMS_H

#include <stddef.h>

struct params {
	const char *const
	    *entries; /* "NAME=VALUE", borrowed from the front end, alive for the request */
	size_t count;
};

/* A view of a NULL-terminated environment. */
struct params params_of(char *const *environment);

/* The value of the first entry of that name; NULL when there is none. */
const char *params_get(const struct params *params, const char *name);

/* As params_get, but an empty value counts as absent, as it must for every name that is not HTTP_*
 * (nginx sends empty strings where others send nothing). */
const char *params_get_filled(const struct params *params, const char *name);

/* How many entries have that name; and how many of them are not empty. */
size_t params_count(const struct params *params, const char *name);
size_t params_count_filled(const struct params *params, const char *name);

/* The parameter name of a request header: "Idempotency-Key" gives "HTTP_IDEMPOTENCY_KEY", and
 * "Content-Type" and "Content-Length" their own names (RFC 3875 4.1.18). -1 when `size` is too
 * small. */
int params_header_name(char *name, size_t size, const char *header);

#endif
