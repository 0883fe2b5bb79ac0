/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/structured.h"

#include <string.h>

/* What is left to read of a value. */
struct text {
	const char *next;
	const char *end;
};

static bool at_byte(const struct text *text, char byte)
{
	return text->next < text->end && *text->next == byte;
}

static bool take_byte(struct text *text, char byte)
{
	if (!at_byte(text, byte))
		return false;
	text->next++;
	return true;
}

/* Take bytes while they are of a kind; how many. */
static size_t take_while(struct text *text, bool (*of_kind)(char byte))
{
	const char *start = text->next;
	while (text->next < text->end && of_kind(*text->next))
		text->next++;
	return (size_t)(text->next - start);
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_lower(char byte)
{
	return byte >= 'a' && byte <= 'z';
}

static bool is_alpha(char byte)
{
	return is_lower(byte) || (byte >= 'A' && byte <= 'Z');
}

static bool is_space(char byte)
{
	return byte == ' ';
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static bool is_one_of(char byte, const char *set)
{
	return byte != '\0' && strchr(set, byte) != NULL;
}

static bool is_parameter_name(char byte)
{
	return is_lower(byte) || is_digit(byte) || is_one_of(byte, "_-.*");
}

static bool is_token(char byte)
{
	return is_alpha(byte) || is_digit(byte) || is_one_of(byte, "!#$%&'*+-.^_`|~:/");
}

static bool is_base64(char byte)
{
	return is_alpha(byte) || is_digit(byte) || is_one_of(byte, "+/=");
}

static int refuse(struct error *why, const char *rule)
{
	error_set(why, ERROR_INPUT, "%s", rule);
	return -1;
}

/* RFC 8941 section 4.2.5, without the quotes and escapes into *out. */
static int take_string(struct text *text, struct buffer *out, struct error *why)
{
	if (!take_byte(text, '"'))
		return refuse(why, "it must be a String of RFC 8941, in double quotes");
	while (text->next < text->end) {
		char byte = *text->next++;
		if (byte == '"')
			return 0;
		if (byte < 0x20 || byte > 0x7e)
			return refuse(why, "between the quotes only printable ASCII may stand");
		if (byte == '\\') {
			if (!at_byte(text, '"') && !at_byte(text, '\\'))
				return refuse(why, "a backslash may stand only before a double "
						   "quote or a backslash");
			byte = *text->next++;
		}
		buffer_append_byte(out, (unsigned char)byte);
	}
	return refuse(why, "the closing double quote is missing");
}

/* RFC 8941 section 4.2.4: at most 15 digits, or 12 with 1 to 3 behind the point. */
static bool take_number(struct text *text)
{
	take_byte(text, '-');
	size_t whole = take_while(text, is_digit);
	if (!take_byte(text, '.'))
		return whole >= 1 && whole <= 15;
	size_t fraction = take_while(text, is_digit);
	return whole >= 1 && whole <= 12 && fraction >= 1 && fraction <= 3;
}

static bool take_ignored_string(struct text *text)
{
	struct buffer content = {.limit = 0};
	struct error why;
	bool taken = take_string(text, &content, &why) == 0;
	buffer_free(&content);
	return taken;
}

/* RFC 8941 section 4.2.3.1. */
static bool take_bare_item(struct text *text)
{
	if (at_byte(text, '"'))
		return take_ignored_string(text);
	if (take_byte(text, '?'))
		return take_byte(text, '0') || take_byte(text, '1');
	if (take_byte(text, ':')) {
		take_while(text, is_base64);
		return take_byte(text, ':');
	}
	if (text->next < text->end && (is_alpha(*text->next) || *text->next == '*'))
		return take_while(text, is_token) > 0;
	return take_number(text);
}

/* RFC 8941 section 4.2.3.2. */
static bool take_parameters(struct text *text)
{
	while (take_byte(text, ';')) {
		take_while(text, is_space);
		if (text->next == text->end || (!is_lower(*text->next) && *text->next != '*'))
			return false;
		take_while(text, is_parameter_name);
		if (take_byte(text, '=') && !take_bare_item(text))
			return false;
	}
	return true;
}

int structured_string(const char *value, size_t length, struct buffer *out, struct error *why)
{
	struct text text = {value, value + length};
	if (take_string(&text, out, why) < 0)
		return -1;
	if (!take_parameters(&text))
		return refuse(why, "what follows the closing quote is no parameter of RFC 8941");
	if (text.next == text.end)
		return 0;
	take_while(&text, is_blank);
	/* web servers join repeated headers with a comma (case C19) */
	if (at_byte(&text, ','))
		return refuse(why, "there is more than one value, so it was sent twice");
	return refuse(why, "something other than parameters follows the closing quote");
}
