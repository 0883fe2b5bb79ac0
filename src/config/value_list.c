/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/value_type.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config/grammar.h"
#include "config/route.h"

/* A single text counts as a list of one. */
static size_t list_length(const config_setting_t *from)
{
	return config_setting_is_scalar(from) ? 1 : (size_t)config_setting_length(from);
}

/* The text at `index`; NULL with *error when something else stands there, or it is malformed. */
static const char *list_text(const struct setting *row, const config_setting_t *from, size_t index,
			     struct error *error)
{
	bool alone = config_setting_is_scalar(from);
	const config_setting_t *item =
	    alone ? from : config_setting_get_elem(from, (unsigned)index);
	const char *text = config_setting_get_string(item);
	if (text == NULL) {
		value_refuse(row, error, "%s %s", alone ? "is" : "holds", value_found(item));
		return NULL;
	}
	return value_check_text(row, text, error) == 0 ? text : NULL;
}

static int check_list(const struct setting *row, const config_setting_t *from, struct error *error)
{
	if (config_setting_is_group(from))
		return value_refuse_type(row, from, error);
	if ((int64_t)list_length(from) < row->least)
		return value_refuse(row, error, "is empty");
	return 0;
}

/* Texts */

static void clear_texts(void *field)
{
	struct string_list *list = field;
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
}

static int read_texts(const struct setting *row, const config_setting_t *from, void *field,
		      struct error *error)
{
	if (check_list(row, from, error) < 0)
		return -1;
	size_t length = list_length(from);
	struct string_list list = {.items = calloc(length + 1, sizeof(*list.items))};
	if (list.items == NULL)
		return value_out_of_memory(error);
	for (; list.count < length; list.count++) {
		const char *text = list_text(row, from, list.count, error);
		if (text == NULL)
			goto fail;
		list.items[list.count] = strdup(text);
		if (list.items[list.count] == NULL) {
			value_out_of_memory(error);
			goto fail;
		}
	}
	*(struct string_list *)field = list;
	return 0;
fail:
	clear_texts(&list);
	return -1;
}

static void write_texts(const struct setting *row, const void *field, FILE *out)
{
	(void)row;
	const struct string_list *list = field;
	fputs("[", out);
	for (size_t i = 0; i < list->count; i++) {
		fputs(i == 0 ? " " : ", ", out);
		value_write_quoted(list->items[i], out);
	}
	fputs(list->count > 0 ? " ]" : "]", out);
}

static bool equal_texts(const void *one, const void *other)
{
	const struct string_list *a = one, *b = other;
	bool equal = a->count == b->count;
	for (size_t i = 0; equal && i < a->count; i++)
		equal = strcmp(a->items[i], b->items[i]) == 0;
	return equal;
}

const struct value_type value_texts = {
    .takes = "a list",
    .example = "[ \"one\", \"two\" ]",
    .size = sizeof(struct string_list),
    .read = read_texts,
    .write = write_texts,
    .equal = equal_texts,
    .clear = clear_texts,
};

/* Parts of the fingerprint */

static void clear_parts(void *field)
{
	struct setting_parts *parts = field;
	clear_texts(&parts->headers);
}

/* In small letters: it stands in the scheme, and names of headers have no case. */
static int add_header(const struct setting *row, const char *name, struct setting_parts *parts,
		      struct error *error)
{
	struct string_list *headers = &parts->headers;
	char lower[SOURCE_MAX_NAME + 1];
	size_t length = 0;
	if (grammar_part_header(name, error) < 0)
		return -1;
	for (; name[length] != '\0'; length++)
		lower[length] = (char)tolower((unsigned char)name[length]);
	lower[length] = '\0';
	for (size_t i = 0; i < headers->count; i++)
		if (strcmp(headers->items[i], lower) == 0)
			return value_refuse(row, error, "holds \"header:%.60s\" twice", name);
	if (headers->count == FINGERPRINT_MOST_HEADERS)
		return value_refuse(row, error, "holds more than %d headers",
				    FINGERPRINT_MOST_HEADERS);
	headers->items[headers->count] = strdup(lower);
	if (headers->items[headers->count] == NULL)
		return value_out_of_memory(error);
	headers->count++;
	return 0;
}

static int add_part(const struct setting *row, const char *text, struct setting_parts *parts,
		    struct error *error)
{
	static const char header[] = "header:";
	if (strncmp(text, header, sizeof(header) - 1) == 0)
		return add_header(row, text + sizeof(header) - 1, parts, error);
	const struct setting_word *word = value_find_word(row, text, strlen(text));
	if (word == NULL)
		return value_refuse(row, error, "holds \"%.80s\"", text);
	if ((parts->bits & word->value) != 0)
		return value_refuse(row, error, "holds \"%s\" twice", text);
	parts->bits |= word->value;
	return 0;
}

static int read_parts(const struct setting *row, const config_setting_t *from, void *field,
		      struct error *error)
{
	struct setting_parts *parts = field;
	if (check_list(row, from, error) < 0)
		return -1;
	parts->headers.items = calloc(FINGERPRINT_MOST_HEADERS, sizeof(*parts->headers.items));
	if (parts->headers.items == NULL)
		return value_out_of_memory(error);
	for (size_t i = 0; i < list_length(from); i++) {
		const char *text = list_text(row, from, i, error);
		if (text == NULL || add_part(row, text, parts, error) < 0) {
			clear_parts(parts);
			*parts = (struct setting_parts){0};
			return -1;
		}
	}
	return 0;
}

