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

static struct text text_of(const char *text)
{
	return (struct text){text, strlen(text)};
}

/* Blanks around a field's value are not part of it (RFC 9110 5.5), and not every web server removes
 * them. The rest counts as sent: a client that retries does not respell its media type. */
static struct text trimmed(const char *value)
{
	const char *start = value + strspn(value, " \t");
	size_t length = strlen(start);
	while (length > 0 && (start[length - 1] == ' ' || start[length - 1] == '\t'))
		length--;
	return (struct text){start, length};
}

static const struct word {
	const char *text; /* in the scheme */
	enum fingerprint_part bit;
	enum route_body_form form; /* of a body */
} words[] = {
    {"method", FINGERPRINT_METHOD, BODY_FORM_RAW},
    {"path", FINGERPRINT_PATH, BODY_FORM_RAW},
    {"query", FINGERPRINT_QUERY, BODY_FORM_RAW},
    {"content-type", FINGERPRINT_CONTENT_TYPE, BODY_FORM_RAW},
    {"body", FINGERPRINT_BODY, BODY_FORM_RAW},
    {"body:json", FINGERPRINT_BODY, BODY_FORM_JSON},
    {"body:form", FINGERPRINT_BODY, BODY_FORM_FORM},
    {"body:multipart", FINGERPRINT_BODY, BODY_FORM_MULTIPART},
};
enum { WORDS = sizeof(words) / sizeof(words[0]) };

static const char header_prefix[] = "header:";
enum { HEADER_PREFIX_LENGTH = sizeof(header_prefix) - 1 };

/* What a word of a scheme says. */
struct part {
	const struct word *word; /* NULL: a request header */
	struct text header;      /* its name */
};

