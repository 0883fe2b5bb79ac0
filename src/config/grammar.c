/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/grammar.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#define DIGITS "0123456789"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define TCHAR  "!#$%&'*+-.^_`|~" DIGITS UPPER LOWER /* RFC 9110 5.6.2 */

enum {
	ROUTE_NAME_MOST = 64,
	METHOD_MOST = 32,
	SOURCE_MOST = 255, /* a literal must fit the record's tenant column */
	PORT_MOST = 65535,
	SOCKET_MOST = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1,
};

static int refuse(struct error *error, const char *text, const char *right)
{
	error_set(error, ERROR_INPUT, "\"%.80s\" %s", text, right);
	return -1;
}

static bool consists_of(const char *text, const char *bytes)
{
	return *text != '\0' && text[strspn(text, bytes)] == '\0';
}

int grammar_directory(const char *text, struct error *error)
{
	if (*text != '/')
		return refuse(error, text, "is not an absolute path; write one that begins with /");
	return 0;
}

int grammar_file(const char *text, struct error *error)
{
	return *text == '\0' ? 0 : grammar_directory(text, error);
}

int grammar_socket(const char *text, struct error *error)
{
	if (strlen(text) > SOCKET_MOST) {
		error_set(error, ERROR_INPUT,
			  "\"%.80s...\" is too long for a unix socket; at most %d bytes fit", text,
			  (int)SOCKET_MOST);
		return -1;
	}
	return grammar_file(text, error);
}

static bool is_port(const char *text)
{
	return consists_of(text, DIGITS) && strlen(text) <= 5 && atoi(text) >= 1 &&
	       atoi(text) <= PORT_MOST;
}

int grammar_listen(const char *text, struct error *error)
{
	if (*text == '/' || *text == '\0')
		return grammar_socket(text, error);
	const char *host_end = *text == '[' ? strchr(text, ']') : strchr(text, ':');
	if (host_end != NULL && *host_end == ']')
		host_end++;
	if (host_end == NULL || host_end == text || *host_end != ':' || !is_port(host_end + 1))
		return refuse(
		    error, text,
		    "is no address; write a socket's absolute path, HOST:PORT or [IPV6]:PORT");
	return 0;
}

