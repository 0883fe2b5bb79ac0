/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/request.h"

#include "base/clock.h"
#include "metrics/count.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *or_empty(const char *text)
{
	return text == NULL ? "" : text;
}

/* SCRIPT_NAME and PATH_INFO in one. Repeated slashes in the name are folded, since every web server
 * maps
 * //cgi-bin/x to the same script: a route must not be missed by writing its path otherwise. */
static char *request_path(const char *name, const char *path_info)
{
	char *path = NULL;
	if (asprintf(&path, "%s%s", name, path_info) < 0)
		return NULL;
	size_t name_length = strlen(name);
	char *to = path;
	for (char *from = path; *from != '\0'; from++) {
		bool in_name = (size_t)(from - path) < name_length;
		if (in_name && *from == '/' && to > path && to[-1] == '/')
			continue;
		*to++ = *from;
	}
	*to = '\0';
	return path;
}

static void find_script(struct request *request, const struct config *config, const char *handler,
			struct error *error)
{
	request->script_result =
	    handler != NULL
		? script_fixed(&request->script, handler, &request->params, error)
		: script_find(&request->script, &request->params, &config->handlers.roots, error);
}

int request_prepare(struct request *request, const struct params *params,
		    const struct config *config, const char *handler, struct error *error)
{
	*request =
	    (struct request){.params = *params, .started = clock_now(), .started_us = count_now()};
	request_id_choose(request->id, &config->log_request_ids, params);
	request->method = or_empty(params_get_filled(params, "REQUEST_METHOD"));
	request->query = or_empty(params_get(params, "QUERY_STRING"));
	request->content_type = or_empty(params_get(params, "CONTENT_TYPE"));
	find_script(request, config, handler, &request->script_error);
	if (request->script_result == SCRIPT_FOUND)
		request->path = request_path(request->script.name, request->script.path_info);
	else
		request->path = strdup(or_empty(params_get(params, "SCRIPT_NAME")));
	if (request->path == NULL)
		goto no_memory;
	request->route = route_find(config, request->path, params_get(params, "HTTP_HOST"));
	request->guarded = request->route != NULL && route_guards(request->route, request->method);
	request->body = body_new(&(struct body_limits){.memory = (size_t)config->limits.body_memory,
						       .total = (uint64_t)config->limits.max_body,
						       .directory = config->spool.directory},
				 request->guarded);
	if (request->body == NULL)
		goto no_memory;
	return 0;

no_memory:
	error_set(error, ERROR_MEMORY, "out of memory for a request");
	request_free(request);
	return -1;
}

void request_add_body(struct request *request, const void *data, size_t length)
{
	if (request->body_state != REQUEST_BODY_WHOLE)
		return;
	switch (body_append(request->body, data, length, &request->body_error)) {
	case BODY_OK:
		return;
	case BODY_TOO_LARGE:
		request->body_state = REQUEST_BODY_TOO_LARGE;
		return;
	case BODY_FAILED:
		request->body_state = REQUEST_BODY_FAILED;
		return;
	}
}

/* Is the body as long as CONTENT_LENGTH says? Without one (chunked) any length is right (case C37).
 */
static bool length_is_right(const struct request *request)
{
	const char *declared = params_get_filled(&request->params, "CONTENT_LENGTH");
	if (declared == NULL)
		return true;
	if (strspn(declared, "0123456789") != strlen(declared))
		return false;
	errno = 0;
	unsigned long long length = strtoull(declared, NULL, 10);
	return errno == 0 && length == body_length(request->body);
}

void request_end_body(struct request *request, const struct error *cut)
{
	if (cut != NULL) {
		request->body_state = REQUEST_BODY_CUT;
		request->body_error = *cut;
		return;
	}
	if (request->body_state == REQUEST_BODY_WHOLE && !length_is_right(request))
		request->body_state = REQUEST_BODY_MISMATCH;
	if (request->guarded)
		body_digest(request->body, request->body_digest);
}

int request_open_document(struct request *request, struct error *error)
{
	const unsigned char *data;
	size_t length;
	if (body_view(request->body, &data, &length, error) != 0)
		return -1;
	request->document = document_new(data, length, request->content_type);
	if (request->document == NULL) {
		error_set(error, ERROR_MEMORY, "out of memory for a request");
		return -1;
	}
	return 0;
}

void request_fingerprint_source(const struct request *request, struct fingerprint_source *source)
{
	*source = (struct fingerprint_source){.method = request->method,
					      .path = request->path,
					      .query = request->query,
					      .content_type = request->content_type,
					      .body_digest = request->body_digest,
					      .params = &request->params,
					      .document = request->document};
}

unsigned request_counters(const struct request *request)
{
	return request->route == NULL ? METRICS_ROUTE_OTHER : request->route->counters;
}

void request_free(struct request *request)
{
	document_free(request->document);
	script_free(&request->script);
	free(request->path);
	body_free(request->body);
	request->document = NULL;
	request->path = NULL;
	request->body = NULL;
}
