/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/field_value.h"

#include <string.h>
#include <strings.h>

static void skip_blanks(struct field_value *field)
{
	while (field->next < field->end && (*field->next == ' ' || *field->next == '\t'))
		field->next++;
}

static bool take_byte(struct field_value *field, char byte)
{
	if (field->next == field->end || *field->next != byte)
		return false;
	field->next++;
	return true;
}

/* Take bytes up to one of `set` or the end; how many. */
static size_t take_until(struct field_value *field, const char *set)
{
	const char *start = field->next;
	while (field->next < field->end &&
	       (*field->next == '\0' || strchr(set, *field->next) == NULL))
		field->next++;
	return (size_t)(field->next - start);
}

void field_value_open(struct field_value *field, const char *value, size_t length)
{
	*field = (struct field_value){.next = value, .end = value + length};
	skip_blanks(field);
	field->word = field->next;
	field->word_length = take_until(field, "; \t");
}

bool field_value_is(const struct field_value *field, const char *word)
{
	return field->word_length == strlen(word) &&
	       strncasecmp(field->word, word, field->word_length) == 0;
}

/* Behind the opening quote. */
static bool take_quoted(struct field_value *field, struct buffer *text)
{
	while (field->next < field->end) {
		char byte = *field->next++;
		if (byte == '"')
			return true;
		bool escaped = byte == '\\' && field->next < field->end &&
			       (*field->next == '"' || *field->next == '\\');
		if (escaped)
			byte = *field->next++;
		buffer_append_byte(text, (unsigned char)byte);
	}
	return false;
}

static bool take_text(struct field_value *field, struct buffer *text)
{
	if (take_byte(field, '"'))
		return take_quoted(field, text);
	const char *start = field->next;
	size_t length = take_until(field, "; \t");
	buffer_append(text, start, length);
	return length > 0;
}

static void put_lower(struct buffer *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		bool upper = text[i] >= 'A' && text[i] <= 'Z';
		buffer_append_byte(out, (unsigned char)(upper ? text[i] - 'A' + 'a' : text[i]));
	}
}

enum field_value_taken field_value_next(struct field_value *field, struct buffer *name,
					struct buffer *text)
{
	buffer_clear(name);
	buffer_clear(text);
	bool semicolon = false;
	skip_blanks(field);
	while (take_byte(field, ';')) { /* empty parameters are allowed */
		semicolon = true;
		skip_blanks(field);
	}
	if (field->next == field->end)
		return FIELD_VALUE_END;
	const char *start = field->next;
	size_t length = take_until(field, "=;\" \t");
	if (!semicolon || length == 0)
		return FIELD_VALUE_MALFORMED;
	put_lower(name, start, length);
	skip_blanks(field);
	if (!take_byte(field, '='))
		return FIELD_VALUE_MALFORMED;
	skip_blanks(field);
	if (!take_text(field, text) || name->failed || text->failed)
		return FIELD_VALUE_MALFORMED;
	return FIELD_VALUE_PARAMETER;
}
