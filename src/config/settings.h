/* SPDX-License-Identifier: ISC */
/*
 * Every setting there is, in two const tables of one row type: those of the whole service, and
 * those of a route. The tables drive parsing, messages, --check, --print-config, the example and
 * the manual; nothing else knows a setting's name, form, bounds or default.
 */
#ifndef ONCEWRAP_CONFIG_SETTINGS_H
#define ONCEWRAP_CONFIG_SETTINGS_H

#include "base/error.h"
#include "config/route.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a setting's value is, as kept in the struct and as written. */
enum setting_type {
	SETTING_TEXT,     /* char *, owned */
	SETTING_TEXTS,    /* struct string_list */
	SETTING_BOOL,     /* bool */
	SETTING_INTEGER,  /* int64_t, as are the next three */
	SETTING_SIZE,     /* bytes, written "16M" */
	SETTING_DURATION, /* milliseconds, written "30s" */
	SETTING_MODE,     /* written in octal, "0660" */
	SETTING_WORD,     /* an enum, written as one of `words` */
	SETTING_PARTS,    /* struct setting_parts, a list of `words` and "header:Name" */
	SETTING_SOURCES,  /* struct source_list, a list of "WORD:name" */
	SETTING_REQUIRED, /* struct route_required */
	SETTING_SECTION,  /* no value of its own: `defaults` and `routes` */
};

struct setting_word {
	const char *word; /* NULL ends a list */
	int64_t value;
};

/* Parts of the fingerprint: bits, and request headers. */
struct setting_parts {
	int64_t bits;               /* values of `words`, or-ed */
	struct string_list headers; /* names, in small letters */
};

struct setting {
	const char *path;     /* within the file, or within a route: "store.host" */
	const char *standard; /* the default as one would write it; NULL: it must be given */
	const char *unit;     /* what a number counts, a list is made of, a text is; or NULL */
	const char *help;     /* one line */
	enum setting_type type;
	bool needs_restart; /* a reload cannot change it */
	bool route_only;    /* each route has its own: not for `defaults`, nor for presets */
	bool names_preset;  /* not for presets */
	bool may_wrap;      /* a text of several lines: line feeds and tabs may stand in it */

	/* Of a number; of a text's length or a list's, where most 0 is no bound. */
	int64_t least, most;
	/* What a SETTING_WORD, a list's item or a source's kind may be; a number may also be one of
	 * them, which then stands for its value whatever the bounds. */
	const struct setting_word *words;
	/* Of a text, or of each in a list: see config/grammar.h. */
	int (*check)(const char *text, struct error *error);
	size_t offset; /* in struct config, or in struct route */
};

struct setting_table {
	const struct setting *rows; /* those of one group stand together */
	size_t count;
};

extern const struct setting_table settings_global;
extern const struct setting_table settings_route;

/* Longest path of a setting, with its NUL. */
#define SETTING_PATH_SIZE 64

/* The row of that path, or NULL. */
const struct setting *settings_find(const struct setting_table *table, const char *path);

/* Is `path` a group that holds settings? */
bool settings_is_group(const struct setting_table *table, const char *path);

#endif
