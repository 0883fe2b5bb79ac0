/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/load.h"

#include <errno.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "config/check.h"
#include "config/file.h"
#include "config/layer.h"
#include "config/preset.h"
#include "config/problems.h"
#include "config/settings.h"
#include "config/value.h"

/* A configuration while it is put together. */
struct load {
	struct problems problems;
	struct config *config;
	struct file **files; /* the one named, then those of conf.d */
	size_t file_count;
	struct file *standard_global,
	    *standard_route; /* the tables' defaults, as if they stood in a file */
	struct presets presets;
	struct layer global, defaults;
	struct check_route *routes; /* one for each route of config */
};

static void clear_rows(const struct setting_table *table, void *target)
{
	for (size_t i = 0; i < table->count; i++)
		value_clear(&table->rows[i], target);
}

void config_free(struct config *config)
{
	if (config == NULL)
		return;
	for (size_t i = 0; i < config->route_count; i++)
		clear_rows(&settings_route, &config->routes[i]);
	free(config->routes);
	clear_rows(&settings_global, config);
	free(config);
}

/* The defaults go the same way as what people write. */
static struct file *parse_standard(const struct setting_table *table, struct problems *problems)
{
	struct file *file = NULL;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	if (out != NULL) {
		print_settings(table, NULL, "", out);
		if (fclose(out) == 0)
			file = file_parse("defaults", 0, text, problems);
	}
	free(text);
	problems->failed |= file == NULL;
	return file;
}

/* The configuration at its defaults; 0, or -1 when out of memory. */
static int begin(struct load *load)
{
	load->config = calloc(1, sizeof(*load->config));
	load->standard_global = parse_standard(&settings_global, &load->problems);
	load->standard_route = parse_standard(&settings_route, &load->problems);
	if (load->config == NULL || load->problems.failed)
		return -1;
	struct layer standard = {.group = file_root(load->standard_global)};
	return layer_apply(&standard, &settings_global, load->config, &load->problems);
}

/* Takes over `file`; NULL counts as read and bad. */
static int add_file(struct load *load, struct file *file)
{
	if (file == NULL)
		return -1;
	struct file **files = reallocarray(load->files, load->file_count + 1, sizeof(*files));
	if (files == NULL) {
		load->problems.failed = true;
		file_free(file);
		return -1;
	}
	load->files = files;
	files[load->file_count++] = file;
	return 0;
}

/* The files of conf.d beside the main file; that there is no conf.d is fine. */
static void read_directory(struct load *load, const char *main_name)
{
	const char *slash = strrchr(main_name, '/');
	struct buffer path = {0};
	buffer_append(&path, main_name, slash != NULL ? (size_t)(slash - main_name) + 1 : 0);
	buffer_append_text(&path, "conf.d");
	size_t directory_length = path.length;
	struct dirent **entries = NULL;
	int count = file_list(buffer_text(&path), &entries);
	if (count < 0 && errno != ENOENT)
		problems_add(&load->problems, buffer_text(&path), 1, 0, "cannot be read: %s",
			     strerror(errno));
	for (int i = 0; i < count; i++) {
		path.length = directory_length;
		buffer_printf(&path, "/%s", entries[i]->d_name);
		load->problems.failed |= path.failed;
		add_file(load, file_read(buffer_text(&path), (unsigned)i + 1, &load->problems));
		free(entries[i]);
	}
	free(entries);
	buffer_free(&path);
}

/* A host given alone means TCP: the socket's default must not win over it. */
static void choose_transport(struct load *load)
{
	struct config_store *store = &load->config->store;
	if (*store->host != '\0' && layer_find(&load->global, "store.socket") == NULL)
		*store->socket = '\0';
}

/* Where those of our own were installed, unless the file says otherwise. */
static void choose_presets(struct load *load)
{
	struct config *config = load->config;
	if (*config->preset_directory == '\0') {
		free(config->preset_directory);
		config->preset_directory = strdup(PKGDATADIR "/presets");
		load->problems.failed |= config->preset_directory == NULL;
	}
	/* Where to look is not known when that was refused; nor is which presets there are. */
	const config_setting_t *own =
	    load->global.group != NULL ? layer_find(&load->global, "preset_directory") : NULL;
	if (own == NULL || !layer_refused(own))
		load->presets.directory = config->preset_directory;
	load->presets.order = (unsigned)load->file_count;
}

/* Files of conf.d add routes and nothing else, so that there is one place to look for everything
 * else. */
static void check_additions(struct load *load, const struct file *file)
{
	const struct layer layer = {.group = file_root(file)};
	for (int i = 0; i < config_setting_length(layer.group); i++) {
		const config_setting_t *setting = config_setting_get_elem(layer.group, (unsigned)i);
		if (strcmp(config_setting_name(setting), "routes") != 0)
			layer_complain(&layer, config_setting_name(setting), setting,
				       &load->problems,
				       "a file of conf.d holds routes only; move it to %s",
				       load->files[0]->name);
	}
}

/* Tried on no route in particular, as there may be none. */
static void read_defaults(struct load *load)
{
	const config_setting_t *group = layer_find(&load->global, "defaults");
	if (group == NULL)
		return;
	if (!config_setting_is_group(group)) {
		layer_complain(&load->global, "defaults", group, &load->problems,
			       "is not a group; write defaults: { ... }");
		return;
	}
	load->defaults = (struct layer){.group = group, .label = "defaults", .reach = LAYER_SHARED};
	preset_find(&load->presets, &load->defaults, layer_find(&load->defaults, "preset"),
		    &load->problems);
	struct route scratch = {0};
	if (layer_apply(&load->defaults, &settings_route, &scratch, &load->problems) < 0)
		load->problems.failed = true;
	clear_rows(&settings_route, &scratch);
}

