/* SPDX-License-Identifier: ISC */
/*
 * A String of RFC 8941, whatever is given for one: what is taken from it, put in quotes with its
 * escapes, gives the same again, with parameters behind it too, and what is said of one that is
 * none shows none of its bytes.
 */
#include <config.h>

#include "idem/structured.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/driver.h"

const char fuzz_corpus[] = "structured";

static void require_clean(const struct error *why)
{
	require(why->message[0] != '\0');
	for (const char *byte = why->message; *byte != '\0'; byte++)
		require(*byte >= 0x20 && *byte < 0x7f);
}

static void quote(const struct buffer *text, struct buffer *out)
{
	buffer_append_byte(out, '"');
	for (size_t i = 0; i < text->length; i++) {
		require(text->data[i] >= 0x20 && text->data[i] < 0x7f);
		if (text->data[i] == '"' || text->data[i] == '\\')
			buffer_append_byte(out, '\\');
		buffer_append_byte(out, text->data[i]);
	}
	buffer_append_byte(out, '"');
}

static void require_taken(const struct buffer *value, const struct buffer *text)
{
	struct buffer again = {.limit = 0};
	struct error why;
	require(structured_string((const char *)value->data, value->length, &again, &why) == 0);
	require(again.length == text->length &&
		(text->length == 0 || memcmp(again.data, text->data, text->length) == 0));
	buffer_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer text = {.limit = 0};
	struct error why = {.kind = ERROR_NONE};
	if (structured_string((const char *)data, size, &text, &why) == 0) {
		struct buffer quoted = {.limit = 0};
		quote(&text, &quoted);
		require_taken(&quoted, &text);
		buffer_append_text(&quoted, ";a;b=?1;c=1.5;d=\"x\";e=:YQ==:;f=t/o");
		require_taken(&quoted, &text);
		buffer_free(&quoted);
	} else {
		require_clean(&why);
	}
	buffer_free(&text);
	return 0;
}
