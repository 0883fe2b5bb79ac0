/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "handler/environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 48 };

/*
 * Names that a web server has no business to set for a handler, whether by a client's doing
 * (HTTP_PROXY, from a `Proxy:` header), by accident, or by somebody who can reach our socket: they
 * change what code runs, whom it trusts or where it listens. A site that needs one puts it into our
 * own environment and lists it in handlers.environment. `*` at the end: any name that begins so.
 */
/* clang-format off */
static const char *const refused[] = {
	/* the dynamic linker, and what the C library itself ignores in set-user-ID programs */
	"LD_*", "GLIBC_TUNABLES", "GCONV_PATH", "GETCONF_DIR", "HOSTALIASES", "LOCALDOMAIN",
	"LOCPATH", "MALLOC_*", "NIS_PATH", "NLSPATH", "RESOLV_*", "RES_OPTIONS", "TMPDIR",
	"TZDIR",
	/* shells */
	"PATH", "IFS", "ENV", "BASH_ENV", "BASH_FUNC*", "BASHOPTS", "SHELLOPTS", "CDPATH",
	"GLOBIGNORE", "PS4", "PROMPT_COMMAND",
	/* interpreters */
	"PERL5*", "PERLLIB", "PERL_*", "PYTHON*", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS",
	"NODE_PATH", "PHPRC", "PHP_INI_SCAN_DIR", "LUA_*", "TCLLIBPATH", "AWKPATH",
	"AWKLIBPATH", "CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
	/* whom a handler's own connections go to and trust */
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY", "SSL_CERT_FILE",
	"SSL_CERT_DIR", "SSLKEYLOGFILE", "OPENSSL_*", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE",
	/* between us and our own starter, or said by us alone */
	"LISTEN_*", "NOTIFY_SOCKET", "WATCHDOG_*", "FCGI_*", "ONCE_*", "ONCEWRAP_*",
};
/* clang-format on */

/* Set by us from what is true, or left out on purpose, whatever was sent. */
static const char *const ours[] = {
    "GATEWAY_INTERFACE", "SCRIPT_NAME",         "SCRIPT_FILENAME",
    "PATH_INFO",         "PATH_TRANSLATED",     "QUERY_STRING",
    "CONTENT_LENGTH",    "HTTP_CONTENT_LENGTH", "HTTP_TRANSFER_ENCODING",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_named(const char *name, size_t length, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t size = strlen(list[i]);
		bool open = list[i][size - 1] == '*';
		size -= open;
		if ((open ? length >= size : length == size) && memcmp(name, list[i], size) == 0)
			return true;
	}
	return false;
}

static bool begins_with(const char *name, size_t length, const char *prefix)
{
	size_t size = strlen(prefix);
	return length >= size && memcmp(name, prefix, size) == 0;
}

static bool is_header(const char *name, size_t length)
{
	return begins_with(name, length, "HTTP_");
}

/* Apache renames what it had set before an internal redirect, once for each: REDIRECT_REDIRECT_X.
 * Programs undo that, so what may not go in by its own name may not go in by that one. */
static bool is_refused(const char *name, size_t length)
{
	static const char redirect[] = "REDIRECT_";
	while (begins_with(name, length, redirect)) {
		name += sizeof(redirect) - 1;
		length -= sizeof(redirect) - 1;
	}
	return is_named(name, length, refused, COUNT(refused));
}

static bool is_well_formed(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		char byte = name[i];
		bool letter = (byte >= 'A' && byte <= 'Z') || byte == '_';
		if (!letter && (i == 0 || byte < '0' || byte > '9'))
			return false;
	}
	return length > 0;
}

/* Where the entry of that name is; count when there is none. */
static size_t find(const struct environment *environment, const char *name, size_t length)
{
	size_t i = 0;
	while (i < environment->count && (strncmp(environment->entries[i], name, length) != 0 ||
					  environment->entries[i][length] != '='))
		i++;
	return i;
}

/* Takes `entry` over; NULL (no memory for it) is a failure too. */
static int put(struct environment *environment, size_t at, char *entry)
{
	if (entry == NULL)
		goto fail;
	if (at < environment->count) {
		free(environment->entries[at]);
		environment->entries[at] = entry;
		return 0;
	}
	if (environment->count + 1 >= environment->capacity) {
		size_t capacity =
		    environment->capacity == 0 ? FIRST_CAPACITY : environment->capacity * 2;
		char **entries = reallocarray(environment->entries, capacity, sizeof(*entries));
		if (entries == NULL)
			goto fail;
		environment->entries = entries;
		environment->capacity = capacity;
	}
	environment->entries[environment->count++] = entry;
	environment->entries[environment->count] = NULL;
	return 0;
fail:
	free(entry);
	environment->failed = true;
	return -1;
}

