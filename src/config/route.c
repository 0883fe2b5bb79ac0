/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/route.h"

#include <string.h>

#include "config/config.h"
#include "config/glob.h"

/* A run of bytes that is not terminated. */
struct span {
	const char *at;
	size_t length;
};

/* The host of a Host header: without port, without an IPv6 literal's brackets, without the root's
 * dot. */
static struct span host_name(const char *host)
{
	const char *bracket = *host == '[' ? strchr(host, ']') : NULL;
	if (bracket != NULL)
		return (struct span){host + 1, (size_t)(bracket - host) - 1};
	size_t length = strcspn(host, ":");
	if (length > 0 && host[length - 1] == '.')
		length--;
	return (struct span){host, length};
}

const struct route *route_find(const struct config *config, const char *path, const char *host)
{
	size_t path_length = strlen(path);
	struct span name = host_name(host != NULL ? host : "");
	for (size_t i = 0; i < config->route_count; i++) {
		const struct route *route = &config->routes[i];
		if (glob_matches(route->path, path, path_length, false) &&
		    (*route->host == '\0' || glob_matches(route->host, name.at, name.length, true)))
			return route;
	}
	return NULL;
}

static bool list_has(const struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

bool route_guards(const struct route *route, const char *method)
{
	return route->mode != ROUTE_OFF && list_has(&route->methods, method);
}

bool route_requires_key(const struct route *route, const char *method)
{
	return route->key_required.always || list_has(&route->key_required.methods, method);
}

/* "*", "2xx" or "404". */
static bool status_matches(const char *pattern, int status)
{
	if (*pattern == '*')
		return true;
	int hundreds = pattern[0] - '0';
	if (pattern[1] == 'x')
		return status / 100 == hundreds;
	return status == hundreds * 100 + (pattern[1] - '0') * 10 + (pattern[2] - '0');
}

bool route_stores_status(const struct route *route, int status)
{
	bool stores = false;
	for (size_t i = 0; i < route->store_statuses.count; i++) {
		const char *pattern = route->store_statuses.items[i];
		bool excepts = *pattern == '!';
		if (status_matches(pattern + excepts, status))
			stores = !excepts;
	}
	return stores;
}
