/* SPDX-License-Identifier: ISC */
/*
 * A body that is read as multipart, whatever it is: every part lies within it, in order, and no
 * content holds a boundary; what is said of one that is none shows none of its bytes. What stands
 * up to the first newline is the content type.
 */
#include <config.h>

#include "idem/multipart.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/driver.h"

const char fuzz_corpus[] = "multipart";

static void require_clean(const struct error *why)
{
	require(why->kind == ERROR_INPUT || why->kind == ERROR_LIMIT);
	require(why->message[0] != '\0');
	for (const char *byte = why->message; *byte != '\0'; byte++)
		require(*byte >= 0x20 && *byte < 0x7f);
}

static void digest_parts(const struct multipart *multipart, unsigned char out[DIGEST_LENGTH])
{
	struct digest *digest = digest_new();
	require(digest != NULL);
	multipart_digest(multipart, digest);
	digest_finish(digest, out);
	digest_free(digest);
}

static void require_parts(const struct multipart *multipart, const uint8_t *body, size_t length)
{
	const uint8_t *next = body;
	require(multipart->count <= MULTIPART_MOST_PARTS);
	for (size_t i = 0; i < multipart->count; i++) {
		const struct multipart_part *part = &multipart->parts[i];
		require(part->content >= next && part->content_length <= length);
		require(part->content + part->content_length <= body + length);
		require(part->name.length <= MULTIPART_MOST_HEADER_BYTES);
		next = part->content + part->content_length;
	}
}

/* With something before and behind it that is no boundary it says the same. */
static void require_same_within(const char *type, const struct multipart *multipart,
				const uint8_t *body, size_t length)
{
	struct buffer wider = {.limit = 0};
	struct multipart again;
	struct error why;
	unsigned char one[DIGEST_LENGTH], other[DIGEST_LENGTH];
	buffer_append_text(&wider, "\r\n");
	buffer_append(&wider, body, length);
	buffer_append_text(&wider, "\r\nbehind");
	require(multipart_parse(&again, type, wider.data, wider.length, &why) == 0);
	digest_parts(multipart, one);
	digest_parts(&again, other);
	require(memcmp(one, other, DIGEST_LENGTH) == 0);
	multipart_free(&again);
	buffer_free(&wider);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
	if (newline == NULL)
		return 0;
	const uint8_t *body = newline + 1;
	size_t length = size - (size_t)(body - data);
	char *type = strndup((const char *)data, (size_t)(newline - data));
	require(type != NULL);
	struct multipart multipart;
	struct error why = {.kind = ERROR_NONE};
	if (multipart_parse(&multipart, type, body, length, &why) == 0) {
		require_parts(&multipart, body, length);
		require_same_within(type, &multipart, body, length);
		multipart_free(&multipart);
	} else {
		require_clean(&why);
	}
	free(type);
	return 0;
}
