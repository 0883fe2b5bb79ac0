/* SPDX-License-Identifier: ISC */
/*
 * Presets: files whose top level holds settings of a route, to lie under those of the routes that
 * name them. Each is read once for a configuration, however many routes use it.
 */
#ifndef ONCEWRAP_CONFIG_PRESET_H
#define ONCEWRAP_CONFIG_PRESET_H

#include "config/layer.h"
#include "config/problems.h"

#include <libconfig.h>
#include <stddef.h>

struct preset {
	char *path;
	struct file *file;  /* NULL: it could not be read, or is no configuration */
	struct layer layer; /* of the file; its group is NULL as above */
};

/* Empty is all zero but for the first two. */
struct presets {
	const char *directory; /* where a name is looked for; NULL: unknown, and no name is found */
	unsigned order;        /* of the first one's file, for problems */
	struct preset **items; /* owned */
	size_t count;
};

/* The layer of the preset that `named` (a setting of `from`) names; NULL when it names none. Its
 * group is NULL when there is no such preset, or it cannot be used; that was told then. */
const struct layer *preset_find(struct presets *presets, const struct layer *from,
				const config_setting_t *named, struct problems *problems);

void presets_free(struct presets *presets);

#endif
