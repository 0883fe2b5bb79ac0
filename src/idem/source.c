/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/source.h"

#include "idem/cookie.h"

#include <string.h>

static struct source_value text_value(const char *text)
{
	return (struct source_value){text, strlen(text)};
}

static enum source_presence read_header(const char *name, const struct params *params,
					struct source_value *value)
{
	char parameter[sizeof("HTTP_") + SOURCE_MAX_NAME];
	if (params_header_name(parameter, sizeof(parameter), name) < 0)
		return SOURCE_ABSENT;
	const char *found = params_get(params, parameter);
	if (found == NULL)
		return SOURCE_ABSENT;
	*value = text_value(found);
	return params_count(params, parameter) > 1 ? SOURCE_REPEATED : SOURCE_PRESENT;
}

/* An empty variable is absent, beside a filled one too: nginx sends "" for what is not set. */
static enum source_presence read_variable(const char *name, const struct params *params,
					  struct source_value *value)
{
	const char *found = params_get_filled(params, name);
	if (found == NULL)
		return SOURCE_ABSENT;
	*value = text_value(found);
	return params_count_filled(params, name) > 1 ? SOURCE_REPEATED : SOURCE_PRESENT;
}

static enum source_presence read_cookie(const char *name, const struct params *params,
					struct source_value *value)
{
	struct cookie cookie = {"", 0};
	size_t count = cookie_find(params, name, &cookie);
	*value = (struct source_value){cookie.value, cookie.length};
	return count == 0 ? SOURCE_ABSENT : count == 1 ? SOURCE_PRESENT : SOURCE_REPEATED;
}

static enum source_presence presence_of(enum document_lookup lookup)
{
	switch (lookup) {
	case DOCUMENT_FOUND:
		return SOURCE_PRESENT;
	case DOCUMENT_ABSENT:
		return SOURCE_ABSENT;
	case DOCUMENT_REPEATED:
		return SOURCE_REPEATED;
	case DOCUMENT_NO_SCALAR:
	case DOCUMENT_MALFORMED:
		return SOURCE_UNUSABLE;
	case DOCUMENT_FAILED:
		break;
	}
	return SOURCE_FAILED;
}

static enum document_lookup look_into(const struct source *source, struct document *document,
				      struct document_value *value)
{
	return source->kind == SOURCE_JSON ? document_json(document, source->name, value)
					   : document_field(document, source->name, value);
}

static enum source_presence read_body(const struct source *source, struct document *document,
				      struct source_value *value)
{
	if (document == NULL)
		return SOURCE_ABSENT;
	struct document_value found = {"", 0};
	enum document_lookup lookup = look_into(source, document, &found);
	*value = (struct source_value){found.data, found.length};
	return presence_of(lookup);
}

enum source_presence source_read(const struct source *source, const struct params *params,
				 struct document *document, struct source_value *value)
{
	switch (source->kind) {
	case SOURCE_HEADER:
		return read_header(source->name, params, value);
	case SOURCE_ENV:
		return read_variable(source->name, params, value);
	case SOURCE_LITERAL:
		*value = text_value(source->name);
		return *source->name != '\0' ? SOURCE_PRESENT : SOURCE_ABSENT;
	case SOURCE_JSON:
	case SOURCE_FORM:
		return read_body(source, document, value);
	case SOURCE_COOKIE:
		return read_cookie(source->name, params, value);
	}
	return SOURCE_ABSENT;
}

/* What stands there is no text, or the whole body is not what it claims to be. */
static void explain_unusable(const struct source *source, struct document *document,
			     struct error *why)
{
	bool json = source->kind == SOURCE_JSON;
	bool well_formed =
	    json ? document_is_json(document, why) : document_has_fields(document, why);
	if (well_formed)
		error_set(why, ERROR_INPUT, "%s",
			  json ? "it must be a string or a number"
			       : "it must be a field and not a file");
}

void source_explain(const struct source *source, enum source_presence presence,
		    struct document *document, struct error *why)
{
	switch (presence) {
	case SOURCE_ABSENT:
	case SOURCE_PRESENT:
		error_set(why, ERROR_INPUT, "there is none");
		break;
	case SOURCE_REPEATED:
		error_set(why, ERROR_INPUT, "it is given more than once");
		break;
	case SOURCE_UNUSABLE:
		explain_unusable(source, document, why);
		break;
	case SOURCE_FAILED:
		error_set(why, ERROR_MEMORY, "out of memory for the body");
		break;
	}
	error_prefix(why, "%s %s", source_kind_name(source->kind), source->name);
}

const char *source_kind_name(enum source_kind kind)
{
	static const char *const names[] = {
	    [SOURCE_HEADER] = "header", [SOURCE_ENV] = "env",   [SOURCE_LITERAL] = "literal",
	    [SOURCE_JSON] = "json",     [SOURCE_FORM] = "form", [SOURCE_COOKIE] = "cookie",
	};
	return names[kind];
}

bool source_list_needs_body(const struct source_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].kind == SOURCE_JSON || list->items[i].kind == SOURCE_FORM)
			return true;
	return false;
}
