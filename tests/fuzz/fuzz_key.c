/* SPDX-License-Identifier: ISC */
/*
 * A key's header, whatever is in it: a key that is found is one that the route allows, and what is
 * said of one that is not shows none of its bytes. The first byte of the input says by which rules.
 */
#include <config.h>

#include "idem/key.h"

#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "tests/fuzz/driver.h"

const char fuzz_corpus[] = "key";

static struct route route_of(uint8_t rules)
{
	static const enum route_key_syntax syntaxes[] = {KEY_SYNTAX_ANY, KEY_SYNTAX_RAW,
							 KEY_SYNTAX_STRUCTURED, KEY_SYNTAX_ANY};
	return (struct route){
	    .key_syntax = syntaxes[rules & 3],
	    .key_charset = rules & 4 ? KEY_CHARSET_UTF8 : KEY_CHARSET_ASCII,
	    .key_min_length = rules & 8 ? 4 : 1,
	    .key_max_length = rules & 16 ? 16 : 255,
	};
}

static void require_allowed(const struct route *route, const struct buffer *key)
{
	int64_t characters = 0;
	uint32_t code = 0;
	for (size_t at = 0, size; at < key->length; at += size, characters++) {
		size = utf8_next(key->data + at, key->length - at, &code);
		require(size > 0);
		require(code >= 0x20 && code != 0x7f);
		require(route->key_charset == KEY_CHARSET_UTF8 || code < 0x7f);
	}
	require(characters >= route->key_min_length && characters <= route->key_max_length);
}

/* The reason is one of our own sentences. */
static void require_clean(const struct error *why)
{
	require(why->message[0] != '\0');
	for (const char *byte = why->message; *byte != '\0'; byte++)
		require(*byte >= 0x20 && *byte < 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct route route = route_of(data[0]);
	char *value =
	    strndup((const char *)data + 1, size - 1); /* up to a NUL, as a parameter is */
	require(value != NULL);
	struct buffer key = {0};
	struct error why = {0};
	switch (key_parse(&route, value, &key, &why)) {
	case KEY_FOUND:
		require_allowed(&route, &key);
		break;
	case KEY_INVALID:
		require_clean(&why);
		require(key.length == 0);
		break;
	case KEY_ABSENT:
		abort(); /* a value that is there is a key or is none */
	}
	buffer_free(&key);
	free(value);
	return 0;
}
