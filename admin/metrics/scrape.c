/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/metrics/scrape.h"

#include <string.h>

#include "admin/common/cgi.h"
#include "admin/metrics/accept.h"
#include "admin/metrics/wishes.h"

enum { BAD_REQUEST = 400, NOT_ALLOWED = 405 };

struct scopes {
	unsigned allowed, asked;
};

static int take_parameter(void *context, const char *parameter, struct error *error)
{
	static const char name[] = "scope=";
	struct scopes *scopes = context;
	if (strncmp(parameter, name, strlen(name)) != 0) {
		error_set(error, ERROR_INPUT,
			  "the query may say scope=local or scope=store, and nothing else");
		return -1;
	}
	const char *list = parameter + strlen(name);
	unsigned found = scopes_parse(list, strlen(list), error);
	if (found == 0)
		return -1;
	if ((found & ~scopes->allowed) != 0) {
		error_set(error, ERROR_INPUT, "this scope is not to be had here");
		return -1;
	}
	scopes->asked |= found;
	return 0;
}

int scrape_read(unsigned *scopes, enum exposition_format *format, struct error *error)
{
	struct scopes query = {.allowed = *scopes};
	cgi_drain();
	if (!cgi_method_is("GET") && !cgi_method_is("HEAD")) {
		error_set(error, ERROR_INPUT, "only GET and HEAD are answered here");
		return NOT_ALLOWED;
	}
	*format = accept_choose(cgi_variable("HTTP_ACCEPT"));
	if (cgi_query(take_parameter, &query, error) < 0)
		return BAD_REQUEST;
	if (query.asked != 0)
		*scopes = query.asked;
	return 200;
}

static void append(struct buffer *out, int status, const char *type, const struct buffer *body)
{
	buffer_printf(out,
		      "Status: %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		      "Cache-Control: no-store\r\nVary: Accept\r\n"
		      "X-Content-Type-Options: nosniff\r\n%s\r\n",
		      status, cgi_reason(status), type, body->length,
		      status == NOT_ALLOWED ? "Allow: GET, HEAD\r\n" : "");
	if (!cgi_method_is("HEAD"))
		buffer_append(out, body->data, body->length);
	out->failed = out->failed || body->failed;
}

void scrape_answer(struct buffer *out, enum exposition_format format, const struct buffer *body)
{
	append(out, 200, exposition_content_type(format), body);
}

void scrape_refuse(struct buffer *out, int status, const char *message)
{
	struct buffer body = {0};
	buffer_printf(&body, "%s\n", message);
	append(out, status, "text/plain; charset=utf-8", &body);
	buffer_free(&body);
}