/* The file's list of routes; NULL when there is none, or no list. */
static const config_setting_t *find_routes(struct load *load, const struct file *file)
{
	const struct layer layer = {.group = file_root(file)};
	const config_setting_t *routes = layer_find(&layer, "routes");
	if (routes == NULL || config_setting_is_list(routes))
		return routes;
	layer_complain(&layer, "routes", routes, &load->problems,
		       "is not a list of groups; write routes = ( { ... }, { ... } )");
	return NULL;
}

/* The layer of the preset that the route itself names, else `defaults`; NULL when neither does. */
static const struct layer *choose_preset(struct load *load, const struct layer *own)
{
	const struct layer *from = own;
	const config_setting_t *named = layer_find(own, "preset");
	if (named == NULL && load->defaults.group != NULL) {
		from = &load->defaults;
		named = layer_find(from, "preset");
	}
	return preset_find(&load->presets, from, named, &load->problems);
}

/* One over the other, later wins. */
static void apply_route(struct load *load, const struct check_route *from, struct route *route)
{
	const struct layer standard = {.group = file_root(load->standard_route)};
	const struct layer *layers[] = {&standard, from->preset, &load->defaults, &from->own};
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
		if (layers[i] != NULL && layers[i]->group != NULL &&
		    layer_apply(layers[i], &settings_route, route, &load->problems) < 0)
			load->problems.failed = true;
}

static void read_routes(struct load *load, const config_setting_t *list)
{
	for (int i = 0; i < config_setting_length(list); i++) {
		struct check_route *from = &load->routes[load->config->route_count];
		struct layer *own = &from->own;
		own->group = config_setting_get_elem(list, (unsigned)i);
		snprintf(own->label, sizeof(own->label), "routes[%d]", i);
		if (!config_setting_is_group(own->group)) {
			layer_complain(own, "", own->group, &load->problems,
				       "is not a group; write { name = \"orders\"; ... }");
			continue;
		}
		from->preset = choose_preset(load, own);
		apply_route(load, from, &load->config->routes[load->config->route_count++]);
	}
}

static void read_all_routes(struct load *load)
{
	size_t count = 0;
	const config_setting_t **lists = calloc(load->file_count, sizeof(const config_setting_t *));
	for (size_t i = 0; lists != NULL && i < load->file_count; i++) {
		lists[i] = find_routes(load, load->files[i]);
		count += lists[i] != NULL ? (size_t)config_setting_length(lists[i]) : 0;
	}
	load->config->routes = calloc(count + 1, sizeof(*load->config->routes));
	load->routes = calloc(count + 1, sizeof(*load->routes));
	if (lists == NULL || load->config->routes == NULL || load->routes == NULL)
		load->problems.failed = true;
	for (size_t i = 0; !load->problems.failed && i < load->file_count; i++)
		if (lists[i] != NULL)
			read_routes(load, lists[i]);
	free(lists);
}

/* From parsed files to values. */
static void build(struct load *load)
{
	if (begin(load) < 0) {
		load->problems.failed = true;
		return;
	}
	load->global.group = file_root(load->files[0]);
	if (layer_apply(&load->global, &settings_global, load->config, &load->problems) < 0)
		load->problems.failed = true;
	choose_transport(load);
	choose_presets(load);
	if (load->problems.failed)
		return;
	for (size_t i = 1; i < load->file_count; i++)
		check_additions(load, load->files[i]);
	read_defaults(load);
	read_all_routes(load);
	if (load->problems.failed)
		return;
	check_config(&(struct check){
	    .config = load->config,
	    .problems = &load->problems,
	    .global = &load->global,
	    .defaults = load->defaults.group != NULL ? &load->defaults : NULL,
	    .routes = load->routes,
	});
}

/* Gives back all but the configuration, and that too when anything is wrong. */
static struct config *finish(struct load *load, char **problems)
{
	struct config *config = load->config;
	if (load->problems.count > 0 || load->problems.failed) {
		config_free(config);
		config = NULL;
	}
	*problems = problems_text(&load->problems);
	problems_free(&load->problems);
	for (size_t i = 0; i < load->file_count; i++)
		file_free(load->files[i]);
	free(load->files);
	presets_free(&load->presets);
	file_free(load->standard_global);
	file_free(load->standard_route);
	free(load->routes);
	return config;
}

struct config *config_load(const char *path, char **problems)
{
	struct load load = {0};
	if (add_file(&load, file_read(path, 0, &load.problems)) == 0) {
		read_directory(&load, path);
		build(&load);
	}
	return finish(&load, problems);
}

struct config *config_parse(const char *name, const char *text, char **problems)
{
	struct load load = {0};
	if (add_file(&load, file_parse(name, 0, text, &load.problems)) == 0)
		build(&load);
	return finish(&load, problems);
}

struct config *config_default(void)
{
	struct load load = {0};
	char *problems = NULL;
	if (begin(&load) < 0)
		load.problems.failed = true;
	else
		choose_presets(&load);
	struct config *config = finish(&load, &problems);
	free(problems);
	return config;
}

char *config_needs_restart(const struct config *old, const struct config *new_one)
{
	struct buffer names = {0};
	for (size_t i = 0; i < settings_global.count; i++) {
		const struct setting *row = &settings_global.rows[i];
		if (row->needs_restart && !value_equal(row, old, new_one))
			buffer_printf(&names, "%s%s", names.length > 0 ? ", " : "", row->path);
	}
	char *copy = names.failed ? NULL : strdup(buffer_text(&names));
	buffer_free(&names);
	return copy;
}
