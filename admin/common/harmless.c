/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/harmless.h"

#include <stdint.h>

#include "base/encode.h"

/* What a terminal acts on, what turns the direction of the rest of a line, and what cannot be seen,
 * so that two keys would look alike. */
static const struct {
	uint32_t first, last;
} hostile[] = {
    {0x00, 0x1f},        /* C0 controls */
    {0x7f, 0x9f},        /* DEL, C1 controls */
    {0xad, 0xad},        /* soft hyphen */
    {0x61c, 0x61c},      /* Arabic letter mark */
    {0x180e, 0x180e},    /* Mongolian vowel separator */
    {0x200b, 0x200f},    /* zero width, direction marks */
    {0x2028, 0x202e},    /* line separators, direction overrides */
    {0x2060, 0x206f},    /* invisible operators, direction isolates */
    {0xe000, 0xf8ff},    /* private use: whatever a font makes of it */
    {0xfe00, 0xfe0f},    /* variation selectors */
    {0xfeff, 0xfeff},    /* byte order mark */
    {0xfff0, 0xfffb},    /* interlinear annotations */
    {0xe0000, 0x10ffff}, /* tags, private use */
};

static bool is_hostile(uint32_t code)
{
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++)
		if (code >= hostile[i].first && code <= hostile[i].last)
			return true;
	return false;
}

void harmless_append(struct buffer *out, const void *text, size_t length, bool utf8)
{
	const unsigned char *next = text;
	for (size_t left = length; left > 0;) {
		uint32_t code;
		size_t size = utf8_next(next, left, &code);
		bool shown = size > 0 && !is_hostile(code) && (size == 1 || utf8);
		if (size == 0)
			size = 1;
		if (shown && code == '\\')
			buffer_append_text(out, "\\\\");
		else if (shown)
			buffer_append(out, next, size);
		else
			for (size_t i = 0; i < size; i++)
				buffer_printf(out, "\\x%02x", next[i]);
		next += size;
		left -= size;
	}
}

size_t harmless_prefix(const void *text, size_t length, size_t most)
{
	const unsigned char *bytes = text;
	size_t done = 0;
	for (size_t count = 0; done < length && count < most; count++) {
		uint32_t code;
		size_t size = utf8_next(bytes + done, length - done, &code);
		done += size > 0 ? size : 1;
	}
	return done;
}

bool harmless_is_utf8(const void *text, size_t length)
{
	const unsigned char *bytes = text;
	for (size_t done = 0, size; done < length; done += size) {
		uint32_t code;
		size = utf8_next(bytes + done, length - done, &code);
		if (size == 0)
			return false;
	}
	return true;
}
