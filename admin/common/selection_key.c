/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/selection_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "admin/common/harmless.h"
#include "config/config.h"
#include "idem/identity.h"
#include "store/lookup.h"

/* Where the key may be: the ids that the routes in question give it. */
struct candidates {
	unsigned char (*ids)[DIGEST_LENGTH];
	const struct route **routes; /* the first that gives that id */
	size_t count;
};

static int out_of_memory(const struct program *program)
{
	fprintf(stderr, "%s: out of memory\n", program->name);
	return EX_SOFTWARE;
}

static void append_name(struct buffer *out, const char *name)
{
	harmless_append(out, name, strlen(name), false);
}

/* The tenant of every request of a route that names one for all. NULL: it depends on the request.
 */
static const char *tenant_of_all(const struct route *route)
{
	const struct source_list *sources = &route->tenant_sources;
	if (sources->count == 0)
		return route->tenant_missing == TENANT_ANONYMOUS ? "" : NULL;
	bool literal = sources->items[0].kind == SOURCE_LITERAL && *sources->items[0].name != '\0';
	return literal ? sources->items[0].name : NULL;
}

static int refuse_route(const struct selection *selection, const struct program *program,
			const struct config *config)
{
	struct buffer text = {0};
	append_name(&text, selection->route);
	buffer_append_text(&text, "\" is none of the configured routes");
	for (size_t i = 0; i < config->route_count; i++) {
		buffer_append_text(&text, i == 0 ? ": " : ", ");
		append_name(&text, config->routes[i].name);
	}
	int status = options_refuse(program, "--route: \"%s", buffer_text(&text));
	buffer_free(&text);
	return status;
}

static int refuse_scope(const struct selection *selection, const struct program *program,
			const struct route *route)
{
	struct buffer name = {0};
	append_name(&name, route->name);
	int status =
	    selection->route == NULL
		? options_refuse(program,
				 "--key: the keys of route %s are told apart by method and path;"
				 " say by --route which other route is meant, or name the id",
				 buffer_text(&name))
		: options_refuse(program,
				 "--key: the keys of route %s are told apart by method and path;"
				 " name the id, as once-list --route=%s prints it",
				 buffer_text(&name), buffer_text(&name));
	buffer_free(&name);
	return status;
}

static bool has_id(const struct candidates *candidates, const unsigned char id[DIGEST_LENGTH])
{
	for (size_t i = 0; i < candidates->count; i++)
		if (memcmp(candidates->ids[i], id, DIGEST_LENGTH) == 0)
			return true;
	return false;
}

static int add_candidate(struct candidates *candidates, const struct selection *selection,
			 const struct program *program, const struct route *route)
{
	const char *tenant = selection->tenant != NULL ? selection->tenant : tenant_of_all(route);
	if (route->scope == SCOPE_METHOD_PATH)
		return refuse_scope(selection, program, route);
	if (tenant == NULL)
		return options_refuse(program,
				      "--key: say by --tenant whose key it is, as"
				      " once-list prints it; empty: of requests that name none");
	const struct identity identity = {
	    .tenant = tenant,
	    .tenant_length = strlen(tenant),
	    .key = selection->key,
	    .key_length = strlen(selection->key),
	};
	unsigned char id[DIGEST_LENGTH];
	if (identity_compute(route, &identity, id) < 0)
		return out_of_memory(program);
	if (has_id(candidates, id))
		return GO_ON;
	memcpy(candidates->ids[candidates->count], id, DIGEST_LENGTH);
	candidates->routes[candidates->count++] = route;
	return GO_ON;
}

static int gather(struct candidates *candidates, const struct selection *selection,
		  const struct program *program, const struct config *config)
{
	candidates->ids = calloc(config->route_count + 1, sizeof(*candidates->ids));
	candidates->routes = calloc(config->route_count + 1, sizeof(*candidates->routes));
	if (candidates->ids == NULL || candidates->routes == NULL)
		return out_of_memory(program);
	int status = GO_ON;
	bool matched = false;
	for (size_t i = 0; i < config->route_count && status == GO_ON; i++) {
		const struct route *route = &config->routes[i];
		if (selection->route != NULL && strcmp(route->name, selection->route) != 0)
			continue;
		matched = true;
		status = add_candidate(candidates, selection, program, route);
	}
	if (status != GO_ON || matched)
		return status;
	return selection->route != NULL
		   ? refuse_route(selection, program, config)
		   : options_refuse(program, "--key: no route is configured; name the id");
}

static int look_up(const struct candidates *candidates, const struct selection *selection,
		   const struct program *program, struct connect *connect, int64_t deadline,
		   bool *found)
{
	struct error error;
	for (size_t i = 0; i < candidates->count; i += LOOKUP_MOST_IDS) {
		size_t left = candidates->count - i;
		if (lookup_ids(&connect->connection, selection->ever ? LOOKUP_EVER : LOOKUP_RECORDS,
			       (const unsigned char(*)[DIGEST_LENGTH])candidates->ids + i,
			       left < LOOKUP_MOST_IDS ? left : LOOKUP_MOST_IDS, found + i, deadline,
			       &error) < 0)
			return connect_failed(connect, program->name, &error);
	}
	return GO_ON;
}

static void tell_ambiguous(const struct candidates *candidates, const bool *found,
			   const struct program *program)
{
	struct buffer names = {0};
	for (size_t i = 0; i < candidates->count; i++) {
		if (!found[i])
			continue;
		buffer_append_text(&names, names.length > 0 ? ", " : "");
		append_name(&names, candidates->routes[i]->name);
	}
	fprintf(stderr,
		"%s: --key: more than one route has a record of it: %s; say which by --route\n",
		program->name, buffer_text(&names));
	buffer_free(&names);
}

int selection_key_find(struct selection_key *key, const struct selection *selection,
		       const struct program *program, struct connect *connect, int64_t deadline)
{
	struct candidates candidates = {0};
	bool *found = NULL;
	size_t count = 0;
	*key = (struct selection_key){0};
	int status = gather(&candidates, selection, program, connect->config);
	if (status != GO_ON)
		goto out;
	found = calloc(candidates.count, sizeof(*found));
	status = found == NULL ? out_of_memory(program)
			       : look_up(&candidates, selection, program, connect, deadline, found);
	if (status != GO_ON)
		goto out;
	for (size_t i = 0; i < candidates.count; i++)
		if (found[i] && count++ == 0)
			memcpy(key->id, candidates.ids[i], DIGEST_LENGTH);
	key->found = count == 1;
	if (count == 0)
		fprintf(stderr, "%s: --key: there is no record of this key, tenant and route\n",
			program->name);
	else if (count > 1)
		tell_ambiguous(&candidates, found, program);
out:
	free(found);
	free(candidates.ids);
	free(candidates.routes);
	return status;
}
