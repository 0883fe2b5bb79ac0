/* SPDX-License-Identifier: ISC */
/* Writes settings as a libconfig text that can be read back: values in force, or defaults. */
#ifndef ONCEWRAP_CONFIG_PRINT_H
#define ONCEWRAP_CONFIG_PRINT_H

#include "config/config.h"
#include "config/settings.h"

#include <stdio.h>

/* `--print-config`: every setting with its value in force. */
void config_print(const struct config *config, FILE *out);

/* The table's settings with the values that `target` has; with `target` NULL, with their defaults.
 */
void print_settings(const struct setting_table *table, const void *target, const char *indent,
		    FILE *out);

#endif
