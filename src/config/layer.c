/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/layer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "config/file.h"
#include "config/suggest.h"
#include "config/value.h"

struct application {
	const struct layer *layer;
	const struct setting_table *table;
	void *target;
	struct problems *problems;
	bool failed; /* out of memory */
};

/* Hooked to what was refused. */
static char refused_mark;

void layer_complain(const struct layer *layer, const char *path, const config_setting_t *where,
		    struct problems *problems, const char *format, ...)
{
	char message[sizeof(((struct error *)NULL)->message)];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	const struct file *file = file_of(where);
	const char *dot = *layer->label != '\0' && *path != '\0' ? "." : "";
	problems_add(problems, file->name, file->order, config_setting_source_line(where),
		     "%s%s%s: %s", layer->label, dot, path, message);
}

static void tell(const struct application *application, const char *path, config_setting_t *where,
		 const char *message)
{
	layer_complain(application->layer, path, where, application->problems, "%s", message);
	config_setting_set_hook(where, &refused_mark);
}

static void apply_row(struct application *application, const struct setting *row,
		      config_setting_t *from)
{
	struct error error;
	enum layer_reach reach = application->layer->reach;
	if (row->route_only && reach != LAYER_OWN)
		tell(application, row->path, from, "each route has its own: move it there");
	else if (row->names_preset && reach == LAYER_PRESET)
		tell(application, row->path, from,
		     "a preset lies on no other one: copy what it shall have of it");
	else if (value_read(row, from, application->target, &error) == 0)
		return;
	else if (error.kind == ERROR_MEMORY)
		application->failed = true;
	else
		tell(application, row->path, from, error.message);
}

/* `prefix`: the group's own path with a dot behind it, or "". */
static void apply_group(struct application *application, const config_setting_t *group,
			const char *prefix)
{
	for (int i = 0; i < config_setting_length(group); i++) {
		config_setting_t *from = config_setting_get_elem(group, (unsigned)i);
		/* A name that does not fit is none of ours, however it is cut. */
		char path[2 * SETTING_PATH_SIZE];
		snprintf(path, sizeof(path), "%.*s%.*s", SETTING_PATH_SIZE - 1, prefix,
			 SETTING_PATH_SIZE, config_setting_name(from));
		const struct setting *row = settings_find(application->table, path);
		char text[SUGGESTION_SIZE + SETTING_PATH_SIZE];
		if (row != NULL) {
			apply_row(application, row, from);
		} else if (!settings_is_group(application->table, path)) {
			char suggestion[SUGGESTION_SIZE];
			suggest_setting(application->table, path, suggestion);
			snprintf(text, sizeof(text), "unknown setting; %s", suggestion);
			tell(application, path, from, text);
		} else if (!config_setting_is_group(from)) {
			snprintf(text, sizeof(text),
				 "is a group of settings; write it as %s: { ... }",
				 config_setting_name(from));
			tell(application, path, from, text);
		} else {
			strcat(path, ".");
			apply_group(application, from, path);
		}
	}
}

int layer_apply(const struct layer *layer, const struct setting_table *table, void *target,
		struct problems *problems)
{
	struct application application = {
	    .layer = layer, .table = table, .target = target, .problems = problems};
	apply_group(&application, layer->group, "");
	return application.failed ? -1 : 0;
}

bool layer_refused(const config_setting_t *setting)
{
	return config_setting_get_hook(setting) == &refused_mark;
}

const config_setting_t *layer_find(const struct layer *layer, const char *path)
{
	const config_setting_t *at = layer->group;
	while (at != NULL && *path != '\0') {
		char name[SETTING_PATH_SIZE];
		size_t length = strcspn(path, ".");
		snprintf(name, sizeof(name), "%.*s", (int)length, path);
		at = config_setting_get_member(at, name);
		path += path[length] == '.' ? length + 1 : length;
	}
	return at;
}
