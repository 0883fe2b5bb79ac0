/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/refusal.h"
#include "tests/unit/suite.h"

#include <jansson.h>
#include <stddef.h>
#include <string.h>

static char documentation[] = "https://example.org/idempotency?a=\"b\"";
static char none[] = "", json[] = "application/json";
static char for_all[] =
    "{\"error\":{\"code\":\"{code}\",\"message\":\"{detail}\",\"retry\":{retryable}}}";
static char for_reuse[] = "<e at=\"{first_seen}\">{status} {title} {location} {docs}</e>";
static char xml[] = "application/xml; charset=utf-8";

#define NO_TEMPLATES                                                                               \
	.content_type = json, .body = none, .in_flight = none, .mismatch = none, .unknown = none,  \
	.not_kept = none, .expired = none, .duplicate = none, .key_missing = none,                 \
	.key_invalid = none, .tenant_missing = none, .too_large = none, .bad_body = none,          \
	.store_down = none

static const struct route route = {
    .documentation = documentation,
    .errors = {NO_TEMPLATES},
    .status = {.in_flight = 425,
	       .mismatch = 409,
	       .unknown = 423,
	       .not_kept = 410,
	       .expired = 404,
	       .duplicate = 303,
	       .key_missing = 428,
	       .key_invalid = 422,
	       .tenant_missing = 403,
	       .too_large = 414,
	       .bad_body = 415,
	       .store_down = 500},
};

static const struct {
	enum verdict verdict;
	const char *code;
	int by_default, by_route;
	bool retryable;
	bool retry_after;
} refusals[] = {
    {VERDICT_IN_FLIGHT, "in_flight", 409, 425, true, true},
    {VERDICT_MISMATCH, "mismatch", 422, 409, false, false},
    {VERDICT_UNKNOWN, "unknown", 409, 423, false, false},
    {VERDICT_NOT_KEPT, "not_kept", 409, 410, false, false},
    {VERDICT_EXPIRED, "expired", 410, 404, false, false},
    {VERDICT_DUPLICATE, "duplicate", 409, 303, false, false},
    {VERDICT_KEY_MISSING, "key_missing", 400, 428, false, false},
    {VERDICT_KEY_INVALID, "key_invalid", 400, 422, false, false},
    {VERDICT_TENANT_MISSING, "tenant_missing", 401, 403, false, false},
    {VERDICT_TOO_LARGE, "too_large", 413, 414, false, false},
    {VERDICT_BAD_BODY, "bad_body", 400, 415, false, false},
    {VERDICT_STORE_DOWN, "store_down", 503, 500, true, true},
    {VERDICT_NOT_FOUND, "not_found", 404, 404, false, false},
    {VERDICT_FORBIDDEN, "forbidden", 403, 403, false, false},
    {VERDICT_BODY_LENGTH, "body_length", 400, 400, true, false},
    {VERDICT_BODY_UNSPOOLED, "body_unspooled", 507, 507, true, true},
    {VERDICT_HANDLER_FAILED, "handler_failed", 502, 502, true, false},
    {VERDICT_HANDLER_TIMEOUT, "handler_timeout", 504, 504, true, false},
    {VERDICT_REBUILD_FAILED, "rebuild_failed", 503, 503, true, true},
    {VERDICT_UNSETTLED, "unsettled", 503, 503, true, true},
    {VERDICT_INTERNAL_ERROR, "internal_error", 500, 500, true, false},
};

static void check(const struct route *by, int status, const char *type)
{
	struct refusal refusal;
	ck_assert_int_eq(refusal_make(&refusal, VERDICT_MISMATCH, by, NULL), 0);
	ck_assert_int_eq(refusal.status, status);
	json_t *body = json_loads(buffer_text(&refusal.body), 0, NULL);
	ck_assert_ptr_nonnull(body);
	ck_assert_str_eq(json_string_value(json_object_get(body, "type")), type);
	json_decref(body);
	refusal_free(&refusal);
}

