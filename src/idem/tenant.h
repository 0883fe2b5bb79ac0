/* SPDX-License-Identifier: ISC */
/* On whose behalf a request comes. What a header says is a secret: only its digest is kept. */
#ifndef ONCEWRAP_IDEM_TENANT_H
#define ONCEWRAP_IDEM_TENANT_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/params.h"
#include "config/route.h"

/* Longest tenant text, the column's width. */
#define TENANT_MAX_LENGTH 255

enum tenant_result {
	TENANT_FOUND,   /* named in *tenant; empty for anonymous, where the route allows that */
	TENANT_MISSING, /* *why says where it was looked for, or what came more than once */
};

/*
 * The tenant's text by the first source that is present and not empty: `literal:x` and `env:X` as
 * they stand (one space of names: alice by the one is alice by the other), `header:X` as
 * "header:x=", the name in lower case so that respelling it in the configuration moves nobody, and
 * 32 hex digits of its SHA-256. An environment value that could be mistaken for such a digest, or
 * is too long for the column, is made a digest too ("env:X=..."), so that no two tenants meet. A
 * source given twice is refused also where tenants are optional: whose request it is, is not ours
 * to guess.
 */
enum tenant_result tenant_read(const struct route *route, const struct params *params,
			       struct buffer *tenant, struct error *why);

#endif
