/* SPDX-License-Identifier: ISC */
/* The id of a record: SHA-256 over length-prefixed tenant, scope and key. No text collation ever
 * decides. */
#ifndef ONCEWRAP_IDEM_IDENTITY_H
#define ONCEWRAP_IDEM_IDENTITY_H

#include "base/digest.h"
#include "config/route.h"

#include <stddef.h>

struct identity {
	const void *tenant;
	size_t tenant_length;
	const char *method; /* used only where the scope is method and path */
	const char *path;
	const void *key;
	size_t key_length;
};

/* 0, or -1 when out of memory. */
int identity_compute(const struct route *route, const struct identity *identity,
		     unsigned char id[DIGEST_LENGTH]);

/* Add what says where keys, and natural keys, meet within the tenant. */
void identity_add_scope(struct digest *digest, const struct route *route,
			const struct identity *identity);

#endif
