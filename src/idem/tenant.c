/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/tenant.h"

#include "base/digest.h"
#include "base/encode.h"
#include "idem/source.h"

#include <string.h>

enum {
	DIGEST_SHOWN =
	    16, /* bytes of SHA-256 in a tenant's text: 128 bits keep two tenants apart */
};

_Static_assert(sizeof("header:=") + SOURCE_MAX_NAME + 2 * DIGEST_SHOWN <= TENANT_MAX_LENGTH,
	       "a digest under the longest name fits the column");

static void put_digest(struct buffer *tenant, const struct source *source,
		       const struct source_value *value)
{
	unsigned char digest[DIGEST_LENGTH];
	char hex[2 * DIGEST_SHOWN + 1];
	digest_of(value->data, value->length, digest);
	encode_hex(hex, digest, DIGEST_SHOWN);

	buffer_printf(tenant, "%s:", source_kind_name(source->kind));
	for (const char *next = source->name; *next != '\0'; next++) {
		bool upper = source->kind == SOURCE_HEADER && *next >= 'A' && *next <= 'Z';
		buffer_append_byte(tenant, (unsigned char)(upper ? *next - 'A' + 'a' : *next));
	}
	buffer_printf(tenant, "=%s", hex);
}

/* Does a plain value look like what put_digest writes, for any source? */
static bool looks_digested(const char *value)
{
	return strncmp(value, "header:", strlen("header:")) == 0 ||
	       strncmp(value, "env:", strlen("env:")) == 0;
}

static void put_tenant(struct buffer *tenant, const struct source *source,
		       const struct source_value *value)
{
	bool plain = source->kind == SOURCE_LITERAL ||
		     (source->kind == SOURCE_ENV && !looks_digested(value->data) &&
		      value->length <= TENANT_MAX_LENGTH);
	if (plain)
		buffer_append(tenant, value->data, value->length);
	else
		put_digest(tenant, source, value);
}

static void explain_missing(const struct route *route, struct error *why)
{
	error_set(why, ERROR_INPUT, "the request names no tenant");
	for (size_t i = 0; i < route->tenant_sources.count; i++) {
		const struct source *source = &route->tenant_sources.items[i];
		error_set(why, ERROR_INPUT, "%s%s %s %s", why->message,
			  i == 0 ? ", looked for in" : " and", source_kind_name(source->kind),
			  source->name);
	}
}

enum tenant_result tenant_read(const struct route *route, const struct params *params,
			       struct buffer *tenant, struct error *why)
{
	buffer_clear(tenant);
	for (size_t i = 0; i < route->tenant_sources.count; i++) {
		const struct source *source = &route->tenant_sources.items[i];
		struct source_value value;
		/* the sources of a tenant do not look into the body */
		enum source_presence presence = source_read(source, params, NULL, &value);
		if (presence == SOURCE_REPEATED) {
			error_set(why, ERROR_INPUT, "%s %s is given more than once",
				  source_kind_name(source->kind), source->name);
			return TENANT_MISSING;
		}
		if (presence != SOURCE_PRESENT || value.length == 0)
			continue;
		put_tenant(tenant, source, &value);
		if (!tenant->failed)
			return TENANT_FOUND;
		buffer_clear(tenant);
		error_set(why, ERROR_MEMORY, "out of memory for the tenant");
		return TENANT_MISSING;
	}
	if (route->tenant_missing == TENANT_ANONYMOUS)
		return TENANT_FOUND;
	explain_missing(route, why);
	return TENANT_MISSING;
}
