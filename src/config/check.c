/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/check.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "config/file.h"
#include "config/unit.h"

/* Which layer decides on a setting, and where in it. */
struct place {
	const struct layer *layer;
	const config_setting_t *setting;
};

static bool find_place(const struct check *check, const struct layer *route, const char *path,
		       struct place *place)
{
	bool global = settings_find(&settings_global, path) != NULL;
	assert(global || settings_find(&settings_route, path) != NULL);
	const struct layer *layers[] = {
	    global ? check->global : route,
	    global ? NULL : check->defaults,
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
 * Tell a problem of several settings (NULL ends them) at the first that somebody wrote; the others
 * have their defaults, and defaults alone never disagree. Where one of them was refused, what it
 * will be is not known yet, nor whether they will agree.
 */
static void complain(const struct check *check, const struct layer *route,
		     const char *const paths[], const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void complain(const struct check *check, const struct layer *route,
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
		if (path == NULL) {
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
	const struct layer *layer = &check->routes[index];
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
		const config_setting_t *where = layer_find(&check->routes[i], "name");
		complain(check, layer, (const char *[]){"name", NULL},
			 "\"%s\" is the name of a route already (%s:%u); give each its own",
			 route->name, file_of(where)->name, config_setting_source_line(where));
		return;
	}
}

static void check_key(const struct check *check, const struct layer *layer,
		      const struct route *route)
{
	if (route->key_min_length > route->key_max_length)
		complain(check, layer, (const char *[]){"key.min_length", "key.max_length", NULL},
			 "min_length of %" PRId64 " is above max_length of %" PRId64
			 ": no key could be valid",
			 route->key_min_length, route->key_max_length);
}

/* Waiters that fill the pool would keep the one they wait for from being served (case C13). */
static void check_wait(const struct check *check, const struct layer *layer,
		       const struct route *route)
{
	if (route->max_waiters >= check->config->workers && route->max_waiters > 0)
		complain(check, layer, (const char *[]){"wait.max_waiters", "workers", NULL},
			 "%" PRId64 " is not below workers, which is %" PRId64
			 ": waiters could fill the pool",
			 route->max_waiters, check->config->workers);
}

/* docs/design.md section 4, rule 5: a renewal that fails can be tried once more before the lease is
 * over. */
static void check_lease(const struct check *check, const struct layer *layer,
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
	    check, layer,
	    (const char *[]){"times.lease", "store.connect_timeout", "store.read_timeout", NULL},
	    "lease of %s is below %s, three times store.connect_timeout + store.read_timeout: "
	    "a renewal that failed could not be tried again in time",
	    lease, bound);
}

/* Rule 5 again, and case C57: no record may expire under its own handler. */
static void check_retention(const struct check *check, const struct layer *layer,
			    const struct route *route)
{
	const struct config *config = check->config;
	int64_t least = config->handlers.timeout + config->handlers.kill_grace + route->lease +
			config->store.settle_timeout;
	if (route->retention >= least)
		return;
	char retention[UNIT_TEXT_SIZE], bound[UNIT_TEXT_SIZE];
	unit_format_duration(route->retention, retention);
	unit_format_duration(least, bound);
	complain(
	    check, layer,
	    (const char *[]){"times.retention", "times.lease", "handlers.timeout",
			     "handlers.kill_grace", "store.settle_timeout", NULL},
	    "retention of %s is below %s, the sum of handlers.timeout, handlers.kill_grace, "
	    "times.lease and store.settle_timeout: a record could expire under its own handler",
	    retention, bound);
}

void check_config(const struct check *check)
{
	check_store(check);
	check_limits(check);
	for (size_t i = 0; i < check->config->route_count; i++) {
		const struct layer *layer = &check->routes[i];
		const struct route *route = &check->config->routes[i];
		check_identity(check, i);
		check_key(check, layer, route);
		check_wait(check, layer, route);
		check_lease(check, layer, route);
		check_retention(check, layer, route);
	}
}
