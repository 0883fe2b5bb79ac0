/* SPDX-License-Identifier: ISC */
/*
 * A body that is read as a urlencoded form, whatever it is: pairs come sorted, its canonical form
 * is a form and its own canonical form, and what is said of one that is no form shows none of its
 * bytes.
 */
#include <config.h>

#include "idem/form.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/driver.h"

const char fuzz_corpus[] = "form";

static void require_clean(const struct error *why)
{
	require(why->kind == ERROR_INPUT || why->kind == ERROR_LIMIT);
	require(why->message[0] != '\0');
	for (const char *byte = why->message; *byte != '\0'; byte++)
		require(*byte >= 0x20 && *byte < 0x7f);
}

static void require_sorted(const struct form *form)
{
	for (size_t i = 1; i < form->count; i++) {
		const struct form_pair *one = &form->pairs[i - 1];
		const struct form_pair *other = &form->pairs[i];
		size_t shared =
		    one->name_length < other->name_length ? one->name_length : other->name_length;
		int order = memcmp(one->name, other->name, shared);
		require(order < 0 || (order == 0 && one->name_length <= other->name_length));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct form form, again;
	struct error why = {.kind = ERROR_NONE};
	if (form_parse(&form, data, size, &why) < 0) {
		require_clean(&why);
		return 0;
	}
	struct buffer canonical = {.limit = 0};
	struct buffer own = {.limit = 0};
	require_sorted(&form);
	require(form_canonical(&form, &canonical) == 0);
	require(form_parse(&again, canonical.data, canonical.length, &why) == 0);
	require(again.count == form.count);
	require(form_canonical(&again, &own) == 0);
	require(own.length == canonical.length &&
		(own.length == 0 || memcmp(own.data, canonical.data, own.length) == 0));
	buffer_free(&canonical);
	buffer_free(&own);
	form_free(&form);
	form_free(&again);
	return 0;
}
