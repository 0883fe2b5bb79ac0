/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/fingerprint.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* In front of every scheme; another number when the same words begin to mean other bytes. */
#define SCHEME_VERSION "1"

struct text {
	const char *start;
	size_t length;
};

static struct text method_of(const struct fingerprint_source *source)
{
	return (struct text){source->method, strlen(source->method)};
}

static struct text path_of(const struct fingerprint_source *source)
{
	return (struct text){source->path, strlen(source->path)};
}

static struct text query_of(const struct fingerprint_source *source)
{
	return (struct text){source->query, strlen(source->query)};
}

/* Blanks around a field's value are not part of it (RFC 9110 5.5), and not every web server removes
 * them. The rest counts as sent: a client that retries does not respell its media type. */
static struct text content_type_of(const struct fingerprint_source *source)
{
	const char *start = source->content_type + strspn(source->content_type, " \t");
	size_t length = strlen(start);
	while (length > 0 && (start[length - 1] == ' ' || start[length - 1] == '\t'))
		length--;
	return (struct text){start, length};
}

static struct text body_of(const struct fingerprint_source *source)
{
	return (struct text){(const char *)source->body_digest, DIGEST_LENGTH};
}

static const struct part {
	const char *word; /* in the scheme */
	enum fingerprint_part bit;
	struct text (*value)(const struct fingerprint_source *source);
} all_parts[FINGERPRINT_PARTS] = {
    {"method", FINGERPRINT_METHOD, method_of},
    {"path", FINGERPRINT_PATH, path_of},
    {"query", FINGERPRINT_QUERY, query_of},
    {"content-type", FINGERPRINT_CONTENT_TYPE, content_type_of},
    {"body", FINGERPRINT_BODY, body_of},
};

/* The scheme's next word; its length is 0 at the end. Words stand apart by single spaces. */
static struct text next_word(const char **scheme)
{
	struct text word = {*scheme, strcspn(*scheme, " ")};
	*scheme += word.length;
	if (**scheme == ' ')
		(*scheme)++;
	return word;
}

static const struct part *find_part(struct text word)
{
	for (size_t i = 0; i < FINGERPRINT_PARTS; i++) {
		const char *known = all_parts[i].word;
		if (strlen(known) == word.length && memcmp(known, word.start, word.length) == 0)
			return &all_parts[i];
	}
	return NULL;
}

/* The parts a scheme names, in its order; -1 when this build does not know it. A word may stand
 * once. */
static int parse_scheme(const char *scheme, const struct part *parts[FINGERPRINT_PARTS])
{
	struct text version = next_word(&scheme);
	if (version.length != strlen(SCHEME_VERSION) ||
	    memcmp(version.start, SCHEME_VERSION, version.length) != 0)
		return -1;
	int count = 0;
	int seen = 0;
	while (*scheme != '\0') {
		const struct part *part = find_part(next_word(&scheme));
		if (part == NULL || (seen & (int)part->bit) != 0)
			return -1;
		seen |= (int)part->bit;
		parts[count++] = part;
	}
	return count;
}

static void short_digest(const struct part *part, struct text value,
			 unsigned char out[FINGERPRINT_PART_LENGTH])
{
	unsigned char whole[DIGEST_LENGTH];
	if (part->bit == FINGERPRINT_BODY) {
		memcpy(out, value.start, FINGERPRINT_PART_LENGTH); /* is a digest already */
		return;
	}
	digest_of(value.start, value.length, whole);
	memcpy(out, whole, FINGERPRINT_PART_LENGTH);
}

int fingerprint_make(const struct route *route, const struct fingerprint_source *source,
		     struct fingerprint *out)
{
	char scheme[FINGERPRINT_SCHEME_LENGTH] = SCHEME_VERSION;
	size_t length = strlen(scheme);
	for (size_t i = 0; i < FINGERPRINT_PARTS; i++)
		if ((route->fingerprint_parts & (int64_t)all_parts[i].bit) != 0)
			length += (size_t)snprintf(scheme + length, sizeof(scheme) - length, " %s",
						   all_parts[i].word);
	return fingerprint_by_scheme(scheme, source, out);
}

int fingerprint_by_scheme(const char *scheme, const struct fingerprint_source *source,
			  struct fingerprint *out)
{
	const struct part *parts[FINGERPRINT_PARTS];
	int count = parse_scheme(scheme, parts);
	size_t scheme_length = strlen(scheme);
	if (count < 0 || scheme_length >= sizeof(out->scheme))
		return -1;
	struct digest *digest = digest_new();
	if (digest == NULL)
		return -1;
	memcpy(out->scheme, scheme, scheme_length + 1);
	out->parts_length = (size_t)count * FINGERPRINT_PART_LENGTH;
	digest_add_field(digest, scheme, scheme_length);
	for (int i = 0; i < count; i++) {
		struct text value = parts[i]->value(source);
		digest_add_field(digest, value.start, value.length);
		short_digest(parts[i], value, out->parts + (size_t)i * FINGERPRINT_PART_LENGTH);
	}
	digest_finish(digest, out->digest);
	digest_free(digest);
	return 0;
}

size_t fingerprint_difference(const struct fingerprint *ours, const char *scheme,
			      const unsigned char *parts, size_t parts_length, char *text,
			      size_t size)
{
	const struct part *named[FINGERPRINT_PARTS];
	if (size > 0)
		text[0] = '\0';
	if (strcmp(ours->scheme, scheme) != 0 || ours->parts_length != parts_length)
		return 0;
	int count = parse_scheme(scheme, named);
	size_t different = 0;
	size_t length = 0;
	for (int i = 0; i < count; i++) {
		size_t offset = (size_t)i * FINGERPRINT_PART_LENGTH;
		if (memcmp(ours->parts + offset, parts + offset, FINGERPRINT_PART_LENGTH) == 0)
			continue;
		const char *comma = different++ == 0 ? "" : ", ";
		size_t needed = strlen(comma) + strlen(named[i]->word);
		if (length + needed < size)
			length += (size_t)snprintf(text + length, size - length, "%s%s", comma,
						   named[i]->word);
	}
	return different;
}
