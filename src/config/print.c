/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/print.h"

#include <string.h>

#include "config/value.h"

static void print_group_change(const char *from, size_t from_length, const char *to,
			       size_t to_length, const char *indent, FILE *out)
{
	if (from_length == to_length && strncmp(from, to, to_length) == 0)
		return;
	if (from_length > 0)
		fprintf(out, "%s};\n", indent);
	if (to_length > 0)
		fprintf(out, "%s%.*s: {\n", indent, (int)to_length, to);
}

/* What is before the last dot. */
static size_t group_length(const char *path)
{
	const char *dot = strrchr(path, '.');
	return dot != NULL ? (size_t)(dot - path) : 0;
}

void print_settings(const struct setting_table *table, const void *target, const char *indent,
		    FILE *out)
{
	const char *group = "";
	size_t length = 0;
	for (size_t i = 0; i < table->count; i++) {
		const struct setting *row = &table->rows[i];
		if (row->type == SETTING_SECTION || (target == NULL && row->standard == NULL))
			continue;
		size_t row_length = group_length(row->path);
		print_group_change(group, length, row->path, row_length, indent, out);
		group = row->path;
		length = row_length;
		fprintf(out, "%s%s%s = ", indent, length > 0 ? "\t" : "",
			row->path + length + (length > 0));
		if (target != NULL)
			value_write(row, target, out);
		else
			fputs(row->standard, out);
		fputs(";\n", out);
	}
	print_group_change(group, length, "", 0, indent, out);
}

void config_print(const struct config *config, FILE *out)
{
	fputs("# " PACKAGE_STRING ": the configuration in force\n", out);
	print_settings(&settings_global, config, "", out);
	fputs("routes = (", out);
	for (size_t i = 0; i < config->route_count; i++) {
		fputs(i == 0 ? "\n\t{\n" : ",\n\t{\n", out);
		print_settings(&settings_route, &config->routes[i], "\t\t", out);
		fputs("\t}", out);
	}
	fputs(config->route_count > 0 ? "\n);\n" : ");\n", out);
}
