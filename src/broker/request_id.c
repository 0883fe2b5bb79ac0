/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/request_id.h"

#include <stdbool.h>
#include <string.h>

#include "base/digest.h"
#include "base/encode.h"
#include "idem/source.h"

enum { MADE_LENGTH = 16 };

_Static_assert(2 * MADE_LENGTH < REQUEST_ID_SIZE, "one made here fits");

/* What mod_unique_id, nginx, UUIDs, base64 and the tracing headers of clouds are written in. No
 * comma, by which web servers join a field that was sent twice: which one is meant cannot be known.
 */
static bool is_good(const struct source_value *value)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789-_.~@+/=:";
	if (value->length == 0 || value->length >= REQUEST_ID_SIZE)
		return false;
	for (size_t i = 0; i < value->length; i++)
		if (memchr(letters, value->data[i], sizeof(letters) - 1) == NULL)
			return false;
	return true;
}

void request_id_choose(char id[REQUEST_ID_SIZE], const struct source_list *sources,
		       const struct params *params)
{
	for (size_t i = 0; i < sources->count; i++) {
		struct source_value value;
		if (source_read(&sources->items[i], params, NULL, &value) != SOURCE_PRESENT ||
		    !is_good(&value))
			continue;
		memcpy(id, value.data, value.length);
		id[value.length] = '\0';
		return;
	}
	unsigned char made[MADE_LENGTH];
	id[0] = '\0';
	if (random_bytes(made, sizeof(made)) == 0)
		encode_hex(id, made, sizeof(made));
}