/* What handler/environment.h never hands on: these change which code a handler runs (case C50). */
static bool is_dangerous(const char *name)
{
	static const char *const names[] = {"BASH_ENV", "ENV", "IFS", "PERL5OPT", "GCONV_PATH"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return strncmp(name, "LD_", 3) == 0 || strncmp(name, "PYTHON", 6) == 0;
}

int grammar_variable(const char *text, struct error *error)
{
	if (!consists_of(text, UPPER DIGITS "_") || strchr(DIGITS, *text) != NULL)
		return refuse(error, text,
			      "is not a name that is handed on; write capitals, digits and _");
	if (strncmp(text, "HTTP_", 5) == 0)
		return refuse(
		    error, text,
		    "would pass for a request's header and is never handed on; remove it");
	if (is_dangerous(text))
		return refuse(
		    error, text,
		    "changes which code a handler runs and is never handed on; remove it");
	return 0;
}

int grammar_route_name(const char *text, struct error *error)
{
	if (!consists_of(text, UPPER LOWER DIGITS "_-") || strlen(text) > ROUTE_NAME_MOST)
		return refuse(error, text,
			      "is not a route's name; write 1 to 64 letters, digits, _ or -");
	return 0;
}

int grammar_preset(const char *text, struct error *error)
{
	if (*text == '\0' || *text == '/')
		return 0;
	if (!consists_of(text, UPPER LOWER DIGITS "_-") || strlen(text) > ROUTE_NAME_MOST)
		return refuse(error, text,
			      "is no preset; write its name, as \"stripe\", or an absolute path");
	return 0;
}

/* An unclosed set would quietly match nothing. */
static int check_sets(const char *text, struct error *error)
{
	for (const char *at = strchr(text, '['); at != NULL; at = strchr(at, '[')) {
		at += at[1] == '!' ? 2 : 1;
		if (*at == ']')
			at++;
		at = strchr(at, ']');
		if (at == NULL)
			return refuse(error, text,
				      "has a [ without its ]; write [[] for the bracket itself");
	}
	return 0;
}

int grammar_path_glob(const char *text, struct error *error)
{
	if (*text != '/' && *text != '*')
		return refuse(error, text,
			      "matches no URL path; write a pattern that begins with / or *");
	return check_sets(text, error);
}

int grammar_host_glob(const char *text, struct error *error)
{
	const char *colon = strrchr(text, ':');
	if (*text == '[' && colon != NULL)
		return refuse(error, text, "has brackets; write an IPv6 address without them");
	if (colon != NULL && strchr(text, ':') == colon)
		return refuse(error, text,
			      "has a port; write the host alone, hosts match on any port");
	return check_sets(text, error);
}

int grammar_method(const char *text, struct error *error)
{
	if (!consists_of(text, TCHAR) || strpbrk(text, LOWER) != NULL || strlen(text) > METHOD_MOST)
		return refuse(error, text, "is not a method; write it in capitals, as POST");
	if (strcmp(text, "HEAD") == 0)
		return refuse(error, text,
			      "cannot be guarded: its answer has no body to replay; remove it");
	return 0;
}

int grammar_header_name(const char *text, struct error *error)
{
	if (!consists_of(text, TCHAR))
		return refuse(error, text, "is not a header's name; write it as X-Request-Id");
	return 0;
}

/* Fields of one connection (RFC 9110 7.6.1), and those that the answer's sender makes itself. */
static bool is_reserved(const char *name, size_t length)
{
	static const char *const names[] = {
	    "Connection",
	    "Content-Length",
	    "Content-Type",
	    "Date",
	    "Keep-Alive",
	    "Proxy-Authenticate",
	    "Proxy-Authorization",
	    "Proxy-Connection",
	    "Set-Cookie",
	    "Status",
	    "TE",
	    "Trailer",
	    "Transfer-Encoding",
	    "Upgrade",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && strncasecmp(names[i], name, length) == 0)
			return true;
	/* what a handler says to us */
	return length > strlen("Once-") && strncasecmp(name, "Once-", strlen("Once-")) == 0;
}

int grammar_answer_header(const char *text, struct error *error)
{
	if (*text == '\0')
		return 0;
	if (is_reserved(text, strlen(text)))
		return refuse(error, text, "is set by the server itself; write a name of your own");
	return grammar_header_name(text, error);
}

/* CGI keeps the first two apart from the other headers (RFC 3875 4.1.2, 4.1.3): as headers they
 * would be absent from every request, and equal in all. */
int grammar_part_header(const char *text, struct error *error)
{
	if (strcasecmp(text, "Content-Type") == 0)
		return refuse(error, text, "is a part of its own; write \"content-type\"");
	if (strcasecmp(text, "Content-Length") == 0)
		return refuse(error, text, "is part of the body; write \"body\"");
	return grammar_source(SOURCE_HEADER, text, error);
}

int grammar_header_line(const char *text, struct error *error)
{
	size_t name = strspn(text, TCHAR);
	size_t length = strlen(text);
	if (name == 0 || strncmp(text + name, ": ", 2) != 0 || length < name + 3 ||
	    text[name + 2] == ' ' || text[length - 1] == ' ')
		return refuse(error, text, "is not a header line; write it as \"Name: value\"");
	if (is_reserved(text, name))
		return refuse(
		    error, text,
		    "is set by the server itself; mark replays with a header of your own");
	return 0;
}

int grammar_status(const char *text, struct error *error)
{
	const char *pattern = *text == '!' ? text + 1 : text;
	bool is_class = strlen(pattern) == 3 && pattern[0] >= '1' && pattern[0] <= '5';
	if (strcmp(pattern, "*") != 0 &&
	    !(is_class && (strcmp(pattern + 1, "xx") == 0 || consists_of(pattern + 1, DIGITS))))
		return refuse(
		    error, text,
		    "is not a status pattern; write *, 2xx or 404, with ! before it to except");
	return 0;
}

int grammar_url(const char *text, struct error *error)
{
	if (*text == '\0')
		return 0;
	if ((strncmp(text, "https://", 8) != 0 && strncmp(text, "http://", 7) != 0) ||
	    strpbrk(text, " \"<>\\") != NULL)
		return refuse(error, text, "is not a URL; write one that begins with https://");
	return 0;
}

/* RFC 6901: "/" before each step, and "~" stands only in "~0" and "~1". */
static bool is_pointer(const char *text)
{
	if (*text != '/')
		return false;
	for (const char *tilde = strchr(text, '~'); tilde != NULL; tilde = strchr(tilde + 1, '~'))
		if (tilde[1] != '0' && tilde[1] != '1')
			return false;
	return true;
}

int grammar_source(enum source_kind kind, const char *name, struct error *error)
{
	int most = kind == SOURCE_LITERAL ? SOURCE_MOST : SOURCE_MAX_NAME;
	if (*name == '\0' || strlen(name) > (size_t)most) {
		error_set(error, ERROR_INPUT,
			  "has %s behind a colon; write 1 to %d bytes there, as header:ApiKey",
			  *name == '\0' ? "nothing" : "too much", most);
		return -1;
	}
	switch (kind) {
	case SOURCE_HEADER:
		return grammar_header_name(name, error);
	case SOURCE_ENV:
		if (!consists_of(name, UPPER LOWER DIGITS "_") || strchr(DIGITS, *name) != NULL)
			return refuse(error, name,
				      "is not a variable's name; write it as env:REMOTE_USER");
		return 0;
	case SOURCE_JSON:
		if (!is_pointer(name))
			return refuse(error, name,
				      "is not a JSON Pointer; write it as json:/cart/id");
		return 0;
	case SOURCE_COOKIE:
		if (!consists_of(name, TCHAR))
			return refuse(error, name,
				      "is not a cookie's name; write it as cookie:checkout");
		return 0;
	case SOURCE_FORM:
	case SOURCE_LITERAL:
		return 0;
	}
	return -1;
}
