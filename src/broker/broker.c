/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/broker.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/fault.h"
#include "base/log.h"
#include "broker/claim.h"
#include "broker/exchange.h"
#include "broker/execution.h"
#include "broker/observe.h"
#include "broker/outage.h"
#include "broker/pass.h"
#include "broker/rebuild.h"
#include "broker/refusal.h"
#include "broker/replay.h"
#include "broker/report.h"
#include "idem/identity.h"
#include "idem/key.h"
#include "idem/natural_key.h"
#include "idem/tenant.h"

#include <stdlib.h>
#include <string.h>

struct broker {
	const struct config *config;
	struct store *store;
	struct renewal *renewal;
	struct bell *bell;
	struct store_owner owner;
	struct error owner_error;
	bool owner_known;
	int64_t observe_from; /* not before, since the database was slow or away */
};

/* How long observing rests after that. */
#define OBSERVE_REST_MS 5000

struct broker *broker_new(const struct config *config, struct bell *bell)
{
	struct broker *broker = calloc(1, sizeof(*broker));
	if (broker == NULL)
		return NULL;
	broker->config = config;
	broker->bell = bell;
	broker->store = store_new(&config->store);
	broker->renewal = broker->store == NULL ? NULL : renewal_new(broker->store);
	if (broker->renewal == NULL) {
		broker_free(broker);
		return NULL;
	}
	broker->owner_known = store_owner_self(&broker->owner, &broker->owner_error) == 0;
	return broker;
}

void broker_free(struct broker *broker)
{
	if (broker == NULL)
		return;
	renewal_free(broker->renewal);
	store_free(broker->store);
	free(broker);
}

/* As if there were no route, its output streaming. */
static void run_unguarded(struct exchange *exchange)
{
	struct pass_result result;
	pass_through(exchange->config, exchange->request, exchange->reply, &result);
	exchange->status = result.status;
	exchange->app_status = result.app_status;
	exchange->handler_ms = result.handler_ms;
}

/* What stands in the way of any run, guarded or not; VERDICT_PASSED: nothing. */
static enum verdict find_obstacle(const struct request *request, struct error *why)
{
	*why = request->script_error;
	switch (request->script_result) {
	case SCRIPT_FOUND:
		break;
	case SCRIPT_NOT_FOUND:
		return VERDICT_NOT_FOUND;
	case SCRIPT_FORBIDDEN:
		return VERDICT_FORBIDDEN;
	case SCRIPT_FAILED:
		return VERDICT_INTERNAL_ERROR;
	}
	switch (request->body_state) {
	case REQUEST_BODY_WHOLE:
	case REQUEST_BODY_CUT:
		break;
	case REQUEST_BODY_MISMATCH:
		return VERDICT_BODY_LENGTH;
	case REQUEST_BODY_TOO_LARGE:
		return VERDICT_TOO_LARGE;
	case REQUEST_BODY_FAILED:
		*why = request->body_error;
		return VERDICT_BODY_UNSPOOLED;
	}
	return VERDICT_PASSED;
}

/* What was only observed holds no natural key: it would keep others from running. */
static int prepare_natural(struct exchange *exchange, const struct identity *identity,
			   struct error *error)
{
	const struct route *route = exchange->route;
	struct error why = {0};
	if (route->mode == ROUTE_OBSERVE)
		return 0;
	switch (natural_key_compute(route, identity, &exchange->request->params,
				    exchange->request->document, exchange->natural.id, &why)) {
	case NATURAL_KEY_FOUND:
		exchange->natural.window = route->natural_window;
		exchange->has_natural = true;
		return 0;
	case NATURAL_KEY_ABSENT:
		if (route->natural_values.count > 0)
			log_message(LOG_LEVEL_INFO, "natural_key", "route %s: not looked at: %s",
				    route->name, why.message);
		return 0;
	case NATURAL_KEY_FAILED:
		break;
	}
	*error = why;
	return -1;
}

