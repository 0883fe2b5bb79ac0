/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/report.h"

#include <poll.h>

#include "base/clock.h"
#include "base/log.h"
#include "broker/claim.h"
#include "metrics/count.h"

/* An observed request was run whatever its verdict; one that no route guards says only what kept it
 * from running. */
static const char *event_of(const struct exchange *exchange)
{
	if (!exchange->request->guarded)
		return "unguarded";
	return exchange->observed ? "observed" : "request";
}

static enum log_level level_of(const struct exchange *exchange, enum verdict verdict,
			       const struct error *why)
{
	switch (verdict) {
	case VERDICT_INTERNAL_ERROR:
	case VERDICT_BODY_UNSPOOLED:
		return LOG_LEVEL_ERROR;
	case VERDICT_NOT_FOUND:
	case VERDICT_FORBIDDEN:
		return LOG_LEVEL_WARNING;
	case VERDICT_CUT:
		return why->kind == ERROR_LIMIT ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO;
	case VERDICT_STORE_DOWN:
		return exchange->observed ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING;
	case VERDICT_PASSED:
		if (!exchange->request->guarded)
			return LOG_LEVEL_DEBUG;
		break;
	default:
		break;
	}
	return exchange->status >= 500 ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO;
}

static void tell_identity(const struct exchange *exchange, enum verdict verdict)
{
	const struct buffer *key = &exchange->key;
	log_field_bytes("tenant", exchange->tenant.data, exchange->tenant.length);
	/* What is no key may be anything (case C18). */
	if (verdict != VERDICT_KEY_INVALID && key->length > 0) {
		if (exchange->config->log_keys)
			log_field_bytes("key", key->data, key->length);
		else
			log_field_key("key", key->data, key->length);
	}
	if (exchange->identified)
		log_field_hex("record", exchange->claim.id, DIGEST_LENGTH);
	if (exchange->attempt > 0)
		log_field_number("attempt", exchange->attempt);
}

static void tell_outcome(const struct exchange *exchange, enum verdict verdict)
{
	log_field_text("verdict", verdict_name(verdict));
	log_field_bool("replayed", verdict == VERDICT_REPLAYED);
	if (exchange->record.created_ms != 0)
		log_field_time("first_seen", exchange->record.created_ms);
	log_field_text("settlement", exchange->settlement);
	if (verdict == VERDICT_MISMATCH) {
		char differs[FINGERPRINT_SCHEME_LENGTH];
		claim_difference(exchange, differs, sizeof(differs));
		log_field_text("differs", differs);
	}
	if (exchange->status != 0) /* 0: no answer was owed */
		log_field_number("status", exchange->status);
}

/* Was there nobody left to take the answer? A retry may come, then. */
static bool client_has_gone(const struct exchange *exchange)
{
	const struct reply *reply = exchange->reply;
	struct pollfd client = {.fd = reply->descriptor(reply->context),
				.events = POLLIN | POLLRDHUP};
	return poll(&client, 1, 0) > 0;
}

/* What is only observed passes, whatever it would have been answered. */
static void count(const struct exchange *exchange, enum verdict verdict)
{
	const struct request *request = exchange->request;
	unsigned route = request_counters(request);
	count_request(route, exchange->observed ? VERDICT_PASSED : verdict,
		      count_now() - request->started_us);
	if (exchange->observed)
		count_observed(route, verdict);
}

void report_request(const struct exchange *exchange, enum verdict verdict, const struct error *why)
{
	const struct request *request = exchange->request;
	int64_t elapsed = clock_now() - request->started;
	enum log_level level = level_of(exchange, verdict, why);
	count(exchange, verdict);
	if (!log_wants(level))
		return;
	log_begin(level, event_of(exchange));
	log_field_text("route", exchange->route == NULL ? NULL : exchange->route->name);
	tell_identity(exchange, verdict);
	tell_outcome(exchange, verdict);
	log_field_number("elapsed_ms", elapsed);
	log_field_number("handler_ms", exchange->handler_ms);
	log_field_number("store_ms", exchange->store_ms);
	if (client_has_gone(exchange))
		log_field_bool("client_gone", true);
	if (!request->guarded || verdict == VERDICT_NOT_FOUND || verdict == VERDICT_FORBIDDEN)
		log_field_text("path", request->path);
	log_field_text("message", why->message[0] != '\0' ? why->message : NULL);
	log_end();
}
