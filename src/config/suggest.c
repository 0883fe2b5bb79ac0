/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/suggest.h"

#include <stdio.h>
#include <string.h>

/* Names that people expect and that are left out on purpose, by their last part. */
static const struct {
	const char *name, *instead;
} absent[] = {
    {"password", "credentials never stand here: name an option file by store.option_file"},
    {"passwd", "credentials never stand here: name an option file by store.option_file"},
};

/* How many bytes must be changed, added or removed to make `b` of `a`; both shorter than
 * SETTING_PATH_SIZE. */
static size_t distance(const char *a, const char *b)
{
	size_t row[SETTING_PATH_SIZE];
	size_t width = strlen(b);
	for (size_t i = 0; i <= width; i++)
		row[i] = i;
	for (; *a != '\0'; a++) {
		size_t diagonal = row[0]++;
		for (size_t i = 1; i <= width; i++) {
			size_t changed = diagonal + (*a != b[i - 1]);
			size_t added = (row[i] < row[i - 1] ? row[i] : row[i - 1]) + 1;
			diagonal = row[i];
			row[i] = changed < added ? changed : added;
		}
	}
	return row[width];
}

static const char *last_part(const char *path)
{
	const char *dot = strrchr(path, '.');
	return dot != NULL ? dot + 1 : path;
}

/* The row whose path, or only its last part, is nearest to `name`; NULL when none is near. */
static const struct setting *nearest(const struct setting_table *table, const char *name,
				     bool whole)
{
	const struct setting *best = NULL;
	size_t least = strlen(last_part(name)) / 3 + 1;
	for (size_t i = 0; i < table->count; i++) {
		const char *path = table->rows[i].path;
		size_t far = distance(name, whole ? path : last_part(path));
		if (far < least) {
			least = far;
			best = &table->rows[i];
		}
	}
	return best;
}

/* As nearest, of the groups' names. */
static const char *nearest_group(const struct setting_table *table, const char *name,
				 char group[SETTING_PATH_SIZE])
{
	size_t least = strlen(name) / 3 + 1;
	bool found = false;
	for (size_t i = 0; i < table->count; i++) {
		const char *path = table->rows[i].path;
		char candidate[SETTING_PATH_SIZE];
		snprintf(candidate, sizeof(candidate), "%.*s", (int)strcspn(path, "."), path);
		size_t far = path[strlen(candidate)] == '.' ? distance(name, candidate) : least;
		if (far < least) {
			least = far;
			found = true;
			memcpy(group, candidate, sizeof(candidate));
		}
	}
	return found ? group : NULL;
}

void suggest_setting(const struct setting_table *table, const char *path,
		     char text[SUGGESTION_SIZE])
{
	const struct setting_table *other =
	    table == &settings_global ? &settings_route : &settings_global;
	const char *last = last_part(path);
	char group[SETTING_PATH_SIZE];
	const struct setting *row;

	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		if (strcmp(absent[i].name, last) == 0) {
			snprintf(text, SUGGESTION_SIZE, "%s", absent[i].instead);
			return;
		}
	}
	if (strlen(path) >= SETTING_PATH_SIZE)
		snprintf(text, SUGGESTION_SIZE, "oncewrap.conf(5) lists what there is");
	else if (settings_find(other, path) != NULL || settings_is_group(other, path))
		snprintf(text, SUGGESTION_SIZE, "%s",
			 other == &settings_route
			     ? "it belongs to a route: write it there or in defaults"
			     : "it belongs to the whole service: write it outside of routes and "
			       "presets");
	else if ((row = nearest(table, path, true)) != NULL ||
		 (row = nearest(table, last, false)) != NULL)
		snprintf(text, SUGGESTION_SIZE, "did you mean %s?", row->path);
	else if (nearest_group(table, path, group) != NULL)
		snprintf(text, SUGGESTION_SIZE, "did you mean %s?", group);
	else
		snprintf(text, SUGGESTION_SIZE, "oncewrap.conf(5) lists what there is");
}
