/* SPDX-License-Identifier: ISC */
/*
 * Values of a request that together say "the same business operation" although the key differs
 * (docs/design.md section 9). Their id is SHA-256 over length-prefixed tenant, scope and values.
 */
#ifndef ONCEWRAP_IDEM_NATURAL_KEY_H
#define ONCEWRAP_IDEM_NATURAL_KEY_H

#include "base/digest.h"
#include "base/error.h"
#include "idem/identity.h"
#include "idem/source.h"

enum natural_key_result {
	NATURAL_KEY_FOUND,
	NATURAL_KEY_ABSENT, /* the route has none, or the request lacks a value: *why then says
			       which */
	NATURAL_KEY_FAILED, /* out of memory */
};

/* `identity` for tenant, method and path; its key is not looked at. Blanks around a value are no
 * part of it. One that is then empty, is repeated, is no text, or stands in a body that is not what
 * it claims counts as lacking. `id` is filled only with FOUND. */
enum natural_key_result natural_key_compute(const struct route *route,
					    const struct identity *identity,
					    const struct params *params, struct document *document,
					    unsigned char id[DIGEST_LENGTH], struct error *why);

#endif