START_TEST(a_refusal_is_valid_problem_json_with_a_stable_code)
{
	for (int routed = 0; routed < 2; routed++) {
		struct refusal refusal;
		int status = routed ? refusals[_i].by_route : refusals[_i].by_default;
		ck_assert_int_eq(
		    refusal_make(&refusal, refusals[_i].verdict, routed ? &route : NULL, NULL), 0);
		ck_assert_int_eq(refusal.status, status);
		json_t *body = json_loads(buffer_text(&refusal.body), 0, NULL);
		ck_assert_ptr_nonnull(body);
		ck_assert_str_eq(json_string_value(json_object_get(body, "code")),
				 refusals[_i].code);
		ck_assert_int_eq(json_integer_value(json_object_get(body, "status")), status);
		ck_assert(json_is_true(json_object_get(body, "retryable")) ==
			  refusals[_i].retryable);
		ck_assert_int_gt((int)strlen(json_string_value(json_object_get(body, "title"))), 0);
		ck_assert_int_gt((int)strlen(json_string_value(json_object_get(body, "detail"))),
				 0);
		const char *headers = buffer_text(&refusal.headers);
		ck_assert_ptr_nonnull(
		    strstr(headers, "Content-Type: application/problem+json\r\n"));
		ck_assert((strstr(headers, "\r\nRetry-After: ") != NULL) ==
			  refusals[_i].retry_after);
		json_decref(body);
		refusal_free(&refusal);
	}
}
END_TEST

START_TEST(the_documentation_link_is_the_problems_type)
{
	check(&route, 409, documentation);
	check(NULL, 422, "about:blank");
}
END_TEST

START_TEST(a_detail_with_hostile_bytes_stays_valid_json)
{
	struct refusal refusal;
	const struct refusal_facts facts = {.detail = "a\"b\\c\nd\x01\xff"};
	ck_assert_int_eq(refusal_make(&refusal, VERDICT_KEY_INVALID, NULL, &facts), 0);
	json_t *body = json_loads(buffer_text(&refusal.body), 0, NULL);
	ck_assert_ptr_nonnull(body);
	ck_assert_str_eq(json_string_value(json_object_get(body, "detail")),
			 "a\"b\\c\nd\x01\xef\xbf\xbd");
	json_decref(body);
	refusal_free(&refusal);
}
END_TEST

#define FIRST_MS INT64_C(1767323045678)

START_TEST(a_duplicate_tells_where_and_when_the_first_one_was_done)
{
	const struct refusal_facts facts = {.location = "/orders/7", .first_ms = FIRST_MS};
	struct refusal refusal;
	ck_assert_int_eq(refusal_make(&refusal, VERDICT_DUPLICATE, NULL, &facts), 0);
	ck_assert_ptr_nonnull(strstr(buffer_text(&refusal.headers), "\r\nLocation: /orders/7\r\n"));
	json_t *body = json_loads(buffer_text(&refusal.body), 0, NULL);
	ck_assert_ptr_nonnull(body);
	ck_assert_str_eq(json_string_value(json_object_get(body, "location")), "/orders/7");
	ck_assert_str_eq(json_string_value(json_object_get(body, "first_seen")),
			 "2026-01-02T03:04:05.678Z");
	json_decref(body);
	refusal_free(&refusal);
}
END_TEST

START_TEST(what_is_not_known_is_not_told)
{
	static const struct refusal_facts facts[] = {{0}, {.location = ""}};
	struct refusal refusal;
	ck_assert_int_eq(refusal_make(&refusal, VERDICT_DUPLICATE, NULL, &facts[_i]), 0);
	ck_assert_ptr_null(strstr(buffer_text(&refusal.headers), "Location"));
	ck_assert_ptr_null(strstr(buffer_text(&refusal.body), "location"));
	ck_assert_ptr_null(strstr(buffer_text(&refusal.body), "first_seen"));
	refusal_free(&refusal);
}
END_TEST

START_TEST(a_location_that_would_split_the_header_block_is_no_header)
{
	const struct refusal_facts facts = {.location = "/a\r\nX: y"};
	struct refusal refusal;
	ck_assert_int_eq(refusal_make(&refusal, VERDICT_DUPLICATE, NULL, &facts), 0);
	ck_assert_ptr_null(strstr(buffer_text(&refusal.headers), "Location"));
	ck_assert_ptr_null(strstr(buffer_text(&refusal.headers), "X: y"));
	refusal_free(&refusal);
}
END_TEST

/* One template of its own, one for all others. */
static const struct route templated = {
    .documentation = documentation,
    .errors = {NO_TEMPLATES},
    .status = {.in_flight = 429, .mismatch = 409},
};

