/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/value.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/buffer.h"
#include "config/route.h"
#include "config/value_type.h"

/* Holds no value: what it contains is read elsewhere. */

static int read_nothing(const struct setting *row, const config_setting_t *from, void *field,
			struct error *error)
{
	(void)row, (void)from, (void)field, (void)error;
	return 0;
}

static void write_nothing(const struct setting *row, const void *field, FILE *out)
{
	(void)row, (void)field, (void)out;
}

static bool equal_nothing(const void *one, const void *other)
{
	(void)one, (void)other;
	return true;
}

static const struct value_type section = {
    .takes = "settings of routes",
    .read = read_nothing,
    .write = write_nothing,
    .equal = equal_nothing,
};

static const struct value_type *const types[] = {
    [SETTING_TEXT] = &value_text,         [SETTING_TEXTS] = &value_texts,
    [SETTING_BOOL] = &value_bool,         [SETTING_INTEGER] = &value_integer,
    [SETTING_SIZE] = &value_size,         [SETTING_DURATION] = &value_duration,
    [SETTING_MODE] = &value_mode,         [SETTING_WORD] = &value_word,
    [SETTING_PARTS] = &value_parts,       [SETTING_SOURCES] = &value_sources,
    [SETTING_REQUIRED] = &value_required, [SETTING_SECTION] = &section,
};

/* Holds the value of any setting while it is read. */
union value {
	char *text;
	bool flag;
	int64_t number;
	unsigned word;
	struct string_list texts;
	struct setting_parts parts;
	struct source_list sources;
	struct route_required required;
};

const struct value_type *value_type_of(const struct setting *row)
{
	return types[row->type];
}

int value_out_of_memory(struct error *error)
{
	error_set(error, ERROR_MEMORY, "out of memory");
	return -1;
}

int value_refuse(const struct setting *row, struct error *error, const char *format, ...)
{
	char what[128], takes[VALUE_DESCRIPTION_SIZE];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	value_describe(row, takes);
	error_set(error, ERROR_INPUT, "%s, but takes %s, as %s", what, takes, value_example(row));
	return -1;
}

int value_refuse_type(const struct setting *row, const config_setting_t *from, struct error *error)
{
	return value_refuse(row, error, "is %s", value_found(from));
}

const char *value_found(const config_setting_t *from)
{
	switch (config_setting_type(from)) {
	case CONFIG_TYPE_GROUP:
		return "a group";
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		return "a whole number";
	case CONFIG_TYPE_FLOAT:
		return "a fraction";
	case CONFIG_TYPE_STRING:
		return "text";
	case CONFIG_TYPE_BOOL:
		return "true or false";
	default:
		return "a list";
	}
}

const char *value_example(const struct setting *row)
{
	if (row->standard == NULL || strcmp(row->standard, "\"\"") == 0)
		return value_type_of(row)->example;
	return row->standard;
}

int value_check_text(const struct setting *row, const char *text, struct error *error)
{
	for (const char *byte = text; *byte != '\0'; byte++) {
		if (row->may_wrap && (*byte == '\n' || *byte == '\t'))
			continue;
		if ((unsigned char)*byte < ' ' || *byte == '\x7f') {
			error_set(error, ERROR_INPUT, "holds a control byte; remove it");
			return -1;
		}
	}
	return row->check != NULL ? row->check(text, error) : 0;
}

void value_write_quoted(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text != '\0'; text++) {
		bool escaped = strchr("\"\\\n\t", *text) != NULL;
		if (escaped)
			fputc('\\', out);
		fputc(*text == '\n' ? 'n' : *text == '\t' ? 't' : *text, out);
	}
	fputc('"', out);
}

const struct setting_word *value_find_word(const struct setting *row, const char *text,
					   size_t length)
{
	for (const struct setting_word *word = row->words; word->word != NULL; word++)
		if (strlen(word->word) == length && strncmp(word->word, text, length) == 0)
			return word;
	return NULL;
}

const char *value_word_of(const struct setting *row, int64_t value)
{
	const struct setting_word *word = row->words;
	while (word != NULL && word->word != NULL && word->value != value)
		word++;
	return word != NULL ? word->word : NULL;
}

static void *field_of(const struct setting *row, void *target)
{
	return (char *)target + row->offset;
}

static const void *const_field_of(const struct setting *row, const void *target)
{
	return (const char *)target + row->offset;
}

int value_read(const struct setting *row, const config_setting_t *from, void *target,
	       struct error *error)
{
	const struct value_type *type = value_type_of(row);
	union value value = {0};
	if (type->read(row, from, &value, error) < 0)
		return -1;
	value_clear(row, target);
	memcpy(field_of(row, target), &value, type->size);
	return 0;
}

void value_write(const struct setting *row, const void *target, FILE *out)
{
	value_type_of(row)->write(row, const_field_of(row, target), out);
}

bool value_equal(const struct setting *row, const void *one, const void *other)
{
	return value_type_of(row)->equal(const_field_of(row, one), const_field_of(row, other));
}

void value_clear(const struct setting *row, void *target)
{
	const struct value_type *type = value_type_of(row);
	void *field = field_of(row, target);
	if (type->clear != NULL)
		type->clear(field);
	memset(field, 0, type->size);
}

static void describe_words(const struct setting *row, struct buffer *text)
{
	for (const struct setting_word *word = row->words; word->word != NULL; word++) {
		buffer_append_text(text, word == row->words ? " " : ", ");
		if (row->type == SETTING_SOURCES)
			buffer_printf(text, "%s:%s", word->word,
				      word->value == SOURCE_JSON ? "/NAME" : "NAME");
		else
			buffer_printf(text, row->type == SETTING_PARTS ? "%s" : "\"%s\"",
				      word->word);
	}
	if (row->type == SETTING_PARTS)
		buffer_append_text(text, ", header:NAME");
}

static void describe_bounds(const struct setting *row, struct buffer *text)
{
	char least[UNIT_TEXT_SIZE], most[UNIT_TEXT_SIZE];
	value_type_of(row)->format(row->least, least);
	value_type_of(row)->format(row->most, most);
	buffer_printf(text, ", %s to %s", least, most);
	for (const struct setting_word *word = row->words; word != NULL && word->word != NULL;
	     word++)
		buffer_printf(text, ", or \"%s\"", word->word);
}

void value_describe(const struct setting *row, char text[VALUE_DESCRIPTION_SIZE])
{
	struct buffer out = {.limit = VALUE_DESCRIPTION_SIZE - 1};
	const struct value_type *type = value_type_of(row);
	buffer_append_text(&out, type->takes);
	if (row->unit != NULL)
		buffer_printf(&out, row->type == SETTING_TEXT ? ": %s" : " of %s", row->unit);
	if (type->format != NULL)
		describe_bounds(row, &out);
	else if (row->words != NULL)
		describe_words(row, &out);
	if (type->format == NULL && row->least > 0)
		buffer_append_text(&out, ", not empty");
	snprintf(text, VALUE_DESCRIPTION_SIZE, "%s", buffer_text(&out));
	buffer_free(&out);
}
