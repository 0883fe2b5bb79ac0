/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/check.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "config/file.h"
#include "config/glob.h"
#include "config/unit.h"

/* Which layer decides on a setting, and where in it. */
struct place {
	const struct layer *layer;
	const config_setting_t *setting;
};

/* `route`: where those of the route stand; NULL for settings of the service. */
static bool find_place(const struct check *check, const struct check_route *route, const char *path,
		       struct place *place)
{
	bool global = settings_find(&settings_global, path) != NULL;
	assert(global || settings_find(&settings_route, path) != NULL);
	const struct layer *layers[] = {
	    global ? check->global : &route->own,
	    global ? NULL : check->defaults,
	    global ? NULL : route->preset,
	};
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		const config_setting_t *setting =
		    layers[i] != NULL ? layer_find(layers[i], path) : NULL;
		if (setting != NULL) {
			*place = (struct place){layers[i], setting};
			return true;
		}
	}
	return false;
}

/*
 * Tell a problem of several settings (NULL ends them) at the first that somebody wrote, rather for
 * this site than in a preset for all; the others have their defaults, and defaults alone never
 * disagree. Where one of them was refused, what it will be is not known yet, nor whether they will
 * agree.
 */
static void complain(const struct check *check, const struct check_route *route,
		     const char *const paths[], const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void complain(const struct check *check, const struct check_route *route,
		     const char *const paths[], const char *format, ...)
{
	char message[sizeof(((struct error *)NULL)->message)];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	struct place first = {0}, place;
	const char *path = NULL;
	for (; *paths != NULL; paths++) {
		if (!find_place(check, route, *paths, &place))
			continue;
		if (layer_refused(place.setting))
			return;
		bool nearer = path != NULL && first.layer->reach == LAYER_PRESET &&
			      place.layer->reach != LAYER_PRESET;
		if (path == NULL || nearer) {
			path = *paths;
			first = place;
		}
	}
	if (path != NULL)
		layer_complain(first.layer, path, first.setting, check->problems, "%s", message);
}

static void check_store(const struct check *check)
{
	const struct config_store *store = &check->config->store;
	if (*store->host != '\0' && *store->socket != '\0')
		complain(check, NULL, (const char *[]){"store.host", "store.socket", NULL},
			 "store.socket is given too, and would win; keep one of them");
	if (*store->tls_ca != '\0' && store->tls == CONFIG_TLS_OFF)
		complain(check, NULL, (const char *[]){"store.tls_ca", "store.tls", NULL},
			 "is not used while store.tls is \"off\"; set that to \"verify\"");
}

static void check_limits(const struct check *check)
{
	const struct config_limits *limits = &check->config->limits;
	if (limits->max_output >= limits->max_answer)
		return;
	char output[UNIT_TEXT_SIZE], answer[UNIT_TEXT_SIZE];
	unit_format_size(limits->max_output, output);
	unit_format_size(limits->max_answer, answer);
	complain(check, NULL, (const char *[]){"limits.max_output", "limits.max_answer", NULL},
		 "max_output of %s is below max_answer of %s: no answer could reach that; "
		 "raise the one or lower the other",
		 output, answer);
}

static void check_identity(const struct check *check, size_t index)
{
	const struct check_route *from = &check->routes[index];
	const struct layer *layer = &from->own;
	const struct route *route = &check->config->routes[index];
	if (route->path == NULL && layer_find(layer, "path") == NULL)
		layer_complain(layer, "", layer->group, check->problems,
			       "path is missing; write path = \"/cgi-bin/orders*\"");
	if (route->name == NULL && layer_find(layer, "name") == NULL)
		layer_complain(layer, "", layer->group, check->problems,
			       "name is missing; write name = \"orders\"");
	if (route->name == NULL)
		return;
	for (size_t i = 0; i < index; i++) {
		const struct route *other = &check->config->routes[i];
		if (other->name == NULL || strcmp(other->name, route->name) != 0)
			continue;
		const config_setting_t *where = layer_find(&check->routes[i].own, "name");
		complain(check, from, (const char *[]){"name", NULL},
			 "\"%s\" is the name of a route already (%s:%u); give each its own",
			 route->name, file_of(where)->name, config_setting_source_line(where));
		return;
	}
}

/* A route without a host pattern takes any host, and a request that names none. */
static bool host_contains(const struct route *outer, const struct route *inner)
{
	const char *pattern = *inner->host != '\0' ? inner->host : "*";
	return *outer->host == '\0' || glob_contains(outer->host, pattern, true);
}

static bool host_refused(const struct check *check, const struct check_route *route)
{
	struct place place;
	return find_place(check, route, "host", &place) && layer_refused(place.setting);
}

/* The first route that matches serves: what an earlier one takes whole never comes to this one. */
static void check_reached(const struct check *check, size_t index)
{
	const struct check_route *from = &check->routes[index];
	const struct route *route = &check->config->routes[index];
	if (route->path == NULL || host_refused(check, from))
		return;
	for (size_t i = 0; i < index; i++) {
		const struct route *other = &check->config->routes[i];
		if (other->path == NULL || host_refused(check, &check->routes[i]) ||
		    !glob_contains(other->path, route->path, false) || !host_contains(other, route))
			continue;
		const config_setting_t *where = layer_find(&check->routes[i].own, "path");
		complain(check, from, (const char *[]){"path", NULL},
			 "\"%.80s\" is never reached: route %.64s with \"%.80s\" (%s:%u) comes "
			 "first and takes all of it; put this one first, or narrow that one",
			 route->path, other->name != NULL ? other->name : "without a name",
			 other->path, file_of(where)->name, config_setting_source_line(where));
		return;
	}
}

static bool list_has(const struct string_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

static void check_key(const struct check *check, const struct check_route *from,
		      const struct route *route)
{
	if (route->key_min_length > route->key_max_length)
		complain(check, from, (const char *[]){"key.min_length", "key.max_length", NULL},
			 "min_length of %" PRId64 " is above max_length of %" PRId64
			 ": no key could be valid",
			 route->key_min_length, route->key_max_length);
	for (size_t i = 0; i < route->key_required.methods.count; i++) {
		const char *method = route->key_required.methods.items[i];
		if (list_has(&route->methods, method))
			continue;
		complain(check, from, (const char *[]){"key.required", "methods", NULL},
			 "names %s, which methods does not: such a request is not guarded at all; "
			 "add it there, or leave it out here",
			 method);
		return;
	}
}

/* A tenant that is compulsory and looked for nowhere. */
static void check_tenant(const struct check *check, const struct check_route *from,
			 const struct route *route)
{
	if (route->tenant_missing == TENANT_REFUSE && route->tenant_sources.count == 0)
		complain(check, from, (const char *[]){"tenant.sources", "tenant.missing", NULL},
			 "is empty, and tenant.missing = \"refuse\" then refuses every request; "
			 "name a source, or write missing = \"anonymous\"");
}

static size_t word_length(const struct setting_word *words, int64_t value)
{
	while (words->value != value)
		words++;
	return strlen(words->word);
}

/* The record's column of that length holds it, and an old record is compared by it. */
static void check_scheme(const struct check *check, const struct check_route *from,
			 const struct route *route)
{
	if (route->fingerprint_body != BODY_FORM_RAW &&
	    (route->fingerprint_parts & FINGERPRINT_BODY) == 0)
		complain(check, from,
			 (const char *[]){"fingerprint.body", "fingerprint.parts", NULL},
			 "says how the body is compared, but fingerprint.parts lacks \"body\"; add "
			 "it there, or leave this out");
	size_t length = strlen("1");
	const struct setting *parts = settings_find(&settings_route, "fingerprint.parts");
	const struct setting *forms = settings_find(&settings_route, "fingerprint.body");
	for (const struct setting_word *word = parts->words; word->word != NULL; word++)
		if ((route->fingerprint_parts & word->value) != 0)
			length += strlen(" ") + strlen(word->word);
	if (route->fingerprint_body != BODY_FORM_RAW)
		length += strlen(":") + word_length(forms->words, route->fingerprint_body);
	for (size_t i = 0; i < route->fingerprint_headers.count; i++)
		length += strlen(" header:") + strlen(route->fingerprint_headers.items[i]);
	if (length < FINGERPRINT_SCHEME_LENGTH)
		return;
	complain(check, from, (const char *[]){"fingerprint.parts", "fingerprint.body", NULL},
		 "the names of all parts together are %zu bytes too long; leave out a header or "
		 "two",
		 length - FINGERPRINT_SCHEME_LENGTH + 1);
}

/* Without the body in the fingerprint, a key that is used again for something else would be told
 * that it is done, or a handler asked to give the answer to what was never asked. */
static void check_keep(const struct check *check, const struct check_route *from,
		       const struct route *route)
{
	if ((route->fingerprint_parts & FINGERPRINT_BODY) != 0)
		return;
	if (route->rebuild)
		complain(check, from, (const char *[]){"rebuild", "fingerprint.parts", NULL},
			 "an answer can be given again only to the same request, but "
			 "fingerprint.parts lacks \"body\"; add it, or write rebuild = false");
	else if (route->keep == KEEP_MARKER)
		complain(check, from, (const char *[]){"keep", "fingerprint.parts", NULL},
			 "a marker tells nothing of the request, and fingerprint.parts lacks "
			 "\"body\"; add it, or keep more than a marker");
}

static void check_wait(const struct check *check, const struct check_route *from,
		       const struct route *route)
{
	if (route->in_flight == IN_FLIGHT_WAIT && route->wait_timeout == 0)
		complain(check, from, (const char *[]){"wait.timeout", "in_flight", NULL},
			 "nobody waits for 0s; write a longer time, or in_flight = \"reject\"");
	/* Waiters that fill the pool would keep the one they wait for from being served (C13). */
	if (route->max_waiters >= check->config->workers && route->max_waiters > 0)
		complain(check, from, (const char *[]){"wait.max_waiters", "workers", NULL},
			 "%" PRId64 " is not below workers, which is %" PRId64
			 ": waiters could fill the pool",
			 route->max_waiters, check->config->workers);
}

/* Is `name` that of the header line? */
static bool line_has_name(const char *line, const char *name)
{
	size_t length = strlen(name);
	return strncasecmp(line, name, length) == 0 && line[length] == ':';
}

static void check_replay(const struct check *check, const struct check_route *from,
			 const struct route *route)
{
	if (route->first_header && route->replay_headers.count == 0)
		complain(check, from,
			 (const char *[]){"replay.first_header", "replay.header", NULL},
			 "marks first answers by the names in replay.header, and there are none; "
			 "write one, or first_header = false");
	for (size_t i = 0; i < route->replay_headers.count; i++)
		if (*route->first_seen_header != '\0' &&
		    line_has_name(route->replay_headers.items[i], route->first_seen_header))
			complain(
			    check, from,
			    (const char *[]){"replay.first_seen_header", "replay.header", NULL},
			    "%.80s is set by replay.header too; write another name",
			    route->first_seen_header);
}

/* docs/design.md section 4, rule 5: a renewal that fails can be tried once more before the lease is
 * over. */
static void check_lease(const struct check *check, const struct check_route *from,
			const struct route *route)
{
	const struct config_store *store = &check->config->store;
	int64_t least = 3 * (store->connect_timeout + store->read_timeout);
	if (route->lease >= least)
		return;
	char lease[UNIT_TEXT_SIZE], bound[UNIT_TEXT_SIZE];
	unit_format_duration(route->lease, lease);
	unit_format_duration(least, bound);
	complain(
	    check, from,
	    (const char *[]){"times.lease", "store.connect_timeout", "store.read_timeout", NULL},
	    "lease of %s is below %s, three times store.connect_timeout + store.read_timeout: "
	    "a renewal that failed could not be tried again in time",
	    lease, bound);
}

/* Rule 5 again, and case C57: nothing that a handler has claimed may expire under it. */
static void check_lifetime(const struct check *check, const struct check_route *from,
			   const struct route *route, const char *path, int64_t lifetime)
{
	const struct config *config = check->config;
	int64_t least = config->handlers.timeout + config->handlers.kill_grace + route->lease +
			config->store.settle_timeout;
	if (lifetime >= least)
		return;
	char written[UNIT_TEXT_SIZE], bound[UNIT_TEXT_SIZE];
	unit_format_duration(lifetime, written);
	unit_format_duration(least, bound);
	complain(
	    check, from,
	    (const char *[]){path, "times.lease", "handlers.timeout", "handlers.kill_grace",
			     "store.settle_timeout", NULL},
	    "%s of %s is below %s, the sum of handlers.timeout, handlers.kill_grace, "
	    "times.lease and store.settle_timeout: a record could expire under its own handler",
	    strchr(path, '.') + 1, written, bound);
}

/* What settings must be to each other. */
static void check_agreement(const struct check *check, const struct check_route *from,
			    const struct route *route)
{
	check_key(check, from, route);
	check_tenant(check, from, route);
	check_scheme(check, from, route);
	check_keep(check, from, route);
	check_wait(check, from, route);
	check_replay(check, from, route);
	check_lease(check, from, route);
	check_lifetime(check, from, route, "times.retention", route->retention);
	if (route->natural_values.count > 0)
		check_lifetime(check, from, route, "natural_key.window", route->natural_window);
}

void check_config(const struct check *check)
{
	check_store(check);
	check_limits(check);
	for (size_t i = 0; i < check->config->route_count; i++) {
		const struct check_route *from = &check->routes[i];
		check_identity(check, i);
		check_reached(check, i);
		/* What a preset would have said is not known when it could not be used. */
		if (from->preset == NULL || from->preset->group != NULL)
			check_agreement(check, from, &check->config->routes[i]);
	}
}
