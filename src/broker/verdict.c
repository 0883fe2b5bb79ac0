/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/verdict.h"

#include <stddef.h>
#include <stdint.h>

/* Status and template of a verdict that a route may set are named by their places in struct
 * route_status and struct route_errors, where both have the same name; -1: fixed, and none. */
#define FIXED          (-1), (-1)
#define SET_BY(member) offsetof(struct route_status, member), offsetof(struct route_errors, member)

static const struct {
	const char *name;
	int status;
	int status_place, template_place;
	struct verdict_answer answer;
} table[] = {
    [VERDICT_PASSED] = {"passed", 200, FIXED, {"Passed", "", 0, true}},
    [VERDICT_FIRST] = {"first", 200, FIXED, {"First", "", 0, true}},
    [VERDICT_REPLAYED] = {"replayed", 200, FIXED, {"Replayed", "", 0, true}},
    [VERDICT_IN_FLIGHT] = {"in_flight",
			   409,
			   SET_BY(in_flight),
			   {"Request in progress",
			    "A request with this idempotency key is still being processed. "
			    "Retry later with the same key and the same request.",
			    1, true}},
    [VERDICT_MISMATCH] = {"mismatch",
			  422,
			  SET_BY(mismatch),
			  {"Idempotency key reused",
			   "This idempotency key was already used with a different request. "
			   "Use a new key for a new operation.",
			   0, false}},
    [VERDICT_UNKNOWN] = {"unknown",
			 409,
			 SET_BY(unknown),
			 {"Outcome unknown",
			  "An earlier request with this idempotency key was interrupted and its "
			  "outcome is unknown. It will not be run again until somebody has "
			  "looked into it.",
			  0, false}},
    [VERDICT_NOT_KEPT] = {"not_kept",
			  409,
			  SET_BY(not_kept),
			  {"Answer not kept",
			   "The request with this idempotency key was completed, but its answer "
			   "was not kept. It will not be run again.",
			   0, false}},
    [VERDICT_EXPIRED] = {"expired",
			 410,
			 SET_BY(expired),
			 {"Idempotency key expired",
			  "The answer to this idempotency key is no longer kept. It will not be "
			  "run again.",
			  0, false}},
    [VERDICT_KEY_MISSING] = {"key_missing",
			     400,
			     SET_BY(key_missing),
			     {"Idempotency key missing",
			      "This operation requires an idempotency key.", 0, false}},
    [VERDICT_KEY_INVALID] = {"key_invalid",
			     400,
			     SET_BY(key_invalid),
			     {"Idempotency key invalid", "The idempotency key is not acceptable.",
			      0, false}},
    [VERDICT_TENANT_MISSING] = {"tenant_missing",
				401,
				SET_BY(tenant_missing),
				{"Caller unknown",
				 "This operation requires credentials that say on whose behalf it "
				 "is asked.",
				 0, false}},
    [VERDICT_TOO_LARGE] = {"too_large",
			   413,
			   SET_BY(too_large),
			   {"Request too large", "The request body is larger than accepted here.",
			    0, false}},
    [VERDICT_BAD_BODY] = {"bad_body",
			  400,
			  SET_BY(bad_body),
			  {"Request body malformed",
			   "The request body is not valid JSON. Nothing was processed.", 0, false}},
    [VERDICT_DUPLICATE] = {"duplicate",
			   409,
			   SET_BY(duplicate),
			   {"Operation already done",
			    "The same operation was already done under another idempotency key. It "
			    "was not run again.",
			    0, false}},
    [VERDICT_STORE_DOWN] = {"store_down",
			    503,
			    SET_BY(store_down),
			    {"Service unavailable",
			     "The request was not processed. Retry later with the same key.", 5,
			     true}},
    [VERDICT_NOT_FOUND] = {"not_found",
			   404,
			   FIXED,
			   {"Not found", "There is no such handler.", 0, false}},
    [VERDICT_FORBIDDEN] = {"forbidden",
			   403,
			   FIXED,
			   {"Forbidden", "This handler may not be run.", 0, false}},
    [VERDICT_BODY_LENGTH] = {"body_length",
			     400,
			     FIXED,
			     {"Body length wrong",
			      "The request body is not as long as its Content-Length says. "
			      "Nothing was processed.",
			      0, true}},
    [VERDICT_BODY_UNSPOOLED] = {"body_unspooled",
				507,
				FIXED,
				{"Insufficient storage",
				 "The request body could not be taken in. Nothing was processed.",
				 5, true}},
    [VERDICT_HANDLER_FAILED] = {"handler_failed",
				502,
				FIXED,
				{"Handler failed", "The handler gave no valid answer.", 0, true}},
    [VERDICT_HANDLER_TIMEOUT] = {"handler_timeout",
				 504,
				 FIXED,
				 {"Handler timed out", "The handler did not answer in time.", 0,
				  true}},
    [VERDICT_REBUILD_FAILED] = {"rebuild_failed",
				503,
				FIXED,
				{"Answer not available",
				 "The request with this idempotency key was completed, but its "
				 "answer could not be given again just now. Retry later with the "
				 "same key.",
				 5, true}},
    [VERDICT_UNSETTLED] = {"unsettled",
			   503,
			   FIXED,
			   {"Not settled",
			    "The request was begun, but its outcome could not be settled yet. "
			    "Retry later with the same key.",
			    5, true}},
    [VERDICT_CUT] = {"cut",
		     400,
		     FIXED,
		     {"Request cut", "The request did not come whole. Nothing was processed.", 0,
		      true}},
    [VERDICT_INTERNAL_ERROR] = {"internal_error",
				500,
				FIXED,
				{"Internal error", "Nothing was processed.", 0, true}},
};

const char *verdict_name(enum verdict verdict)
{
	return table[verdict].name;
}

const struct verdict_answer *verdict_answer(enum verdict verdict)
{
	return &table[verdict].answer;
}

int verdict_status(enum verdict verdict, const struct route *route)
{
	int place = table[verdict].status_place;
	if (route == NULL || place < 0)
		return table[verdict].status;
	const char *statuses = (const char *)&route->status;
	return (int)*(const int64_t *)(const void *)(statuses + place);
}

const char *verdict_template(enum verdict verdict, const struct route *route)
{
	int place = table[verdict].template_place;
	if (route == NULL)
		return "";
	const char *errors = (const char *)&route->errors;
	const char *own = place < 0 ? "" : *(char *const *)(const void *)(errors + place);
	return own[0] != '\0' ? own : route->errors.body;
}
