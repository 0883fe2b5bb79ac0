/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/identity.h"

#include <string.h>

static void add_text(struct digest *digest, const char *text)
{
	digest_add_field(digest, text, strlen(text));
}

/* The word in front says how many fields follow, so that no two scopes give the same bytes. */
void identity_add_scope(struct digest *digest, const struct route *route,
			const struct identity *identity)
{
	/* What was only observed must not meet what is enforced later. */
	if (route->mode == ROUTE_OBSERVE)
		add_text(digest, "observe");
	switch (route->scope) {
	case SCOPE_TENANT:
		add_text(digest, "tenant");
		break;
	case SCOPE_ROUTE:
		add_text(digest, "route");
		add_text(digest, route->name);
		break;
	case SCOPE_METHOD_PATH:
		add_text(digest, "method+path");
		add_text(digest, identity->method);
		add_text(digest, identity->path);
		break;
	}
}

int identity_compute(const struct route *route, const struct identity *identity,
		     unsigned char id[DIGEST_LENGTH])
{
	struct digest *digest = digest_new();
	if (digest == NULL)
		return -1;
	digest_add_field(digest, identity->tenant, identity->tenant_length);
	identity_add_scope(digest, route, identity);
	digest_add_field(digest, identity->key, identity->key_length);
	digest_finish(digest, id);
	digest_free(digest);
	return 0;
}
