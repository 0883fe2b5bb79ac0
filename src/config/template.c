/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/template.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/encode.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* How much is told of a name that is none. */
#define NAME_SHOWN 40

enum value_kind { VALUE_TEXT, VALUE_NUMBER, VALUE_TRUTH };

static const struct placeholder {
	const char *name;
	enum value_kind kind;
	size_t offset; /* in struct template_values */
} placeholders[] = {
    {"code", VALUE_TEXT, offsetof(struct template_values, code)},
    {"title", VALUE_TEXT, offsetof(struct template_values, title)},
    {"detail", VALUE_TEXT, offsetof(struct template_values, detail)},
    {"status", VALUE_NUMBER, offsetof(struct template_values, status)},
    {"retry_after", VALUE_NUMBER, offsetof(struct template_values, retry_after)},
    {"retryable", VALUE_TRUTH, offsetof(struct template_values, retryable)},
    {"docs", VALUE_TEXT, offsetof(struct template_values, docs)},
    {"location", VALUE_TEXT, offsetof(struct template_values, location)},
    {"first_seen", VALUE_TEXT, offsetof(struct template_values, first_seen)},
};

typedef int escape_function(struct buffer *out, const unsigned char *text, size_t length);

/* C0, DEL and C1: what a terminal or a browser might obey. */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

static int escape_json(struct buffer *out, const unsigned char *text, size_t length)
{
	return encode_json(out, text, length);
}

/* XML 1.0 2.2 has no place for control characters and the two noncharacters, escaped or not. What
 * is not UTF-8 would make the whole document malformed. */
static int escape_xml(struct buffer *out, const unsigned char *text, size_t length)
{
	for (size_t at = 0, size; at < length; at += size) {
		uint32_t code = 0;
		size = utf8_next(text + at, length - at, &code);
		if (size == 0 || code == 0xfffe || code == 0xffff) {
			buffer_append_text(out, "\xef\xbf\xbd");
			size = size == 0 ? 1 : size;
		} else if (is_control(code)) {
			continue;
		} else if (size == 1 && strchr("&<>\"'", (int)code) != NULL) {
			buffer_printf(out, "&#%u;", (unsigned)code);
		} else {
			buffer_append(out, text + at, size);
		}
	}
	return out->failed ? -1 : 0;
}

static int escape_plain(struct buffer *out, const unsigned char *text, size_t length)
{
	for (size_t at = 0, size; at < length; at += size) {
		uint32_t code = 0;
		size = utf8_next(text + at, length - at, &code);
		if (size == 0)
			buffer_append_byte(out, text[at]);
		else if (!is_control(code))
			buffer_append(out, text + at, size);
		size = size == 0 ? 1 : size;
	}
	return out->failed ? -1 : 0;
}

/* Is it that media type, or has it that structured syntax suffix (RFC 6838 4.2.8)? */
static bool type_matches(const char *type, size_t length, const char *wanted)
{
	size_t wanted_length = strlen(wanted);
	if (length < wanted_length || memchr(type, '/', length) == NULL)
		return false;
	size_t skipped = wanted[0] == '+' ? length - wanted_length : 0;
	return length - skipped == wanted_length &&
	       strncasecmp(type + skipped, wanted, wanted_length) == 0;
}

/* NULL: none is known. */
static escape_function *escape_for(const char *content_type)
{
	static const struct {
		const char *type;
		escape_function *escape;
	} types[] = {
	    {"application/json", escape_json},
	    {"+json", escape_json},
	    {"application/xml", escape_xml},
	    {"text/xml", escape_xml},
	    {"+xml", escape_xml},
	    {"text/html", escape_xml},
	    {"text/plain", escape_plain},
	};
	size_t length = strcspn(content_type, "; \t");
	for (size_t i = 0; i < COUNT(types); i++)
		if (type_matches(content_type, length, types[i].type))
			return types[i].escape;
	return NULL;
}

/* The name of a placeholder that begins with the brace at `text`, and its length; 0: the brace
 * stands for itself. */
static size_t name_length(const char *text)
{
	size_t length = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_");
	return text[1 + length] == '}' ? length : 0;
}

static const struct placeholder *find(const char *name, size_t length)
{
	for (size_t i = 0; i < COUNT(placeholders); i++)
		if (strlen(placeholders[i].name) == length &&
		    memcmp(placeholders[i].name, name, length) == 0)
			return &placeholders[i];
	return NULL;
}

static void unknown_placeholder(struct error *error, const char *name, size_t length)
{
	struct buffer known = {0};
	for (size_t i = 0; i < COUNT(placeholders); i++)
		buffer_printf(&known, "%s{%s}",
			      i == 0                        ? ""
			      : i + 1 < COUNT(placeholders) ? ", "
							    : " and ",
			      placeholders[i].name);
	error_set(error, ERROR_INPUT, "{%.*s} is no placeholder; there are %s",
		  (int)(length < NAME_SHOWN ? length : NAME_SHOWN), name, buffer_text(&known));
	buffer_free(&known);
}

int template_check(const char *text, struct error *error)
{
	for (text = strchr(text, '{'); text != NULL; text = strchr(text + 1, '{')) {
		size_t length = name_length(text);
		if (length > 0 && find(text + 1, length) == NULL) {
			unknown_placeholder(error, text + 1, length);
			return -1;
		}
	}
	return 0;
}

int template_check_content_type(const char *content_type, struct error *error)
{
	/* It becomes a header's value. */
	for (const char *byte = content_type; *byte != '\0'; byte++) {
		if (*byte < 0x20 || *byte >= 0x7f) {
			error_set(
			    error, ERROR_INPUT,
			    "a content type is printable ASCII, such as \"application/json\"");
			return -1;
		}
	}
	if (escape_for(content_type) == NULL) {
		error_set(error, ERROR_INPUT,
			  "values cannot be escaped for %s; there are application/json, "
			  "application/xml, text/xml, text/html, text/plain, and all types that "
			  "end in +json or +xml",
			  content_type[0] == '\0' ? "nothing" : content_type);
		return -1;
	}
	return 0;
}

static void expand_one(struct buffer *out, const struct placeholder *placeholder,
		       escape_function *escape, const struct template_values *values)
{
	const void *value = (const char *)values + placeholder->offset;
	switch (placeholder->kind) {
	case VALUE_TEXT: {
		const char *text = *(const char *const *)value;
		escape(out, (const unsigned char *)text, strlen(text));
		break;
	}
	case VALUE_NUMBER:
		buffer_printf(out, "%d", *(const int *)value);
		break;
	case VALUE_TRUTH:
		buffer_append_text(out, *(const bool *)value ? "true" : "false");
		break;
	}
}

int template_expand(struct buffer *out, const char *text, const char *content_type,
		    const struct template_values *values)
{
	escape_function *escape = escape_for(content_type);
	if (escape == NULL)
		escape = escape_xml; /* never checked: the one that lets least through */
	while (*text != '\0') {
		size_t plain = strcspn(text, "{");
		buffer_append(out, text, plain);
		text += plain;
		if (*text == '\0')
			break;
		size_t length = name_length(text);
		const struct placeholder *placeholder = find(text + 1, length);
		if (placeholder != NULL) {
			expand_one(out, placeholder, escape, values);
			text += length + strlen("{}");
		} else {
			buffer_append_byte(out, '{');
			text++;
		}
	}
	return out->failed ? -1 : 0;
}
