/* SPDX-License-Identifier: ISC */
/*
 * A template and a value, whatever they are: what passes the check leaves no placeholder behind,
 * and no value gets out of the place that the template gives it. The first byte of the input says
 * which content type; template and value are parted by the first NUL.
 */
#include <config.h>

#include "config/template.h"

#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "tests/fuzz/driver.h"

const char fuzz_corpus[] = "template";

static const char *const types[] = {"application/json", "text/html", "text/plain",
				    "application/problem+xml"};

static struct template_values values_of(const char *value)
{
	return (struct template_values){.code = value,
					.title = value,
					.detail = value,
					.docs = value,
					.location = value,
					.first_seen = value};
}

static void expand(struct buffer *out, const char *text, const char *type, const char *value)
{
	const struct template_values values = values_of(value);
	require(template_check_content_type(type, &(struct error){0}) == 0);
	require(template_expand(out, text, type, &values) == 0);
}

static bool is_valid_utf8(const struct buffer *text)
{
	uint32_t code;
	for (size_t at = 0, size; at < text->length; at += size) {
		size = utf8_next(text->data + at, text->length - at, &code);
		if (size == 0)
			return false;
	}
	return true;
}

/* A value alone: nothing in it can end what it stands in. */
static void require_contained(const char *type, const char *value)
{
	struct buffer out = {0};
	expand(&out, "{detail}", type, value);
	bool json = strcmp(type, "application/json") == 0;
	bool plain = strcmp(type, "text/plain") == 0;
	require(plain || is_valid_utf8(&out));
	for (size_t i = 0; i < out.length; i++) {
		unsigned char byte = out.data[i];
		require(byte >= 0x20 && byte != 0x7f);
		if (json && byte == '\\')
			i++; /* and what it escapes */
		else if (json)
			require(byte != '"');
		else if (!plain)
			require(strchr("<>\"'", byte) == NULL);
	}
	buffer_free(&out);
}

/* A good template of text alone is its own expansion. */
static void require_verbatim(const char *text, const char *type)
{
	struct buffer out = {0};
	expand(&out, text, type, "");
	require(strcmp(buffer_text(&out), text) == 0);
	buffer_free(&out);
}

static bool has_placeholder(const char *text)
{
	for (; (text = strchr(text, '{')) != NULL; text++) {
		size_t length = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_");
		if (length > 0 && text[1 + length] == '}')
			return true;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	const char *type = types[data[0] % (sizeof(types) / sizeof(types[0]))];
	char *text = malloc(size);
	require(text != NULL);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	const char *value = strlen(text) < size - 1 ? text + strlen(text) + 1 : "";
	struct error error = {0};
	struct buffer out = {0};
	expand(&out, text, type, value);
	require_contained(type, value);
	if (template_check(text, &error) != 0)
		require(has_placeholder(text) && error.message[0] == '{');
	else if (!has_placeholder(text))
		require_verbatim(text, type);
	buffer_free(&out);
	free(text);
	return 0;
}