static const struct {
	const char *why;
	enum verdict verdict;
	bool own; /* the route has one for mismatches */
	const char *detail, *location;
	int64_t first_ms;
	int status;
	const char *headers, *body;
} envelopes[] = {
    {"a verdict without a template of its own has the route's, with Retry-After beside it",
     VERDICT_IN_FLIGHT, false, "\"soon\"", NULL, 0, 429,
     "Content-Type: application/json\r\nCache-Control: no-store\r\nRetry-After: 1\r\n",
     "{\"error\":{\"code\":\"in_flight\",\"message\":\"\\\"soon\\\"\",\"retry\":true}}"},
    {"one that has no setting has it too", VERDICT_NOT_FOUND, false, NULL, NULL, 0, 404,
     "Content-Type: application/json\r\nCache-Control: no-store\r\n",
     "{\"error\":{\"code\":\"not_found\",\"message\":\"There is no such handler.\","
     "\"retry\":false}}"},
    {"one of its own goes first, escaped for its type", VERDICT_MISMATCH, true, NULL, "/a?b&c",
     FIRST_MS, 409,
     "Content-Type: application/xml; charset=utf-8\r\nCache-Control: no-store\r\n"
     "Location: /a?b&c\r\n",
     "<e at=\"2026-01-02T03:04:05.678Z\">409 Idempotency key reused /a?b&#38;c "
     "https://example.org/idempotency?a=&#34;b&#34;</e>"},
};

START_TEST(a_routes_templates_stand_for_problem_json)
{
	struct route by = templated;
	struct refusal refusal;
	by.errors.body = for_all;
	if (envelopes[_i].own) {
		by.errors.mismatch = for_reuse;
		by.errors.content_type = xml;
	}
	const struct refusal_facts facts = {envelopes[_i].detail, envelopes[_i].location,
					    envelopes[_i].first_ms};
	ck_assert_int_eq(refusal_make(&refusal, envelopes[_i].verdict, &by, &facts), 0);
	ck_assert_int_eq(refusal.status, envelopes[_i].status);
	ck_assert_msg(strcmp(buffer_text(&refusal.body), envelopes[_i].body) == 0, "%s: %s",
		      envelopes[_i].why, buffer_text(&refusal.body));
	const char *headers = buffer_text(&refusal.headers);
	size_t length = strlen(envelopes[_i].headers);
	ck_assert_msg(strncmp(headers, envelopes[_i].headers, length) == 0, "%s: %s",
		      envelopes[_i].why, headers);
	ck_assert_str_eq(
	    headers + length,
	    "Link: <https://example.org/idempotency?a=\"b\">; rel=\"describedby\"\r\n");
	refusal_free(&refusal);
}
END_TEST

/* Each name of status and errors is the verdict's own: what is set for one shows at no other. */
START_TEST(a_template_is_its_verdicts_alone)
{
	static const struct {
		enum verdict verdict;
		size_t place;
	} places[] = {
	    {VERDICT_IN_FLIGHT, offsetof(struct route_errors, in_flight)},
	    {VERDICT_MISMATCH, offsetof(struct route_errors, mismatch)},
	    {VERDICT_UNKNOWN, offsetof(struct route_errors, unknown)},
	    {VERDICT_NOT_KEPT, offsetof(struct route_errors, not_kept)},
	    {VERDICT_EXPIRED, offsetof(struct route_errors, expired)},
	    {VERDICT_DUPLICATE, offsetof(struct route_errors, duplicate)},
	    {VERDICT_KEY_MISSING, offsetof(struct route_errors, key_missing)},
	    {VERDICT_KEY_INVALID, offsetof(struct route_errors, key_invalid)},
	    {VERDICT_TENANT_MISSING, offsetof(struct route_errors, tenant_missing)},
	    {VERDICT_TOO_LARGE, offsetof(struct route_errors, too_large)},
	    {VERDICT_BAD_BODY, offsetof(struct route_errors, bad_body)},
	    {VERDICT_STORE_DOWN, offsetof(struct route_errors, store_down)},
	};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct route by = templated;
		by.errors.body = for_all;
		memcpy((char *)&by.errors + places[i].place, &(char *){for_reuse}, sizeof(char *));
		for (size_t j = 0; j < sizeof(refusals) / sizeof(refusals[0]); j++) {
			enum verdict verdict = refusals[j].verdict;
			ck_assert_ptr_eq(verdict_template(verdict, &by),
					 verdict == places[i].verdict ? for_reuse : for_all);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("refusal");
	TCase *cases = tcase_create("refusal");
	tcase_add_loop_test(cases, a_refusal_is_valid_problem_json_with_a_stable_code, 0,
			    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(cases, the_documentation_link_is_the_problems_type);
	tcase_add_test(cases, a_detail_with_hostile_bytes_stays_valid_json);
	tcase_add_test(cases, a_duplicate_tells_where_and_when_the_first_one_was_done);
	tcase_add_loop_test(cases, what_is_not_known_is_not_told, 0, 2);
	tcase_add_test(cases, a_location_that_would_split_the_header_block_is_no_header);
	tcase_add_loop_test(cases, a_routes_templates_stand_for_problem_json, 0,
			    sizeof(envelopes) / sizeof(envelopes[0]));
	tcase_add_test(cases, a_template_is_its_verdicts_alone);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
