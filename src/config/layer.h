/* SPDX-License-Identifier: ISC */
/*
 * Groups of settings laid over one struct, one after the other, the later winning: the defaults of
 * the table, a preset, the file's `defaults`, a route's own.
 */
#ifndef ONCEWRAP_CONFIG_LAYER_H
#define ONCEWRAP_CONFIG_LAYER_H

#include "config/problems.h"
#include "config/settings.h"

#include <libconfig.h>
#include <stdbool.h>

#define LAYER_LABEL_SIZE 32

/* Whose settings a layer holds, and so which of a route's it may hold. */
enum layer_reach {
	LAYER_OWN,    /* all */
	LAYER_SHARED, /* of many routes: what each has for itself is refused */
	LAYER_PRESET, /* likewise, and none may name another */
};

struct layer {
	const config_setting_t *group;
	char label[LAYER_LABEL_SIZE]; /* "routes[2]", "defaults"; "" at the top of a file */
	enum layer_reach reach;
};

/* Set in `target` what the layer sets, and add what is wrong with it to `problems`; what is wrong
 * leaves the old value. Returns -1 when out of memory. */
int layer_apply(const struct layer *layer, const struct setting_table *table, void *target,
		struct problems *problems) __attribute__((warn_unused_result));

/* What the layer says for this path; NULL when nothing. */
const config_setting_t *layer_find(const struct layer *layer, const char *path);

/* Was the setting's value refused, so that the one in force is another? */
bool layer_refused(const config_setting_t *setting);

/* Add the problem of a setting, or of the whole layer with `path` "". */
void layer_complain(const struct layer *layer, const char *path, const config_setting_t *where,
		    struct problems *problems, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