static char *pair(const char *name, const char *value)
{
	char *entry;
	return asprintf(&entry, "%s=%s", name, value) == -1 ? NULL : entry;
}

int environment_add(struct environment *environment, const char *name, const char *value)
{
	return put(environment, find(environment, name, strlen(name)), pair(name, value));
}

static int join(struct environment *environment, size_t at, const char *name, size_t length,
		const char *value)
{
	bool cookie = length == 11 && memcmp(name, "HTTP_COOKIE", 11) == 0;
	char *entry;
	if (asprintf(&entry, "%s%s%s", environment->entries[at], cookie ? "; " : ", ", value) == -1)
		entry = NULL;
	return put(environment, at, entry);
}

/*
 * One parameter of the web server's. Authorization comes only where the server hands it on (Apache
 * with CGIPassAuth): RFC 3875 9.2 leaves it to the server, and what it withholds is not put
 * together here from anything else.
 */
static int take_parameter(struct environment *environment, const char *entry)
{
	const char *equals = strchr(entry, '=');
	if (equals == NULL)
		return 0;
	size_t length = (size_t)(equals - entry);
	bool header = is_header(entry, length);
	/* nginx sends what is absent as an empty string; a header may be present and empty */
	if ((!header && equals[1] == '\0') || !is_well_formed(entry, length))
		return 0;
	if (is_named(entry, length, ours, COUNT(ours)) || is_refused(entry, length))
		return 0;
	size_t at = find(environment, entry, length);
	if (at == environment->count)
		return put(environment, at, strdup(entry));
	return header ? join(environment, at, entry, length, equals + 1) : 0;
}

static int add_length(struct environment *environment, const struct params *params,
		      uint64_t body_length)
{
	char digits[24];
	if (body_length == 0 && params_get_filled(params, "CONTENT_LENGTH") == NULL)
		return 0;
	snprintf(digits, sizeof(digits), "%" PRIu64, body_length);
	return environment_add(environment, "CONTENT_LENGTH", digits);
}

static int add_path_info(struct environment *environment, const struct params *params,
			 const struct script *script)
{
	if (*script->path_info == '\0')
		return 0;
	if (environment_add(environment, "PATH_INFO", script->path_info) == -1)
		return -1;
	/* RFC 3875 4.1.6: only where there is PATH_INFO, and only the server can tell */
	const char *translated = params_get_filled(params, "PATH_TRANSLATED");
	return translated != NULL ? environment_add(environment, "PATH_TRANSLATED", translated) : 0;
}

/* A request's own variable is nearer than one of the same name that was passed on from us. */
static int add_passed(struct environment *environment, const struct string_list *passed)
{
	for (size_t i = 0; i < passed->count; i++) {
		const char *name = passed->items[i];
		const char *value = getenv(name);
		size_t at = find(environment, name, strlen(name));
		if (value == NULL || at < environment->count)
			continue;
		if (put(environment, at, pair(name, value)) == -1)
			return -1;
	}
	return 0;
}

int environment_build(struct environment *environment, const struct params *params,
		      const struct script *script, uint64_t body_length,
		      const struct string_list *passed)
{
	const char *query = params_get_filled(params, "QUERY_STRING");
	*environment = (struct environment){0};
	for (size_t i = 0; i < params->count; i++) {
		if (take_parameter(environment, params->entries[i]) == -1)
			return -1;
	}
	/* QUERY_STRING and SCRIPT_NAME must be there even when empty (RFC 3875 4.1.7, 4.1.13) */
	if (environment_add(environment, "GATEWAY_INTERFACE", "CGI/1.1") == -1 ||
	    environment_add(environment, "QUERY_STRING", query != NULL ? query : "") == -1 ||
	    environment_add(environment, "SCRIPT_NAME", script->name) == -1 ||
	    environment_add(environment, "SCRIPT_FILENAME", script->file) == -1)
		return -1;
	if (add_path_info(environment, params, script) == -1 ||
	    add_length(environment, params, body_length) == -1)
		return -1;
	return add_passed(environment, passed);
}

void environment_free(struct environment *environment)
{
	for (size_t i = 0; i < environment->count; i++)
		free(environment->entries[i]);
	free(environment->entries);
	*environment = (struct environment){0};
}
