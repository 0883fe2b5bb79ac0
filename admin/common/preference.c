/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/preference.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t"

struct span {
	const char *start;
	size_t length;
};

struct range {
	struct span type, subtype, version;
	int weight; /* thousandths */
};

static bool is(struct span span, const char *text)
{
	return span.length == strlen(text) && strncasecmp(span.start, text, span.length) == 0;
}

static struct span trim(const char *start, const char *end)
{
	while (start < end && strchr(BLANKS, *start) != NULL)
		start++;
	while (end > start && strchr(BLANKS, end[-1]) != NULL)
		end--;
	return (struct span){start, (size_t)(end - start)};
}

/* Cut off what stands before the next `separator`, which a quoted string may hold. False at the
 * end. */
static bool next_part(struct span *rest, char separator, struct span *part)
{
	bool quoted = false;
	size_t length = 0;
	if (rest->start == NULL)
		return false;
	for (; length < rest->length && (quoted || rest->start[length] != separator); length++)
		quoted = quoted != (rest->start[length] == '"');
	*part = trim(rest->start, rest->start + length);
	if (length == rest->length)
		rest->start = NULL;
	else
		*rest = (struct span){rest->start + length + 1, rest->length - length - 1};
	return true;
}

/* "0.75" in thousandths (RFC 9110 12.4.2); what is none likes nothing. */
static int weight_of(struct span text)
{
	int weight = 0, scale = 1000;
	for (size_t i = 0; i < text.length; i++) {
		if (i == 1 && text.start[i] == '.')
			continue;
		if (text.start[i] < '0' || text.start[i] > '9' || scale == 0)
			return 0;
		weight += (text.start[i] - '0') * scale;
		scale /= 10;
	}
	return weight <= 1000 ? weight : 0;
}

static struct span unquote(struct span value)
{
	if (value.length >= 2 && value.start[0] == '"' && value.start[value.length - 1] == '"')
		return (struct span){value.start + 1, value.length - 2};
	return value;
}

static void take_parameter(struct range *range, struct span parameter)
{
	const char *equals = memchr(parameter.start, '=', parameter.length);
	if (equals == NULL)
		return;
	struct span name = trim(parameter.start, equals);
	struct span value = unquote(trim(equals + 1, parameter.start + parameter.length));
	if (is(name, "q"))
		range->weight = weight_of(value);
	else if (is(name, "version"))
		range->version = value;
}

static bool parse_range(struct span text, struct range *range)
{
	struct span part;
	*range = (struct range){.weight = 1000};
	if (!next_part(&text, ';', &part))
		return false;
	const char *slash = memchr(part.start, '/', part.length);
	if (slash == NULL)
		return false;
	range->type = trim(part.start, slash);
	range->subtype = trim(slash + 1, part.start + part.length);
	while (next_part(&text, ';', &part))
		take_parameter(range, part);
	return true;
}

static enum preference_precision precision_of(const struct range *range,
					      const struct media_type *type)
{
	if (is(range->type, "*"))
		return is(range->subtype, "*") ? PREFERENCE_BY_ANYTHING : PREFERENCE_NOT_AT_ALL;
	if (!is(range->type, type->type))
		return PREFERENCE_NOT_AT_ALL;
	if (is(range->subtype, "*"))
		return PREFERENCE_BY_TYPE;
	if (!is(range->subtype, type->subtype))
		return PREFERENCE_NOT_AT_ALL;
	if (range->version.start == NULL || type->version == NULL)
		return PREFERENCE_BY_NAME;
	return is(range->version, type->version) ? PREFERENCE_BY_VERSION : PREFERENCE_NOT_AT_ALL;
}

struct preference preference_of(const char *accept, const struct media_type *type)
{
	struct preference found = {0};
	struct span rest = {accept, accept != NULL ? strlen(accept) : 0}, part;
	struct range range;
	while (next_part(&rest, ',', &part)) {
		enum preference_precision precision =
		    parse_range(part, &range) ? precision_of(&range, type) : PREFERENCE_NOT_AT_ALL;
		if (precision > found.precision)
			found = (struct preference){precision, range.weight};
	}
	return found;
}
