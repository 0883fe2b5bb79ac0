/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/natural_key.h"

/* The value of one source, without blanks around it. An empty one lacks: two operations that leave
 * it empty are not therefore one. */
static enum natural_key_result read_value(const struct source *source, const struct params *params,
					  struct document *document, struct source_value *value,
					  struct error *why)
{
	enum source_presence presence = source_read(source, params, document, value);
	if (presence != SOURCE_PRESENT) {
		source_explain(source, presence, document, why);
		return presence == SOURCE_FAILED ? NATURAL_KEY_FAILED : NATURAL_KEY_ABSENT;
	}
	while (value->length > 0 && (*value->data == ' ' || *value->data == '\t')) {
		value->data++;
		value->length--;
	}
	while (value->length > 0 &&
	       (value->data[value->length - 1] == ' ' || value->data[value->length - 1] == '\t'))
		value->length--;
	if (value->length > 0)
		return NATURAL_KEY_FOUND;
	error_set(why, ERROR_INPUT, "%s %s: it is empty", source_kind_name(source->kind),
		  source->name);
	return NATURAL_KEY_ABSENT;
}

enum natural_key_result natural_key_compute(const struct route *route,
					    const struct identity *identity,
					    const struct params *params, struct document *document,
					    unsigned char id[DIGEST_LENGTH], struct error *why)
{
	if (route->natural_values.count == 0) {
		error_set(why, ERROR_INPUT, "the route has no natural key");
		return NATURAL_KEY_ABSENT;
	}
	struct digest *digest = digest_new();
	if (digest == NULL) {
		error_set(why, ERROR_MEMORY, "out of memory for a natural key");
		return NATURAL_KEY_FAILED;
	}
	enum natural_key_result result = NATURAL_KEY_FOUND;
	digest_add_field(digest, identity->tenant, identity->tenant_length);
	identity_add_scope(digest, route, identity);
	for (size_t i = 0; i < route->natural_values.count && result == NATURAL_KEY_FOUND; i++) {
		struct source_value value;
		result = read_value(&route->natural_values.items[i], params, document, &value, why);
		if (result == NATURAL_KEY_FOUND)
			digest_add_field(digest, value.data, value.length);
	}
	if (result == NATURAL_KEY_FOUND)
		digest_finish(digest, id);
	digest_free(digest);
	return result;
}