static void write_parts(const struct setting *row, const void *field, FILE *out)
{
	const struct setting_parts *parts = field;
	const char *between = "[ ";
	for (const struct setting_word *word = row->words; word->word != NULL; word++) {
		if ((parts->bits & word->value) == 0)
			continue;
		fprintf(out, "%s\"%s\"", between, word->word);
		between = ", ";
	}
	for (size_t i = 0; i < parts->headers.count; i++) {
		fprintf(out, "%s\"header:%s\"", between, parts->headers.items[i]);
		between = ", ";
	}
	fputs(" ]", out);
}

static bool equal_parts(const void *one, const void *other)
{
	const struct setting_parts *a = one, *b = other;
	return a->bits == b->bits && equal_texts(&a->headers, &b->headers);
}

/* What a row's offset leads to. */
_Static_assert(offsetof(struct route, fingerprint_headers) ==
		   offsetof(struct route, fingerprint_parts) +
		       offsetof(struct setting_parts, headers),
	       "struct route has the members of struct setting_parts one behind the other");

const struct value_type value_parts = {
    .takes = "a list of",
    .size = sizeof(struct setting_parts),
    .read = read_parts,
    .write = write_parts,
    .equal = equal_parts,
    .clear = clear_parts,
};

/* Sources */

static void clear_sources(void *field)
{
	struct source_list *list = field;
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].name);
	free(list->items);
}

static int read_source(const struct setting *row, const char *text, struct source *source,
		       struct error *error)
{
	const char *colon = strchr(text, ':');
	const struct setting_word *kind =
	    colon != NULL ? value_find_word(row, text, (size_t)(colon - text)) : NULL;
	if (kind == NULL)
		return value_refuse(row, error, "holds \"%.80s\"", text);
	source->kind = (enum source_kind)kind->value;
	if (grammar_source(source->kind, colon + 1, error) < 0)
		return -1;
	source->name = strdup(colon + 1);
	return source->name != NULL ? 0 : value_out_of_memory(error);
}

static int read_sources(const struct setting *row, const config_setting_t *from, void *field,
			struct error *error)
{
	if (check_list(row, from, error) < 0)
		return -1;
	size_t length = list_length(from);
	struct source_list list = {.items = calloc(length + 1, sizeof(*list.items))};
	if (list.items == NULL)
		return value_out_of_memory(error);
	for (; list.count < length; list.count++) {
		const char *text = list_text(row, from, list.count, error);
		if (text == NULL || read_source(row, text, &list.items[list.count], error) < 0) {
			clear_sources(&list);
			return -1;
		}
	}
	*(struct source_list *)field = list;
	return 0;
}

static void write_sources(const struct setting *row, const void *field, FILE *out)
{
	const struct source_list *list = field;
	fputs("[", out);
	for (size_t i = 0; i < list->count; i++) {
		const struct source *source = &list->items[i];
		char text[512];
		snprintf(text, sizeof(text), "%s:%s", value_word_of(row, source->kind),
			 source->name);
		fputs(i == 0 ? " " : ", ", out);
		value_write_quoted(text, out);
	}
	fputs(list->count > 0 ? " ]" : "]", out);
}

static bool equal_sources(const void *one, const void *other)
{
	const struct source_list *a = one, *b = other;
	bool equal = a->count == b->count;
	for (size_t i = 0; equal && i < a->count; i++)
		equal = a->items[i].kind == b->items[i].kind &&
			strcmp(a->items[i].name, b->items[i].name) == 0;
	return equal;
}

const struct value_type value_sources = {
    .takes = "a list of",
    .size = sizeof(struct source_list),
    .read = read_sources,
    .write = write_sources,
    .equal = equal_sources,
    .clear = clear_sources,
};

/* Yes, no, or a list of methods */

static int read_required(const struct setting *row, const config_setting_t *from, void *field,
			 struct error *error)
{
	struct route_required *required = field;
	const char *text = config_setting_get_string(from);
	if (text != NULL && value_check_text(row, text, error) < 0) /* such as "yes" */
		return value_refuse(row, error, "is \"%.80s\"", text);
	if (config_setting_type(from) != CONFIG_TYPE_BOOL)
		return read_texts(row, from, &required->methods, error);
	required->always = config_setting_get_bool(from) != CONFIG_FALSE;
	return 0;
}

static void write_required(const struct setting *row, const void *field, FILE *out)
{
	const struct route_required *required = field;
	if (required->methods.count > 0)
		write_texts(row, &required->methods, out);
	else
		value_bool.write(row, &required->always, out);
}

static bool equal_required(const void *one, const void *other)
{
	const struct route_required *a = one, *b = other;
	return a->always == b->always && equal_texts(&a->methods, &b->methods);
}

static void clear_required(void *field)
{
	struct route_required *required = field;
	clear_texts(&required->methods);
}

const struct value_type value_required = {
    .takes = "true, false or a list of methods",
    .size = sizeof(struct route_required),
    .read = read_required,
    .write = write_required,
    .equal = equal_required,
    .clear = clear_required,
};
