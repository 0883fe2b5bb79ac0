/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/natural_key.h"

#include "base/encode.h"
#include "tests/unit/suite.h"

#include <string.h>

static struct source sources[] = {
    {SOURCE_JSON, (char[]){"/order"}},
    {SOURCE_JSON, (char[]){"/amount"}},
    {SOURCE_HEADER, (char[]){"X-Date"}},
};

static char route_name[] = "orders";

static struct route route_of(enum route_scope scope)
{
	return (struct route){
	    .name = route_name,
	    .scope = scope,
	    .natural_values = {sources, sizeof(sources) / sizeof(sources[0])},
	};
}

struct request {
	const char *tenant, *path, *body, *date; /* date: the parameter, or NULL */
};

static const struct request base = {"alice", "/pay", "{\"order\":\"7\",\"amount\":10.50}",
				    "HTTP_X_DATE=2026-01-02"};

static enum natural_key_result compute(const struct route *route, const struct request *request,
				       unsigned char id[DIGEST_LENGTH], struct error *why)
{
	const char *entries[] = {request->date};
	struct params params = {.entries = entries, .count = request->date != NULL};
	struct identity identity = {
	    .tenant = request->tenant,
	    .tenant_length = strlen(request->tenant),
	    .method = "POST",
	    .path = request->path,
	};
	struct document *document =
	    document_new(request->body, strlen(request->body), "application/json");
	ck_assert_ptr_nonnull(document);
	enum natural_key_result result =
	    natural_key_compute(route, &identity, &params, document, id, why);
	document_free(document);
	return result;
}

static const struct {
	enum route_scope scope;
	struct request other;
	bool equal;
	const char *why;
} pairs[] = {
    {SCOPE_TENANT,
     {"alice", "/pay", "{ \"amount\": 10.5, \"order\": \"7\", \"note\": \"x\" }",
      "HTTP_X_DATE= 2026-01-02\t"},
     true,
     "the same operation, said otherwise"},
    {SCOPE_TENANT,
     {"alice", "/other", "{\"order\":\"7\",\"amount\":10.5}", "HTTP_X_DATE=2026-01-02"},
     true,
     "on another path of the tenant's"},
    {SCOPE_METHOD_PATH,
     {"alice", "/other", "{\"order\":\"7\",\"amount\":10.5}", "HTTP_X_DATE=2026-01-02"},
     false,
     "on another path, where paths are apart"},
    {SCOPE_TENANT,
     {"bob", "/pay", "{\"order\":\"7\",\"amount\":10.5}", "HTTP_X_DATE=2026-01-02"},
     false,
     "another tenant"},
    {SCOPE_TENANT,
     {"alice", "/pay", "{\"order\":\"8\",\"amount\":10.5}", "HTTP_X_DATE=2026-01-02"},
     false,
     "another order"},
    {SCOPE_TENANT,
     {"alice", "/pay", "{\"order\":\"7\",\"amount\":10.51}", "HTTP_X_DATE=2026-01-02"},
     false,
     "another amount"},
    {SCOPE_TENANT,
     {"alice", "/pay", "{\"order\":\"71\",\"amount\":0.5}", "HTTP_X_DATE=2026-01-02"},
     false,
     "a byte moved between values"},
    {SCOPE_TENANT,
     {"alice", "/pay", "{\"order\":\"7\",\"amount\":10.5}", "HTTP_X_DATE=2026-01-03"},
     false,
     "another date"},
};

START_TEST(two_requests_mean_one_operation_exactly_when_every_value_is_equal)
{
	struct route route = route_of(pairs[_i].scope);
	struct error why = {.message = ""};
	unsigned char one[DIGEST_LENGTH], other[DIGEST_LENGTH];
	ck_assert_int_eq(compute(&route, &base, one, &why), NATURAL_KEY_FOUND);
	ck_assert_msg(compute(&route, &pairs[_i].other, other, &why) == NATURAL_KEY_FOUND, "%s: %s",
		      pairs[_i].why, why.message);
	ck_assert_msg((memcmp(one, other, DIGEST_LENGTH) == 0) == pairs[_i].equal, "%s",
		      pairs[_i].why);
}
END_TEST

static const struct {
	struct request request;
	const char *told;
} lacking[] = {
    {{"alice", "/pay", "{\"amount\":1}", "HTTP_X_DATE=d"}, "json /order: there is none"},
    {{"alice", "/pay", "{\"order\":\"\",\"amount\":1}", "HTTP_X_DATE=d"},
     "json /order: it is empty"},
    {{"alice", "/pay", "{\"order\":null,\"amount\":1}", "HTTP_X_DATE=d"},
     "json /order: it must be a string or a number"},
    {{"alice", "/pay", "{\"order\":\"7\",\"amount\":1}", NULL}, "header X-Date: there is none"},
    {{"alice", "/pay", "{\"order\":\"7\",\"amount\":1}", "HTTP_X_DATE= \t"},
     "header X-Date: it is empty"},
    {{"alice", "/pay", "", "HTTP_X_DATE=d"}, "json /order: there is none"},
    {{"alice", "/pay", "{", "HTTP_X_DATE=d"},
     "json /order: the body is not well-formed JSON: byte 2: a member must begin with its name in "
     "quotes"},
};

START_TEST(a_value_that_is_lacking_is_named)
{
	struct route route = route_of(SCOPE_TENANT);
	struct error why = {.message = ""};
	unsigned char id[DIGEST_LENGTH];
	ck_assert_int_eq(compute(&route, &lacking[_i].request, id, &why), NATURAL_KEY_ABSENT);
	ck_assert_str_eq(why.message, lacking[_i].told);
}
END_TEST

START_TEST(a_route_without_values_has_no_natural_key)
{
	struct route route = route_of(SCOPE_TENANT);
	route.natural_values.count = 0;
	struct error why = {.message = ""};
	unsigned char id[DIGEST_LENGTH];
	ck_assert_int_eq(compute(&route, &base, id, &why), NATURAL_KEY_ABSENT);
}
END_TEST

/* What sha256sum(1) says of tenant, scope and values, eight bytes of length before each. */
START_TEST(an_id_is_the_same_in_every_release)
{
	struct route route = route_of(SCOPE_ROUTE);
	struct error why;
	unsigned char id[DIGEST_LENGTH];
	char hex[2 * DIGEST_LENGTH + 1];
	ck_assert_int_eq(compute(&route, &base, id, &why), NATURAL_KEY_FOUND);
	encode_hex(hex, id, DIGEST_LENGTH);
	ck_assert_str_eq(hex, "360632cbe289d7a0657ff9c37959b174c338aeb886bd843d060a685ac04a8b37");
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("natural_key");
	TCase *cases = tcase_create("natural_key");
	tcase_add_loop_test(cases,
			    two_requests_mean_one_operation_exactly_when_every_value_is_equal, 0,
			    COUNT(pairs));
	tcase_add_loop_test(cases, a_value_that_is_lacking_is_named, 0, COUNT(lacking));
	tcase_add_test(cases, a_route_without_values_has_no_natural_key);
	tcase_add_test(cases, an_id_is_the_same_in_every_release);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
