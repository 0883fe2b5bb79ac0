/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/cgi.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/encode.h"

/* Of a body; whoever sends more to a page that takes none may lose the answer. */
enum { MOST_DRAINED = 1 << 20 };

bool cgi_is_asked(void)
{
	return *cgi_variable("GATEWAY_INTERFACE") != '\0';
}

bool cgi_arguments_are_foreign(void)
{
	const char *query = cgi_variable("QUERY_STRING");
	return *query != '\0' && strchr(query, '=') == NULL;
}

const char *cgi_variable(const char *name)
{
	const char *value = getenv(name);
	return value != NULL ? value : "";
}

bool cgi_method_is(const char *name)
{
	return strcmp(cgi_variable("REQUEST_METHOD"), name) == 0;
}

int cgi_query(int (*take)(void *context, const char *parameter, struct error *error), void *context,
	      struct error *error)
{
	char *query = strdup(cgi_variable("QUERY_STRING")), *rest = query;
	int result = query != NULL ? 0 : -1;
	if (query == NULL)
		error_set(error, ERROR_MEMORY, "out of memory");
	for (char *parameter; result == 0 && (parameter = strsep(&rest, "&")) != NULL;) {
		if (*parameter == '\0')
			continue;
		if (percent_decode(parameter) < 0) {
			error_set(error, ERROR_INPUT, "the query has an escape that is none");
			result = -1;
		} else {
			result = take(context, parameter, error);
		}
	}
	free(query);
	return result;
}

void cgi_drain(void)
{
	char part[4096];
	long long left = strtoll(cgi_variable("CONTENT_LENGTH"), NULL, 10);
	if (left > MOST_DRAINED)
		left = MOST_DRAINED;
	while (left > 0) {
		ssize_t count = read(STDIN_FILENO, part, sizeof(part));
		if (count <= 0)
			return;
		left -= count;
	}
}

const char *cgi_reason(int status)
{
	static const struct {
		int status;
		const char *reason;
	} reasons[] = {
	    {200, "OK"},
	    {400, "Bad Request"},
	    {405, "Method Not Allowed"},
	    {503, "Service Unavailable"},
	};
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Internal Server Error";
}