struct parts {
	struct part items[FINGERPRINT_MOST_PARTS];
	size_t count;
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

static bool is_text(struct text text, const char *known)
{
	return strlen(known) == text.length && memcmp(known, text.start, text.length) == 0;
}

/* A field's name (RFC 9110 5.6.2), in the one spelling that schemes have. */
static bool is_header_name(struct text name)
{
	static const char lower_token[] = "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~";
	size_t span = 0;
	while (span < name.length && memchr(lower_token, name.start[span], sizeof(lower_token) - 1))
		span++;
	return span == name.length && name.length > 0 && name.length <= SOURCE_MAX_NAME;
}

static int read_word(struct text text, struct part *part)
{
	for (size_t i = 0; i < WORDS; i++)
		if (is_text(text, words[i].text)) {
			*part = (struct part){.word = &words[i]};
			return 0;
		}
	if (text.length < HEADER_PREFIX_LENGTH ||
	    memcmp(text.start, header_prefix, HEADER_PREFIX_LENGTH) != 0)
		return -1;
	*part = (struct part){
	    .header = {text.start + HEADER_PREFIX_LENGTH, text.length - HEADER_PREFIX_LENGTH}};
	return is_header_name(part->header) ? 0 : -1;
}

static bool is_same_part(const struct part *one, const struct part *other)
{
	if (one->word != NULL && other->word != NULL)
		return one->word->bit == other->word->bit;
	return one->word == other->word && one->header.length == other->header.length &&
	       memcmp(one->header.start, other->header.start, one->header.length) == 0;
}

static bool has_part(const struct parts *parts, const struct part *wanted)
{
	for (size_t i = 0; i < parts->count; i++)
		if (is_same_part(&parts->items[i], wanted))
			return true;
	return false;
}

/* The parts a scheme names, in its order; -1 when this build does not know it. A part may stand
 * once. */
static int parse_scheme(const char *scheme, struct parts *parts)
{
	parts->count = 0;
	if (!is_text(next_word(&scheme), SCHEME_VERSION))
		return -1;
	while (*scheme != '\0') {
		struct part part;
		if (read_word(next_word(&scheme), &part) < 0 || has_part(parts, &part) ||
		    parts->count == FINGERPRINT_MOST_PARTS)
			return -1;
		parts->items[parts->count++] = part;
	}
	return 0;
}

/*
 * "" for a header that is absent; "=" and the values, in their order, as one list (RFC 9110 5.3),
 * for one that is there: absent and empty are not the same. A parameter that does not begin with
 * HTTP_ is absent when it is empty (base/params.h).
 */
static int put_header(struct buffer *out, const struct params *params, struct text header)
{
	char name[SOURCE_MAX_NAME + 1];
	char parameter[sizeof("HTTP_") + SOURCE_MAX_NAME];
	memcpy(name, header.start, header.length);
	name[header.length] = '\0';
	if (params_header_name(parameter, sizeof(parameter), name) < 0)
		return -1;
	size_t length = strlen(parameter);
	bool empty_counts = strncmp(parameter, "HTTP_", strlen("HTTP_")) == 0;
	for (size_t i = 0; i < params->count; i++) {
		const char *entry = params->entries[i];
		if (strncmp(entry, parameter, length) != 0 || entry[length] != '=')
			continue;
		struct text value = trimmed(entry + length + 1);
		if (entry[length + 1] == '\0' && !empty_counts)
			continue;
		buffer_append_text(out, out->length == 0 ? "=" : ", ");
		buffer_append(out, value.start, value.length);
	}
	return out->failed ? -1 : 0;
}

/* What a part of the request says. The text may stand in *room, or in `body`. */
static int read_part(const struct part *part, const struct fingerprint_source *source,
		     struct buffer *room, unsigned char body[DIGEST_LENGTH], struct text *value)
{
	buffer_clear(room);
	if (part->word == NULL) {
		if (source->params == NULL || put_header(room, source->params, part->header) < 0)
			return -1;
		*value = (struct text){(const char *)room->data, room->length};
		return 0;
	}
	switch (part->word->bit) {
	case FINGERPRINT_METHOD:
		*value = text_of(source->method);
		break;
	case FINGERPRINT_PATH:
		*value = text_of(source->path);
		break;
	case FINGERPRINT_QUERY:
		*value = text_of(source->query);
		break;
	case FINGERPRINT_CONTENT_TYPE:
		*value = trimmed(source->content_type);
		break;
	case FINGERPRINT_BODY:
		*value = (struct text){(const char *)body, DIGEST_LENGTH};
		if (part->word->form == BODY_FORM_RAW)
			memcpy(body, source->body_digest, DIGEST_LENGTH);
		else if (source->document == NULL)
			return -1;
		else
			return document_digest(source->document, part->word->form,
					       source->body_digest, body);
	}
	return 0;
}

static void put_short_digest(const struct part *part, struct text value,
			     unsigned char out[FINGERPRINT_PART_LENGTH])
{
	unsigned char whole[DIGEST_LENGTH];
	if (part->word != NULL && part->word->bit == FINGERPRINT_BODY) {
		memcpy(out, value.start, FINGERPRINT_PART_LENGTH); /* is a digest already */
		return;
	}
	digest_of(value.start, value.length, whole);
	memcpy(out, whole, FINGERPRINT_PART_LENGTH);
}

/* Append a word; -1 when the scheme would be too long. */
static int add_word(char scheme[FINGERPRINT_SCHEME_LENGTH], const char *prefix, const char *word)
{
	size_t length = strlen(scheme);
	int added =
	    snprintf(scheme + length, FINGERPRINT_SCHEME_LENGTH - length, " %s%s", prefix, word);
	return added >= 0 && length + (size_t)added < FINGERPRINT_SCHEME_LENGTH ? 0 : -1;
}

static bool is_listed_before(const struct string_list *list, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(list->items[i], list->items[index]) == 0)
			return true;
	return false;
}

