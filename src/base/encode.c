/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/encode.h"

#include <limits.h>
#include <string.h>

void encode_hex(char *text, const unsigned char *data, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < length; i++) {
		text[2 * i] = digits[data[i] >> 4];
		text[2 * i + 1] = digits[data[i] & 0x0f];
	}
	text[2 * length] = '\0';
}

static int hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

/* The byte that two hex digits say, -1 for others; reads no further than the first wrong one. */
static int hex_byte(const char *text)
{
	int high = hex_value(text[0]);
	int low = high < 0 ? -1 : hex_value(text[1]);
	return low < 0 ? -1 : high << 4 | low;
}

int decode_hex(unsigned char *data, size_t length, const char *text)
{
	for (size_t i = 0; i < length; i++) {
		int byte = hex_byte(text + 2 * i);
		if (byte < 0)
			return -1;
		data[i] = (unsigned char)byte;
	}
	return text[2 * length] == '\0' ? 0 : -1;
}

static bool json_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

/* Characters that would let a value play with the terminal or the line it is shown on: control
 * characters, line separators, changes of writing direction. */
static bool json_hostile(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

static int append_escaped(struct buffer *out, uint32_t code)
{
	/* in pairs: the character, and the letter behind its backslash */
	static const char short_forms[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	for (const char *pair = short_forms; *pair != '\0'; pair += 2)
		if (code == (unsigned char)pair[0])
			return buffer_append(out, (char[]){'\\', pair[1]}, 2);
	return buffer_printf(out, "\\u%04x", (unsigned)code);
}

int encode_json(struct buffer *out, const void *data, size_t length)
{
	if (length == 0)
		return 0; /* data may be NULL */
	const unsigned char *next = data;
	const unsigned char *end = next + length;
	while (next < end) {
		const unsigned char *run = next;
		while (next < end && json_plain(*next))
			next++;
		if (next > run && buffer_append(out, run, (size_t)(next - run)) < 0)
			return -1;
		if (next == end)
			break;
		uint32_t code;
		size_t size = utf8_next(next, (size_t)(end - next), &code);
		int result;
		if (size == 0)
			result = buffer_append_text(out, "\\ufffd");
		else if (size == 1 || json_hostile(code))
			result = append_escaped(out, code);
		else
			result = buffer_append(out, next, size);
		if (result < 0)
			return -1;
		next += size == 0 ? 1 : size;
	}
	return 0;
}

size_t utf8_next(const unsigned char *data, size_t length, uint32_t *code)
{
	/* RFC 3629 section 4: the lead byte says the length and the least code point for it */
	static const struct {
		unsigned char mask, lead;
		uint32_t least;
	} forms[] = {
	    {0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (length <= i || (data[0] & forms[i].mask) != forms[i].lead)
			continue;
		uint32_t value = data[0] & (uint32_t)~forms[i].mask & 0xff;
		for (size_t k = 1; k <= i; k++) {
			if ((data[k] & 0xc0) != 0x80)
				return 0;
			value = value << 6 | (data[k] & 0x3f);
		}
		if (value < forms[i].least || value > 0x10ffff ||
		    (value >= 0xd800 && value <= 0xdfff))
			return 0;
		*code = value;
		return i + 1;
	}
	return 0;
}

int percent_decode(char *text)
{
	size_t length = 0;
	for (const char *next = text; *next != '\0';) {
		if (*next != '%') {
			text[length++] = *next++;
			continue;
		}
		int byte = hex_byte(next + 1);
		if (byte <= 0)
			return -1;
		text[length++] = (char)byte;
		next += 3;
	}
	text[length] = '\0';
	return length <= INT_MAX ? (int)length : -1;
}
