/* SPDX-License-Identifier: ISC */
/*
 * Within value*.c: what can be done with the value of each setting type. `field` points to the
 * value inside the struct; numbers also have a way to be parsed and shown, others not.
 */
#ifndef ONCEWRAP_CONFIG_VALUE_TYPE_H
#define ONCEWRAP_CONFIG_VALUE_TYPE_H

#include "base/error.h"
#include "config/settings.h"
#include "config/unit.h"

#include <libconfig.h>
#include <stdbool.h>
#include <stdio.h>

struct value_type {
	const char *takes;   /* for people */
	const char *example; /* a good value, where the setting's default shows none */
	/* Fill *field, which is all zero, and stays so when this fails. */
	int (*read)(const struct setting *row, const config_setting_t *from, void *field,
		    struct error *error);
	void (*write)(const struct setting *row, const void *field, FILE *out);
	bool (*equal)(const void *one, const void *other);
	void (*clear)(void *field); /* free what *field owns; NULL: nothing */
	size_t size;
	int (*parse)(const char *text, int64_t *number);
	void (*format)(int64_t number, char text[UNIT_TEXT_SIZE]);
};

/* In value_scalar.c. */
extern const struct value_type value_text, value_bool, value_integer, value_size, value_duration,
    value_mode, value_word;

/* In value_list.c. */
extern const struct value_type value_texts, value_parts, value_sources, value_required;

const struct value_type *value_type_of(const struct setting *row);

/* Each fills *error and returns -1. */
int value_out_of_memory(struct error *error);
/* "WHAT, but takes ..., as ...": what is wrong, then what the setting takes, with an example. */
int value_refuse(const struct setting *row, struct error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int value_refuse_type(const struct setting *row, const config_setting_t *from, struct error *error);

/* "a whole number", "a list", ...: what stands in the file. */
const char *value_found(const config_setting_t *from);

/* A good value of the setting: its default, if that shows what one looks like. */
const char *value_example(const struct setting *row);

/* No control bytes but those that break lines, where the row allows it; and what its own check
 * says. */
int value_check_text(const struct setting *row, const char *text, struct error *error);

/* In quotes, as libconfig reads it back. */
void value_write_quoted(const char *text, FILE *out);

/* The row's word that is `text` up to `length`, or NULL. */
const struct setting_word *value_find_word(const struct setting *row, const char *text,
					   size_t length);
/* The row's word of that value; NULL when it has none, which happens to numbers only. */
const char *value_word_of(const struct setting *row, int64_t value);

#endif
