/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/value_type.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Text */

static int read_text(const struct setting *row, const config_setting_t *from, void *field,
		     struct error *error)
{
	const char *text = config_setting_get_string(from);
	if (text == NULL)
		return value_refuse_type(row, from, error);
	int64_t length = (int64_t)strlen(text);
	if (length < row->least)
		return value_refuse(row, error, "is empty");
	if (row->most > 0 && length > row->most) {
		error_set(error, ERROR_INPUT,
			  "is %" PRId64 " bytes long, above the maximum of %" PRId64, length,
			  row->most);
		return -1;
	}
	if (value_check_text(row, text, error) < 0)
		return -1;
	char *copy = strdup(text);
	if (copy == NULL)
		return value_out_of_memory(error);
	*(char **)field = copy;
	return 0;
}

static void write_text(const struct setting *row, const void *field, FILE *out)
{
	(void)row;
	value_write_quoted(*(char *const *)field, out);
}

static bool equal_text(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other) == 0;
}

static void clear_text(void *field)
{
	free(*(char **)field);
}

const struct value_type value_text = {
    .takes = "a text",
    .example = "\"a text in quotes\"",
    .size = sizeof(char *),
    .read = read_text,
    .write = write_text,
    .equal = equal_text,
    .clear = clear_text,
};

/* Yes and no */

static int read_bool(const struct setting *row, const config_setting_t *from, void *field,
		     struct error *error)
{
	if (config_setting_type(from) != CONFIG_TYPE_BOOL)
		return value_refuse_type(row, from, error);
	*(bool *)field = config_setting_get_bool(from) != CONFIG_FALSE;
	return 0;
}

static void write_bool(const struct setting *row, const void *field, FILE *out)
{
	(void)row;
	fputs(*(const bool *)field ? "true" : "false", out);
}

static bool equal_bool(const void *one, const void *other)
{
	return *(const bool *)one == *(const bool *)other;
}

const struct value_type value_bool = {
    .takes = "true or false",
    .size = sizeof(bool),
    .read = read_bool,
    .write = write_bool,
    .equal = equal_bool,
};

/* Numbers */

static int check_bounds(const struct setting *row, int64_t number, const char *written,
			struct error *error)
{
	if (number >= row->least && number <= row->most)
		return 0;
	bool below = number < row->least;
	char bound[UNIT_TEXT_SIZE];
	value_type_of(row)->format(below ? row->least : row->most, bound);
	error_set(error, ERROR_INPUT, "%.80s is %s of %s", written,
		  below ? "below the minimum" : "above the maximum", bound);
	return -1;
}

static void format_integer(int64_t number, char text[UNIT_TEXT_SIZE])
{
	snprintf(text, UNIT_TEXT_SIZE, "%" PRId64, number);
}

static bool is_integer(const config_setting_t *from)
{
	int type = config_setting_type(from);
	return type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64;
}

/* Is the value one of the row's words? Then *field is what it stands for. */
static bool take_word(const struct setting *row, const config_setting_t *from, void *field)
{
	const char *text = config_setting_get_string(from);
	if (text == NULL || row->words == NULL)
		return false;
	const struct setting_word *word = value_find_word(row, text, strlen(text));
	if (word != NULL)
		*(int64_t *)field = word->value;
	return word != NULL;
}

static int read_integer(const struct setting *row, const config_setting_t *from, void *field,
			struct error *error)
{
	if (take_word(row, from, field))
		return 0;
	if (!is_integer(from))
		return value_refuse_type(row, from, error);
	int64_t number = config_setting_get_int64(from);
	char written[UNIT_TEXT_SIZE];
	format_integer(number, written);
	if (check_bounds(row, number, written, error) < 0)
		return -1;
	*(int64_t *)field = number;
	return 0;
}

/* Parse and bounds of a number that is written as text, with a unit. */
static int take_measure(const struct setting *row, const char *text, void *field,
			struct error *error)
{
	int64_t number;
	if (value_type_of(row)->parse(text, &number) < 0)
		return value_refuse(row, error, "is \"%.80s\"", text);
	if (check_bounds(row, number, text, error) < 0)
		return -1;
	*(int64_t *)field = number;
	return 0;
}

