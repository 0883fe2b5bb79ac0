/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/refusal.h"
#include "tests/unit/suite.h"

#include <jansson.h>
#include <string.h>

static char documentation[] = "https://example.org/idempotency?a=\"b\"";
static const struct route route = {
    .documentation = documentation,
    .status = {.in_flight = 425,
	       .mismatch = 409,
	       .unknown = 423,
	       .not_kept = 410,
	       .key_missing = 428,
	       .key_invalid = 422,
	       .tenant_missing = 403,
	       .too_large = 414,
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
    {VERDICT_EXPIRED, "expired", 410, 410, false, false},
    {VERDICT_KEY_MISSING, "key_missing", 400, 428, false, false},
    {VERDICT_KEY_INVALID, "key_invalid", 400, 422, false, false},
    {VERDICT_TENANT_MISSING, "tenant_missing", 401, 403, false, false},
    {VERDICT_TOO_LARGE, "too_large", 413, 414, false, false},
    {VERDICT_STORE_DOWN, "store_down", 503, 500, true, true},
    {VERDICT_NOT_FOUND, "not_found", 404, 404, false, false},
    {VERDICT_FORBIDDEN, "forbidden", 403, 403, false, false},
    {VERDICT_HANDLER_FAILED, "handler_failed", 502, 502, true, false},
    {VERDICT_HANDLER_TIMEOUT, "handler_timeout", 504, 504, true, false},
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
	ck_assert_int_eq(refusal_make(&refusal, VERDICT_KEY_INVALID, NULL, "a\"b\\c\nd\x01\xff"),
			 0);
	json_t *body = json_loads(buffer_text(&refusal.body), 0, NULL);
	ck_assert_ptr_nonnull(body);
	ck_assert_str_eq(json_string_value(json_object_get(body, "detail")),
			 "a\"b\\c\nd\x01\xef\xbf\xbd");
	json_decref(body);
	refusal_free(&refusal);
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
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
