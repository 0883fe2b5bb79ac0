/* SPDX-License-Identifier: ISC */
/*
 * The environment of a handler, built from scratch: CGI names (RFC 3875 4.1), clean HTTP_* of the
 * request, the site's own parameters, the configured pass-through of our own environment, and what
 * oncewrap adds. Of what a web server sends, never HTTP_PROXY, LD_*, BASH_ENV and their kind, nor a
 * name outside [A-Z_][A-Z0-9_]* (case C50; the list is in environment.c).
 */
#ifndef ONCEWRAP_HANDLER_ENVIRONMENT_H
#define ONCEWRAP_HANDLER_ENVIRONMENT_H

#include "base/params.h"
#include "config/route.h"
#include "handler/script.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct environment {
	char **entries; /* NULL-terminated, for execve; owned, as are the strings */
	size_t count;
	size_t capacity;
	bool failed; /* out of memory: stays set, so that one look at the end will do */
};

/*
 * `body_length` is what was really received: CONTENT_LENGTH says that, HTTP_CONTENT_LENGTH and
 * HTTP_TRANSFER_ENCODING go. CONTENT_LENGTH is left out only for a request that had no body and no
 * Content-Length header. Of a repeated HTTP_* name all values are kept, joined by a comma and a
 * blank (RFC 3875 4.1.18), or a semicolon and a blank for HTTP_COOKIE (RFC 9113 8.2.3); of any
 * other repeated name the first that is not empty, as params_get_filled has it.
 * 0, or -1 when out of memory; free in either case.
 */
int environment_build(struct environment *environment, const struct params *params,
		      const struct script *script, uint64_t body_length,
		      const struct string_list *passed);

/* Add or replace NAME=VALUE (ONCE_*). */
int environment_add(struct environment *environment, const char *name, const char *value);

void environment_free(struct environment *environment);

#endif
