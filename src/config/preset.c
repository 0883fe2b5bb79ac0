/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/preset.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "config/file.h"
#include "config/grammar.h"

/* What a name leads to when it leads nowhere. */
static const struct layer unusable;

static struct preset *find_read(const struct presets *presets, const char *path)
{
	for (size_t i = 0; i < presets->count; i++)
		if (strcmp(presets->items[i]->path, path) == 0)
			return presets->items[i];
	return NULL;
}

/* NULL when out of memory. */
static struct preset *add(struct presets *presets, const char *path)
{
	struct preset **items =
	    reallocarray(presets->items, presets->count + 1, sizeof(*presets->items));
	if (items == NULL)
		return NULL;
	presets->items = items;
	struct preset *preset = calloc(1, sizeof(*preset));
	if (preset == NULL || (preset->path = strdup(path)) == NULL) {
		free(preset);
		return NULL;
	}
	items[presets->count++] = preset;
	return preset;
}

/* Names of the presets there are, with what stands between. */
static void list_names(const char *directory, struct buffer *names)
{
	struct dirent **entries;
	int count = file_list(directory, &entries);
	for (int i = 0; i < count; i++) {
		int length = (int)(strlen(entries[i]->d_name) - strlen(FILE_SUFFIX));
		buffer_printf(names, "%s%.*s", i == 0 ? "" : ", ", length, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void tell_unknown(const struct presets *presets, const struct layer *from,
			 const config_setting_t *named, struct problems *problems)
{
	const char *name = config_setting_get_string(named);
	struct buffer names = {0};
	if (*name != '/')
		list_names(presets->directory, &names);
	if (*name == '/')
		layer_complain(from, "preset", named, problems, "\"%.200s\" does not exist", name);
	else if (names.length == 0)
		layer_complain(from, "preset", named, problems,
			       "\"%s\" is no preset: there are none in %.200s; write an absolute "
			       "path or set preset_directory",
			       name, presets->directory);
	else
		layer_complain(from, "preset", named, problems,
			       "\"%s\" is no preset; in %.200s there are %.200s", name,
			       presets->directory, buffer_text(&names));
	buffer_free(&names);
}

/* The file that a preset's name stands for. */
static void make_path(const struct presets *presets, const char *name, struct buffer *path)
{
	if (*name == '/')
		buffer_append_text(path, name);
	else
		buffer_printf(path, "%s/%s" FILE_SUFFIX, presets->directory, name);
}

const struct layer *preset_find(struct presets *presets, const struct layer *from,
				const config_setting_t *named, struct problems *problems)
{
	const char *name = named != NULL ? config_setting_get_string(named) : NULL;
	struct error ignored; /* what a malformed name is told by when the setting itself is read */
	if (named == NULL || (name != NULL && *name == '\0'))
		return NULL;
	if (name == NULL || grammar_preset(name, &ignored) < 0 ||
	    (*name != '/' && presets->directory == NULL))
		return &unusable;

	const struct layer *layer = &unusable;
	struct buffer path = {0};
	make_path(presets, name, &path);
	struct preset *preset = find_read(presets, buffer_text(&path));
	if (preset != NULL) {
		layer = &preset->layer;
	} else if (!path.failed && access(buffer_text(&path), F_OK) < 0) {
		tell_unknown(presets, from, named, problems);
	} else if (path.failed || (preset = add(presets, buffer_text(&path))) == NULL) {
		problems->failed = true;
	} else {
		unsigned order = presets->order + (unsigned)presets->count - 1;
		preset->file = file_read(preset->path, order, problems);
		if (preset->file != NULL)
			preset->layer =
			    (struct layer){.group = file_root(preset->file), .reach = LAYER_PRESET};
		layer = &preset->layer;
	}
	buffer_free(&path);
	return layer;
}

void presets_free(struct presets *presets)
{
	for (size_t i = 0; i < presets->count; i++) {
		file_free(presets->items[i]->file);
		free(presets->items[i]->path);
		free(presets->items[i]);
	}
	free(presets->items);
	presets->items = NULL;
	presets->count = 0;
}