/* Who only observes does not renew: its lease is as long as its run may be. */
static int64_t lease_of(const struct exchange *exchange)
{
	const struct config *config = exchange->config;
	int64_t run =
	    config->handlers.timeout + config->handlers.kill_grace + config->store.settle_timeout;
	int64_t lease = exchange->route->lease;
	return exchange->route->mode == ROUTE_OBSERVE && lease < run ? run : lease;
}

/* Fill the claim from key, tenant and request. */
static int prepare_claim(struct broker *broker, struct exchange *exchange, struct error *error)
{
	const struct route *route = exchange->route;
	const struct request *request = exchange->request;
	struct store_claim *claim = &exchange->claim;
	struct fingerprint_source source;
	if (!broker->owner_known) {
		*error = broker->owner_error;
		return -1;
	}
	request_fingerprint_source(request, &source);
	*claim = (struct store_claim){
	    .tenant = buffer_text(&exchange->tenant),
	    .tenant_length = exchange->tenant.length,
	    .route = route->name,
	    .key = buffer_text(&exchange->key),
	    .key_length = exchange->key.length,
	    .fingerprint = exchange->fingerprint.digest,
	    .scheme = exchange->fingerprint.scheme,
	    .parts = exchange->fingerprint.parts,
	    .lease = lease_of(exchange),
	    .retention = route->retention,
	    .owner = &broker->owner,
	    .lapse_unknown = route->on_lapse == LAPSE_UNKNOWN && route->mode == ROUTE_ENFORCE,
	};
	struct identity identity = {.tenant = claim->tenant,
				    .tenant_length = claim->tenant_length,
				    .method = request->method,
				    .path = request->path,
				    .key = claim->key,
				    .key_length = claim->key_length};
	if (fingerprint_make(route, &source, &exchange->fingerprint) != 0 ||
	    identity_compute(route, &identity, claim->id) != 0 ||
	    random_bytes(claim->token, TOKEN_LENGTH) != 0) {
		error_set(error, ERROR_MEMORY, "out of memory or of randomness for a claim");
		return -1;
	}
	exchange->identified = true;
	claim->parts_length = exchange->fingerprint.parts_length;
	return prepare_natural(exchange, &identity, error);
}

/* Not beside a record that was seen: then somebody has run, or runs. */
static bool may_run_unprotected(const struct exchange *exchange)
{
	return exchange->route->store_down == STORE_DOWN_RUN && exchange->record.created_ms == 0;
}

static enum verdict refuse(struct exchange *exchange, enum verdict verdict)
{
	struct refusal_facts facts = {0};
	if (verdict == VERDICT_DUPLICATE) {
		facts.location = buffer_text(&exchange->holder.location);
		facts.first_ms = exchange->holder.settled_ms;
	}
	exchange->status = refusal_send(exchange->reply, exchange->request->method, verdict,
					exchange->route, &facts);
	return verdict;
}

/* From the claim's verdict to the answer; returns the verdict as it turned out. */
static enum verdict answer(struct exchange *exchange, enum verdict verdict)
{
	if (exchange->route->mode == ROUTE_OBSERVE)
		return observe_run(exchange, verdict);
	switch (verdict) {
	case VERDICT_FIRST:
		return execution_run(exchange);
	case VERDICT_REPLAYED:
		replay_send(exchange);
		return verdict;
	case VERDICT_NOT_KEPT:
		return rebuild_may(exchange) ? rebuild_run(exchange) : refuse(exchange, verdict);
	case VERDICT_STORE_DOWN:
		if (!may_run_unprotected(exchange))
			return refuse(exchange, verdict);
		run_unguarded(exchange);
		return verdict;
	default:
		return refuse(exchange, verdict);
	}
}

static enum verdict decide(struct broker *broker, struct exchange *exchange, struct error *error)
{
	bool observes = exchange->route->mode == ROUTE_OBSERVE;
	int64_t from = clock_now();
	if (observes && from < broker->observe_from)
		return VERDICT_STORE_DOWN;
	fault_point("before-claim");
	enum verdict verdict = claim_decide(exchange, error);
	exchange->store_ms = clock_now() - from;
	if (verdict == VERDICT_STORE_DOWN)
		outage_note_failure(error);
	else
		outage_note_success();
	if (observes && verdict == VERDICT_STORE_DOWN)
		broker->observe_from = clock_now() + OBSERVE_REST_MS;
	return verdict;
}

