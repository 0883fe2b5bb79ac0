/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/source.h"

static enum source_presence read_header(const char *name, const struct params *params,
					const char **value)
{
	char parameter[sizeof("HTTP_") + SOURCE_MAX_NAME];
	if (params_header_name(parameter, sizeof(parameter), name) < 0)
		return SOURCE_ABSENT;
	*value = params_get(params, parameter);
	if (*value == NULL)
		return SOURCE_ABSENT;
	return params_count(params, parameter) > 1 ? SOURCE_REPEATED : SOURCE_PRESENT;
}

/* An empty variable is absent, beside a filled one too: nginx sends "" for what is not set. */
static enum source_presence read_variable(const char *name, const struct params *params,
					  const char **value)
{
	*value = params_get_filled(params, name);
	if (*value == NULL)
		return SOURCE_ABSENT;
	return params_count_filled(params, name) > 1 ? SOURCE_REPEATED : SOURCE_PRESENT;
}

enum source_presence source_read(const struct source *source, const struct params *params,
				 const char **value)
{
	switch (source->kind) {
	case SOURCE_HEADER:
		return read_header(source->name, params, value);
	case SOURCE_ENV:
		return read_variable(source->name, params, value);
	case SOURCE_LITERAL:
		*value = source->name;
		return *source->name != '\0' ? SOURCE_PRESENT : SOURCE_ABSENT;
	}
	return SOURCE_ABSENT;
}

const char *source_kind_name(enum source_kind kind)
{
	static const char *const names[] = {
	    [SOURCE_HEADER] = "header",
	    [SOURCE_ENV] = "env",
	    [SOURCE_LITERAL] = "literal",
	};
	return names[kind];
}
