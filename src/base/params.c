/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/params.h"

#include <string.h>

struct params params_of(char *const *environment)
{
	struct params params = {.entries = (const char *const *)environment};
	while (environment[params.count] != NULL)
		params.count++;
	return params;
}

/* The value in `entry` when its name is `name`, else NULL. */
static const char *value_of(const char *entry, const char *name)
{
	while (*name != '\0' && *entry == *name) {
		entry++;
		name++;
	}
	return *name == '\0' && *entry == '=' ? entry + 1 : NULL;
}

const char *params_get(const struct params *params, const char *name)
{
	for (size_t i = 0; i < params->count; i++) {
		const char *value = value_of(params->entries[i], name);
		if (value != NULL)
			return value;
	}
	return NULL;
}

const char *params_get_filled(const struct params *params, const char *name)
{
	for (size_t i = 0; i < params->count; i++) {
		const char *value = value_of(params->entries[i], name);
		if (value != NULL && *value != '\0')
			return value;
	}
	return NULL;
}

size_t params_count(const struct params *params, const char *name)
{
	size_t count = 0;
	for (size_t i = 0; i < params->count; i++)
		count += value_of(params->entries[i], name) != NULL;
	return count;
}

size_t params_count_filled(const struct params *params, const char *name)
{
	size_t count = 0;
	for (size_t i = 0; i < params->count; i++) {
		const char *value = value_of(params->entries[i], name);
		count += value != NULL && *value != '\0';
	}
	return count;
}

static char parameter_character(char character)
{
	if (character >= 'a' && character <= 'z')
		return (char)(character - 'a' + 'A');
	if ((character >= 'A' && character <= 'Z') || (character >= '0' && character <= '9'))
		return character;
	return '_';
}

int params_header_name(char *name, size_t size, const char *header)
{
	static const char prefix[] = "HTTP_";
	const size_t prefix_length = sizeof(prefix) - 1;
	size_t length = strlen(header);
	if (length >= size || size - length <= prefix_length)
		return -1;
	memcpy(name, prefix, prefix_length);
	char *own = name + prefix_length;
	for (size_t i = 0; i <= length; i++)
		own[i] = header[i] == '\0' ? '\0' : parameter_character(header[i]);
	if (strcmp(own, "CONTENT_TYPE") == 0 || strcmp(own, "CONTENT_LENGTH") == 0)
		memmove(name, own, length + 1);
	return 0;
}
