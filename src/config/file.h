/* SPDX-License-Identifier: ISC */
/*
 * One libconfig file: read whole, held against what libconfig would take wrongly or die of, parsed.
 * Hides that libconfig 1.5 ends the process when told to read a directory, stops at a NUL byte and
 * cuts long numbers.
 */
#ifndef ONCEWRAP_CONFIG_FILE_H
#define ONCEWRAP_CONFIG_FILE_H

#include "config/problems.h"

#include <dirent.h>
#include <libconfig.h>

/* How the name of a configuration file in a directory ends. */
#define FILE_SUFFIX ".conf"

struct file {
	char *name;     /* as messages show it, owned */
	unsigned order; /* among the files of a configuration */
	config_t tree;
};

/* NULL with a problem added when it cannot be read, or is no libconfig text. */
struct file *file_read(const char *name, unsigned order, struct problems *problems);

/* As file_read, of a text that is there already. */
struct file *file_parse(const char *name, unsigned order, const char *text,
			struct problems *problems);

/* Configuration files of a directory, in byte order of their names whatever the locale; hidden ones
 * are left out. As scandir(3): entries and their array are the caller's to free, -1 with errno. */
int file_list(const char *directory, struct dirent ***entries);

const config_setting_t *file_root(const struct file *file);

/* The file in which a setting stands. */
const struct file *file_of(const config_setting_t *setting);

void file_free(struct file *file); /* NULL is fine */

#endif
