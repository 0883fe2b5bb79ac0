/* SPDX-License-Identifier: ISC */
/*
 * One setting's value: read from what libconfig has parsed, into the field that the table names;
 * compared, written back as text, and freed. One small set of functions for each setting type.
 */
#ifndef ONCEWRAP_CONFIG_VALUE_H
#define ONCEWRAP_CONFIG_VALUE_H

#include "base/error.h"
#include "config/settings.h"

#include <libconfig.h>
#include <stdbool.h>
#include <stdio.h>

/* `target` is the struct that the row's table is for. Reading replaces the old value, which is
 * freed; -1 with *error leaves it as it was. */
int value_read(const struct setting *row, const config_setting_t *from, void *target,
	       struct error *error);

/* The value as it stands behind the "=". */
void value_write(const struct setting *row, const void *target, FILE *out);

bool value_equal(const struct setting *row, const void *one, const void *other);

/* Frees what the field owns; the field is all zero afterwards. */
void value_clear(const struct setting *row, void *target);

/* What the setting takes, with its bounds, for people: "a duration, 1s to 24h". */
#define VALUE_DESCRIPTION_SIZE 256
void value_describe(const struct setting *row, char text[VALUE_DESCRIPTION_SIZE]);

#endif
