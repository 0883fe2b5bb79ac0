/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/request.h"

#include <string.h>

#include "admin/common/cgi.h"
#include "admin/common/preference.h"

static const struct {
	const char *name;
	struct media_type type;
} formats[STATUS_FORMATS] = {
    [STATUS_HTML] = {"html", {.type = "text", .subtype = "html"}},
    [STATUS_JSON] = {"json", {.type = "application", .subtype = "json"}},
    [STATUS_TEXT] = {"text", {.type = "text", .subtype = "plain"}},
};

const char *request_format_name(enum status_format format)
{
	return formats[format].name;
}

int request_format(const char *name, enum status_format *format, struct error *error)
{
	for (unsigned i = 0; i < STATUS_FORMATS; i++)
		if (strcmp(formats[i].name, name) == 0) {
			*format = (enum status_format)i;
			return 0;
		}
	error_set(error, ERROR_INPUT, "the format is html, json or text");
	return -1;
}

/* What is only not excluded counts for nothing; among equals the first. */
enum status_format request_accept(const char *accept)
{
	enum status_format best = STATUS_TEXT;
	int weight = 0;
	for (unsigned i = 0; i < STATUS_FORMATS; i++) {
		struct preference found = preference_of(accept, &formats[i].type);
		if (found.precision > PREFERENCE_BY_ANYTHING && found.weight > weight) {
			best = (enum status_format)i;
			weight = found.weight;
		}
	}
	return best;
}

static int take_parameter(void *context, const char *parameter, struct error *error)
{
	static const char format[] = "format=", probe[] = "probe=ready";
	struct status_request *request = context;
	if (strncmp(parameter, format, strlen(format)) == 0)
		return request_format(parameter + strlen(format), &request->format, error);
	if (strcmp(parameter, probe) == 0) {
		request->probe = true;
		return 0;
	}
	error_set(error, ERROR_INPUT,
		  "the query may say format=html, format=json, format=text or probe=ready, and"
		  " nothing else");
	return -1;
}

int request_read(struct status_request *request, struct error *error)
{
	*request = (struct status_request){
	    .head = cgi_method_is("HEAD"),
	    .format = request_accept(cgi_variable("HTTP_ACCEPT")),
	};
	if (!request->head && !cgi_method_is("GET")) {
		error_set(error, ERROR_INPUT, "only GET and HEAD are answered here");
		return 405;
	}
	return cgi_query(take_parameter, request, error) == 0 ? 200 : 400;
}
