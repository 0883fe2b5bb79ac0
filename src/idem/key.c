/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/key.h"

#include "base/encode.h"
#include "idem/source.h"
#include "idem/structured.h"

#include <inttypes.h>
#include <string.h>

static int refuse(struct error *why, const char *rule)
{
	error_set(why, ERROR_INPUT, "%s", rule);
	return -1;
}

static int take_bare(const char *value, size_t length, struct buffer *key, struct error *why)
{
	/* web servers join repeated headers with a comma (case C19) */
	if (memchr(value, ',', length) != NULL)
		return refuse(why, "a key without quotes may not hold a comma, which stands for a "
				   "header sent twice");
	buffer_append(key, value, length);
	return 0;
}

static int take_value(const struct route *route, const char *value, size_t length,
		      struct buffer *key, struct error *why)
{
	bool quoted = length > 0 && value[0] == '"';
	switch (route->key_syntax) {
	case KEY_SYNTAX_STRUCTURED:
		return structured_string(value, length, key, why);
	case KEY_SYNTAX_RAW:
		return take_bare(value, length, key, why);
	case KEY_SYNTAX_ANY:
		break;
	}
	return quoted ? structured_string(value, length, key, why)
		      : take_bare(value, length, key, why);
}

/* By ranges and not by the locale, so that every host and every release decides alike. */
static bool is_printable(uint32_t code)
{
	bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
	bool separator = code == 0x2028 || code == 0x2029;
	bool noncharacter = (code >= 0xfdd0 && code <= 0xfdef) || (code & 0xfffe) == 0xfffe;
	return !control && !separator && !noncharacter;
}

static int count_ascii(const struct buffer *key, size_t *characters, struct error *why)
{
	for (size_t i = 0; i < key->length; i++)
		if (key->data[i] < 0x20 || key->data[i] > 0x7e)
			return refuse(why, "the key may hold printable ASCII only");
	*characters = key->length;
	return 0;
}

static int count_utf8(const struct buffer *key, size_t *characters, struct error *why)
{
	*characters = 0;
	for (size_t at = 0, size; at < key->length; at += size, ++*characters) {
		uint32_t code;
		size = utf8_next(key->data + at, key->length - at, &code);
		if (size == 0)
			return refuse(why, "the key is not valid UTF-8");
		if (!is_printable(code))
			return refuse(why, "the key may hold printable characters only");
	}
	return 0;
}

static int check_key(const struct route *route, const struct buffer *key, struct error *why)
{
	size_t characters = 0;
	int counted = route->key_charset == KEY_CHARSET_UTF8 ? count_utf8(key, &characters, why)
							     : count_ascii(key, &characters, why);
	if (counted < 0)
		return -1;
	if (characters == 0)
		return refuse(why, "the key is empty");
	if ((int64_t)characters < route->key_min_length) {
		error_set(why, ERROR_LIMIT,
			  "the key has %zu character%s, fewer than the %" PRId64 " required",
			  characters, characters == 1 ? "" : "s", route->key_min_length);
		return -1;
	}
	if ((int64_t)characters > route->key_max_length) {
		error_set(why, ERROR_LIMIT,
			  "the key has %zu characters, more than the %" PRId64 " allowed",
			  characters, route->key_max_length);
		return -1;
	}
	return 0;
}

/* What was put into *key, if it could be (result), is the key or nothing. */
static enum key_result finish_key(const struct route *route, int result, struct buffer *key,
				  struct error *why)
{
	if (result == 0 && key->failed) {
		error_set(why, ERROR_MEMORY, "out of memory for the key");
		result = -1;
	}
	if (result == 0 && check_key(route, key, why) == 0)
		return KEY_FOUND;
	buffer_clear(key);
	return KEY_INVALID;
}

enum key_result key_parse(const struct route *route, const char *value, struct buffer *key,
			  struct error *why)
{
	buffer_clear(key);
	value += strspn(value, " \t");
	size_t length = strlen(value);
	while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
		length--;
	int result = length > 0 ? take_value(route, value, length, key, why)
				: refuse(why, "the key is empty");
	return finish_key(route, result, key, why);
}

enum key_result key_take(const struct route *route, const void *value, size_t length,
			 struct buffer *key, struct error *why)
{
	buffer_clear(key);
	buffer_append(key, value, length);
	return finish_key(route, 0, key, why);
}

/* Syntax is a matter of header fields, and of variables, which web servers make from them. */
static bool has_syntax(enum source_kind kind)
{
	return kind == SOURCE_HEADER || kind == SOURCE_ENV;
}

enum key_result key_read(const struct route *route, const struct params *params,
			 struct document *document, struct buffer *key, struct error *why)
{
	buffer_clear(key);
	for (size_t i = 0; i < route->key_sources.count; i++) {
		const struct source *source = &route->key_sources.items[i];
		struct source_value value;
		enum source_presence presence = source_read(source, params, document, &value);
		if (presence == SOURCE_ABSENT)
			continue;
		if (presence != SOURCE_PRESENT) {
			source_explain(source, presence, document, why);
			return KEY_INVALID;
		}
		enum key_result result = has_syntax(source->kind)
					     ? key_parse(route, value.data, key, why)
					     : key_take(route, value.data, value.length, key, why);
		if (result == KEY_INVALID)
			error_prefix(why, "%s %s", source_kind_name(source->kind), source->name);
		return result;
	}
	return KEY_ABSENT;
}
