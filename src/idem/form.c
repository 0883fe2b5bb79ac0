/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/form.h"

#include "base/encode.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Decode `length` bytes at `from` to *to and move it on; the decoded length, or -1 for a bad
 * escape, *from then behind its percent sign. */
static int64_t decode(const char **from, size_t length, char **to)
{
	const char *end = *from + length;
	char *start = *to;
	while (*from < end) {
		char byte = *(*from)++;
		if (byte == '%') {
			char digits[3] = "";
			unsigned char decoded;
			if (end - *from < 2)
				return -1;
			memcpy(digits, *from, 2);
			if (decode_hex(&decoded, 1, digits) < 0)
				return -1;
			byte = (char)decoded;
			*from += 2;
		} else if (byte == '+') {
			byte = ' ';
		}
		*(*to)++ = byte;
	}
	return *to - start;
}

static size_t length_until(const char *start, const char *end, char byte)
{
	const char *found = memchr(start, byte, (size_t)(end - start));
	return (size_t)((found != NULL ? found : end) - start);
}

static int add_pair(struct form *form, const struct form_pair *pair, size_t *capacity,
		    struct error *why)
{
	if (form->count == FORM_MOST_PAIRS) {
		error_set(why, ERROR_LIMIT, "there are more than %d pairs", FORM_MOST_PAIRS);
		return -1;
	}
	if (form->count == *capacity) {
		size_t more = *capacity == 0 ? 16 : 2 * *capacity;
		struct form_pair *pairs = realloc(form->pairs, more * sizeof(*pairs));
		if (pairs == NULL) {
			error_set(why, ERROR_MEMORY, "out of memory for a form");
			return -1;
		}
		form->pairs = pairs;
		*capacity = more;
	}
	form->pairs[form->count++] = *pair;
	return 0;
}

static int take_pairs(struct form *form, const char *body, size_t length, struct error *why)
{
	const char *next = body;
	const char *end = body + length;
	char *to = form->text;
	size_t capacity = 0;
	for (size_t size; next < end; next += next < end /* the & */) {
		size = length_until(next, end, '&');
		if (size == 0)
			continue;
		const char *pair_end = next + size;
		size_t name_size = length_until(next, pair_end, '=');
		struct form_pair pair = {.name = to};
		int64_t name_length = decode(&next, name_size, &to);
		if (name_length >= 0 && next < pair_end)
			next++; /* the = */
		pair.value = to;
		int64_t value_length =
		    name_length < 0 ? -1 : decode(&next, (size_t)(pair_end - next), &to);
		if (value_length < 0) {
			error_set(why, ERROR_INPUT, "byte %zu: two hex digits must follow %%",
				  (size_t)(next - body));
			return -1;
		}
		pair.name_length = (size_t)name_length;
		pair.value_length = (size_t)value_length;
		if (add_pair(form, &pair, &capacity, why) < 0)
			return -1;
	}
	return 0;
}

static int compare_pairs(const void *one_pair, const void *other_pair)
{
	const struct form_pair *one = one_pair;
	const struct form_pair *other = other_pair;
	size_t shared =
	    one->name_length < other->name_length ? one->name_length : other->name_length;
	int order = memcmp(one->name, other->name, shared);
	if (order != 0)
		return order;
	if (one->name_length != other->name_length)
		return one->name_length < other->name_length ? -1 : 1;
	/* in the order of the text, as they came; only empty pairs share their place */
	return (one->name > other->name) - (one->name < other->name);
}

int form_parse(struct form *form, const void *body, size_t length, struct error *why)
{
	*form = (struct form){.count = 0};
	form->text = malloc(length + 1); /* decoding never lengthens; malloc(0) may be NULL */
	if (form->text == NULL) {
		error_set(why, ERROR_MEMORY, "out of memory for a form");
		return -1;
	}
	if (length > 0 && take_pairs(form, body, length, why) < 0) {
		form_free(form);
		return -1;
	}
	if (form->count > 1)
		qsort(form->pairs, form->count, sizeof(*form->pairs), compare_pairs);
	return 0;
}

void form_free(struct form *form)
{
	free(form->pairs);
	free(form->text);
	*form = (struct form){.count = 0};
}

static bool is_unreserved(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_' ||
	       byte == '~';
}

static void encode(struct buffer *out, const char *text, size_t length)
{
	static const char digits[] = "0123456789ABCDEF";
	enum { AT_ONCE = 4096 };
	for (size_t at = 0; at < length;) {
		size_t end = length - at > AT_ONCE ? at + AT_ONCE : length;
		unsigned char *to = buffer_reserve(out, 3 * (end - at));
		if (to == NULL)
			return;
		unsigned char *start = to;
		for (; at < end; at++) {
			unsigned char byte = (unsigned char)text[at];
			if (is_unreserved(text[at])) {
				*to++ = byte;
				continue;
			}
			*to++ = '%';
			*to++ = (unsigned char)digits[byte >> 4];
			*to++ = (unsigned char)digits[byte & 0xf];
		}
		out->length += (size_t)(to - start);
	}
}

int form_canonical(const struct form *form, struct buffer *out)
{
	for (size_t i = 0; i < form->count; i++) {
		const struct form_pair *pair = &form->pairs[i];
		if (i > 0)
			buffer_append_byte(out, '&');
		encode(out, pair->name, pair->name_length);
		buffer_append_byte(out, '=');
		encode(out, pair->value, pair->value_length);
	}
	return out->failed ? -1 : 0;
}