/* "1 method path query content-type header:x-unit body:json" */
static int write_scheme(const struct route *route, char scheme[FINGERPRINT_SCHEME_LENGTH])
{
	int result = 0;
	strcpy(scheme, SCHEME_VERSION);
	for (size_t i = 0; i < WORDS && result == 0; i++)
		if (words[i].bit != FINGERPRINT_BODY &&
		    (route->fingerprint_parts & (int64_t)words[i].bit) != 0)
			result = add_word(scheme, "", words[i].text);
	const struct string_list *headers = &route->fingerprint_headers;
	for (size_t i = 0; i < headers->count && result == 0; i++)
		if (!is_listed_before(headers, i))
			result = add_word(scheme, header_prefix, headers->items[i]);
	for (size_t i = 0; i < WORDS && result == 0; i++)
		if (words[i].bit == FINGERPRINT_BODY && words[i].form == route->fingerprint_body &&
		    (route->fingerprint_parts & FINGERPRINT_BODY) != 0)
			result = add_word(scheme, "", words[i].text);
	return result;
}

int fingerprint_make(const struct route *route, const struct fingerprint_source *source,
		     struct fingerprint *out)
{
	char scheme[FINGERPRINT_SCHEME_LENGTH];
	if (write_scheme(route, scheme) < 0)
		return -1;
	return fingerprint_by_scheme(scheme, source, out);
}

int fingerprint_by_scheme(const char *scheme, const struct fingerprint_source *source,
			  struct fingerprint *out)
{
	struct parts parts;
	size_t scheme_length = strlen(scheme);
	if (parse_scheme(scheme, &parts) < 0 || scheme_length >= sizeof(out->scheme))
		return -1;
	struct digest *digest = digest_new();
	if (digest == NULL)
		return -1;
	struct buffer room = {.limit = 0};
	int result = 0;
	memcpy(out->scheme, scheme, scheme_length + 1);
	out->parts_length = parts.count * FINGERPRINT_PART_LENGTH;
	digest_add_field(digest, scheme, scheme_length);
	for (size_t i = 0; i < parts.count && result == 0; i++) {
		unsigned char body[DIGEST_LENGTH];
		struct text value = {"", 0};
		result = read_part(&parts.items[i], source, &room, body, &value);
		if (result < 0)
			break;
		digest_add_field(digest, value.start, value.length);
		put_short_digest(&parts.items[i], value, out->parts + i * FINGERPRINT_PART_LENGTH);
	}
	digest_finish(digest, out->digest);
	digest_free(digest);
	buffer_free(&room);
	return result;
}

/* The name of a part, for people: as the configuration spells it among the parts. */
static struct text name_of(const struct part *part)
{
	if (part->word == NULL)
		return (struct text){part->header.start - HEADER_PREFIX_LENGTH,
				     part->header.length + HEADER_PREFIX_LENGTH};
	return (struct text){part->word->text, strcspn(part->word->text, ":")};
}

size_t fingerprint_difference(const struct fingerprint *ours, const char *scheme,
			      const unsigned char *parts, size_t parts_length, char *text,
			      size_t size)
{
	struct parts named;
	if (size > 0)
		text[0] = '\0';
	if (strcmp(ours->scheme, scheme) != 0 || ours->parts_length != parts_length ||
	    parse_scheme(scheme, &named) < 0)
		return 0;
	size_t different = 0;
	size_t length = 0;
	for (size_t i = 0; i < named.count; i++) {
		size_t offset = i * FINGERPRINT_PART_LENGTH;
		if (memcmp(ours->parts + offset, parts + offset, FINGERPRINT_PART_LENGTH) == 0)
			continue;
		const char *comma = different++ == 0 ? "" : ", ";
		struct text name = name_of(&named.items[i]);
		size_t needed = strlen(comma) + name.length;
		if (length + needed < size)
			length += (size_t)snprintf(text + length, size - length, "%s%.*s", comma,
						   (int)name.length, name.start);
	}
	return different;
}