/* A request with a key and a tenant. */
static enum verdict handle_keyed(struct broker *broker, struct exchange *exchange,
				 struct error *error)
{
	if (prepare_claim(broker, exchange, error) != 0)
		return answer(exchange, VERDICT_INTERNAL_ERROR);
	return answer(exchange, decide(broker, exchange, error));
}

/* Settled before there is anything to claim: refused, or where the route only observes, run. */
static enum verdict end_early(struct exchange *exchange, enum verdict verdict,
			      const struct error *why)
{
	if (why->kind == ERROR_MEMORY)
		verdict = VERDICT_INTERNAL_ERROR; /* of ours, whatever it kept us from reading */
	if (exchange->route->mode == ROUTE_OBSERVE)
		return observe_run(exchange, verdict);
	const char *detail = why->message[0] != '\0' ? why->message : NULL;
	exchange->status = refusal_send(exchange->reply, exchange->request->method, verdict,
					exchange->route, &(struct refusal_facts){.detail = detail});
	return verdict;
}

/* Empty is not wrong: a request without a body has nothing to parse. */
static bool body_is_bad(const struct exchange *exchange, struct error *why)
{
	const struct request *request = exchange->request;
	return exchange->route->require_json && body_length(request->body) > 0 &&
	       !document_is_json(request->document, why);
}

static enum verdict handle_guarded(struct broker *broker, struct exchange *exchange,
				   struct error *why)
{
	const struct route *route = exchange->route;
	struct request *request = exchange->request;
	if (request_open_document(request, why) != 0)
		return end_early(exchange, VERDICT_INTERNAL_ERROR, why);
	switch (key_read(route, &request->params, request->document, &exchange->key, why)) {
	case KEY_INVALID:
		return end_early(exchange, VERDICT_KEY_INVALID, why);
	case KEY_ABSENT:
		if (route_requires_key(route, request->method))
			return end_early(exchange, VERDICT_KEY_MISSING, why);
		*why = (struct error){0}; /* none is needed */
		run_unguarded(exchange);
		return VERDICT_PASSED;
	case KEY_FOUND:
		break;
	}
	if (tenant_read(route, &request->params, &exchange->tenant, why) != TENANT_FOUND)
		return end_early(exchange, VERDICT_TENANT_MISSING, why);
	if (body_is_bad(exchange, why))
		return end_early(exchange, VERDICT_BAD_BODY, why);
	return handle_keyed(broker, exchange, why);
}

static enum verdict handle(struct broker *broker, struct exchange *exchange, struct error *why)
{
	struct request *request = exchange->request;
	if (request->body_state == REQUEST_BODY_CUT) {
		*why = request->body_error;
		return VERDICT_CUT;
	}
	enum verdict obstacle = find_obstacle(request, why);
	if (obstacle != VERDICT_PASSED) {
		exchange->status =
		    refusal_send(exchange->reply, request->method, obstacle, request->route, NULL);
		return obstacle;
	}
	if (request->guarded)
		return handle_guarded(broker, exchange, why);
	run_unguarded(exchange);
	return VERDICT_PASSED;
}

int broker_handle(struct broker *broker, struct request *request, const struct reply *front)
{
	struct reply reply = *front;
	reply.id_header = broker->config->log_request_header;
	reply.id = request->id;
	struct exchange exchange = {
	    .config = broker->config,
	    .route = request->route,
	    .store = broker->store,
	    .renewal = broker->renewal,
	    .bell = broker->bell,
	    .request = request,
	    .reply = &reply,
	};
	struct error why = {0};
	record_init(&exchange.record);
	report_request(&exchange, handle(broker, &exchange, &why), &why);
	buffer_free(&exchange.holder.location);
	record_free(&exchange.record);
	buffer_free(&exchange.key);
	buffer_free(&exchange.tenant);
	return exchange.app_status;
}
