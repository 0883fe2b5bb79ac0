/* SPDX-License-Identifier: ISC */
/*
 * A body that is read as JSON, whatever it is: its canonical form is JSON and its own canonical
 * form, blanks around it change nothing, and what is said of one that is no JSON shows none of its
 * bytes. What stands up to the first newline is a JSON Pointer.
 */
#include <config.h>

#include "idem/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/encode.h"
#include "tests/fuzz/driver.h"

const char fuzz_corpus[] = "json";

static void require_clean(const struct error *why)
{
	require(why->kind == ERROR_INPUT || why->kind == ERROR_LIMIT);
	require(why->message[0] != '\0');
	for (const char *byte = why->message; *byte != '\0'; byte++)
		require(*byte >= 0x20 && *byte < 0x7f);
}

static void require_utf8(const char *text, size_t length)
{
	uint32_t code;
	for (size_t at = 0, size; at < length; at += size) {
		size = utf8_next((const unsigned char *)text + at, length - at, &code);
		require(size > 0);
	}
}

static void require_canonical(const struct buffer *text, const struct buffer *canonical)
{
	struct error why;
	struct buffer again = {.limit = 0};
	struct json *json = json_parse(text->data, text->length, &why);
	require(json != NULL);
	require(json_canonical(json, &again) == 0);
	require(again.length == canonical->length);
	require(memcmp(again.data, canonical->data, again.length) == 0);
	json_free(json);
	buffer_free(&again);
}

static void look(const struct json *json, const char *pointer)
{
	struct json_value value;
	if (!json_find(json, pointer, &value))
		return;
	require(value.length == 0 || value.kind == JSON_STRING || value.kind == JSON_NUMBER);
	require(value.kind != JSON_NUMBER || value.length > 0);
	require_utf8(value.text, value.length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t before = newline != NULL ? (size_t)(newline - data) : 0;
	const uint8_t *text = newline != NULL ? newline + 1 : data;
	size_t length = size - (size_t)(text - data);
	char *pointer = strndup((const char *)data, before);
	require(pointer != NULL);
	struct error why = {.kind = ERROR_NONE};
	struct json *json = json_parse(text, length, &why);
	if (json != NULL) {
		struct buffer canonical = {.limit = 0};
		struct buffer spaced = {.limit = 0};
		require(json_canonical(json, &canonical) == 0);
		require_canonical(&canonical, &canonical);
		buffer_append_text(&spaced, " \t\r\n");
		buffer_append(&spaced, text, length);
		buffer_append_text(&spaced, "\n\r\t ");
		require_canonical(&spaced, &canonical);
		look(json, "");
		look(json, pointer);
		buffer_free(&canonical);
		buffer_free(&spaced);
	} else {
		require_clean(&why);
	}
	json_free(json);
	free(pointer);
	return 0;
}
