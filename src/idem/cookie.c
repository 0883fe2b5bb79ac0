/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/cookie.h"

#include <stdbool.h>
#include <string.h>

struct text {
	const char *start;
	size_t length;
};

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static struct text trimmed(struct text text)
{
	while (text.length > 0 && is_blank(*text.start)) {
		text.start++;
		text.length--;
	}
	while (text.length > 0 && is_blank(text.start[text.length - 1]))
		text.length--;
	return text;
}

/* Is this pair called `name`? Then *cookie is its value. */
static bool take_pair(struct text pair, const char *name, struct cookie *cookie)
{
	const char *equals = memchr(pair.start, '=', pair.length);
	if (equals == NULL)
		return false;
	size_t before = (size_t)(equals - pair.start);
	struct text found = trimmed((struct text){pair.start, before});
	if (found.length != strlen(name) || memcmp(found.start, name, found.length) != 0)
		return false;
	struct text value = trimmed((struct text){equals + 1, pair.length - before - 1});
	if (value.length >= 2 && value.start[0] == '"' && value.start[value.length - 1] == '"') {
		value.start++;
		value.length -= 2;
	}
	*cookie = (struct cookie){value.start, value.length};
	return true;
}

static size_t find_in_field(const char *field, const char *name, struct cookie *cookie)
{
	size_t count = 0;
	while (*field != '\0') {
		struct text pair = {field, strcspn(field, ";")};
		struct cookie found;
		if (take_pair(pair, name, &found) && count++ == 0)
			*cookie = found;
		field += pair.length + (field[pair.length] == ';');
	}
	return count;
}

size_t cookie_find(const struct params *params, const char *name, struct cookie *cookie)
{
	static const char field_name[] = "HTTP_COOKIE=";
	const size_t prefix = sizeof(field_name) - 1;
	size_t count = 0;
	for (size_t i = 0; i < params->count; i++) {
		if (strncmp(params->entries[i], field_name, prefix) != 0)
			continue;
		struct cookie found;
		size_t here = find_in_field(params->entries[i] + prefix, name, &found);
		if (here > 0 && count == 0)
			*cookie = found;
		count += here;
	}
	return count;
}
