/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/route.h"

#include <string.h>

#include "config/config.h"

/* A run of bytes that is not terminated. */
struct span {
	const char *at, *end;
};

static int fold(char byte, bool fold_case)
{
	return fold_case && byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : (unsigned char)byte;
}

/* Does the set at `pattern` ("[a-z]", "[!0-9]", "]" first stands for itself) hold the byte? Returns
 * what comes after the set in *next. Sets are closed: config/grammar.c saw to it. */
static bool set_holds(const char *pattern, char byte, bool fold_case, const char **next)
{
	const char *at = pattern + 1;
	bool inverted = *at == '!';
	at += inverted;
	bool holds = false;
	int wanted = fold(byte, fold_case);
	for (const char *first = at; *at != '\0' && (*at != ']' || at == first); at++) {
		int low = fold(at[0], fold_case), high = low;
		if (at[1] == '-' && at[2] != ']' && at[2] != '\0') {
			high = fold(at[2], fold_case);
			at += 2;
		}
		holds |= wanted >= low && wanted <= high;
	}
	*next = *at == ']' ? at + 1 : at;
	return holds != inverted;
}

/* Does the pattern's first element, which is no star, take the byte? */
static bool element_takes(const char *pattern, char byte, bool fold_case, const char **next)
{
	*next = pattern + 1;
	if (*pattern == '?')
		return true;
	if (*pattern == '[')
		return set_holds(pattern, byte, fold_case, next);
	return *pattern != '\0' && fold(*pattern, fold_case) == fold(byte, fold_case);
}

/*
 * The whole text against the whole pattern. Paths are a stranger's, so the time is bounded by the
 * product of the lengths: only the last star is ever tried again. Bytes are bytes, whatever the
 * locale.
 */
static bool glob_matches(const char *pattern, struct span text, bool fold_case)
{
	const char *after_star = NULL, *retry = NULL, *next;
	while (text.at < text.end) {
		if (*pattern == '*') {
			after_star = ++pattern;
			retry = text.at;
		} else if (element_takes(pattern, *text.at, fold_case, &next)) {
			pattern = next;
			text.at++;
		} else if (after_star != NULL) {
			pattern = after_star;
			text.at = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

/* The host of a Host header: without port, without an IPv6 literal's brackets, without the root's
 * dot. */
static struct span host_name(const char *host)
{
	const char *bracket = *host == '[' ? strchr(host, ']') : NULL;
	if (bracket != NULL)
		return (struct span){host + 1, bracket};
	const char *end = host + strcspn(host, ":");
	if (end > host && end[-1] == '.')
		end--;
	return (struct span){host, end};
}

const struct route *route_find(const struct config *config, const char *path, const char *host)
{
	struct span whole_path = {path, path + strlen(path)};
	struct span name = host_name(host != NULL ? host : "");
	for (size_t i = 0; i < config->route_count; i++) {
		const struct route *route = &config->routes[i];
		if (glob_matches(route->path, whole_path, false) &&
		    (*route->host == '\0' || glob_matches(route->host, name, true)))
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
	return route->mode == ROUTE_ENFORCE && list_has(&route->methods, method);
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