/* Octal digits without quotes would be read as a decimal number. */
static int read_mode(const struct setting *row, const config_setting_t *from, void *field,
		     struct error *error)
{
	const char *text = config_setting_get_string(from);
	if (text == NULL)
		return value_refuse_type(row, from, error);
	return take_measure(row, text, field, error);
}

/* A size may also be a bare number of bytes. */
static int read_size(const struct setting *row, const config_setting_t *from, void *field,
		     struct error *error)
{
	const char *text = config_setting_get_string(from);
	if (text == NULL)
		return read_integer(row, from, field, error);
	return take_measure(row, text, field, error);
}

/* A bare number is taken for seconds by one reader and for milliseconds by another. */
static int read_duration(const struct setting *row, const config_setting_t *from, void *field,
			 struct error *error)
{
	const char *text = config_setting_get_string(from);
	char digits[UNIT_TEXT_SIZE];
	if (take_word(row, from, field))
		return 0;
	if (text == NULL && !is_integer(from))
		return value_refuse_type(row, from, error);
	if (text == NULL) {
		format_integer(config_setting_get_int64(from), digits);
		text = digits;
	}
	if (*text != '\0' && strspn(text, "0123456789") == strlen(text)) {
		error_set(error, ERROR_INPUT,
			  "%.40s has no unit; write \"%.40ss\" for seconds (units: ms, s, m, h, d)",
			  text, text);
		return -1;
	}
	return take_measure(row, text, field, error);
}

static void write_integer(const struct setting *row, const void *field, FILE *out)
{
	int64_t number = *(const int64_t *)field;
	const char *word = value_word_of(row, number);
	if (word != NULL)
		value_write_quoted(word, out);
	else
		fprintf(out, "%" PRId64, number);
}

static void write_measure(const struct setting *row, const void *field, FILE *out)
{
	int64_t number = *(const int64_t *)field;
	const char *word = value_word_of(row, number);
	char text[UNIT_TEXT_SIZE];
	value_type_of(row)->format(number, text);
	value_write_quoted(word != NULL ? word : text, out);
}

static bool equal_number(const void *one, const void *other)
{
	return *(const int64_t *)one == *(const int64_t *)other;
}

const struct value_type value_integer = {
    .takes = "a whole number",
    .size = sizeof(int64_t),
    .read = read_integer,
    .write = write_integer,
    .equal = equal_number,
    .format = format_integer,
};

const struct value_type value_size = {
    .takes = "a size in bytes or with K, M or G",
    .size = sizeof(int64_t),
    .read = read_size,
    .write = write_measure,
    .equal = equal_number,
    .parse = unit_parse_size,
    .format = unit_format_size,
};

const struct value_type value_duration = {
    .takes = "a duration",
    .size = sizeof(int64_t),
    .read = read_duration,
    .write = write_measure,
    .equal = equal_number,
    .parse = unit_parse_duration,
    .format = unit_format_duration,
};

const struct value_type value_mode = {
    .takes = "an octal mode in quotes",
    .size = sizeof(int64_t),
    .read = read_mode,
    .write = write_measure,
    .equal = equal_number,
    .parse = unit_parse_mode,
    .format = unit_format_mode,
};

/* Words. No enum of the configuration has a negative value, so each is kept as an unsigned int. */

static int read_word(const struct setting *row, const config_setting_t *from, void *field,
		     struct error *error)
{
	const char *text = config_setting_get_string(from);
	if (text == NULL)
		return value_refuse_type(row, from, error);
	const struct setting_word *word = value_find_word(row, text, strlen(text));
	if (word == NULL)
		return value_refuse(row, error, "is \"%.80s\"", text);
	*(unsigned *)field = (unsigned)word->value;
	return 0;
}

static void write_word(const struct setting *row, const void *field, FILE *out)
{
	value_write_quoted(value_word_of(row, *(const unsigned *)field), out);
}

static bool equal_word(const void *one, const void *other)
{
	return *(const unsigned *)one == *(const unsigned *)other;
}

const struct value_type value_word = {
    .takes = "one of",
    .size = sizeof(unsigned),
    .read = read_word,
    .write = write_word,
    .equal = equal_word,
};
