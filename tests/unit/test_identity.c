/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/identity.h"

#include "base/encode.h"
#include "tests/unit/suite.h"

#include <string.h>

struct request {
	enum route_scope scope;
	const char *route, *tenant, *method, *path, *key;
};

static void id_of(const struct request *request, unsigned char id[DIGEST_LENGTH])
{
	char name[64];
	strcpy(name, request->route);
	struct route route = {.name = name, .scope = request->scope};
	struct identity identity = {
	    .tenant = request->tenant,
	    .tenant_length = strlen(request->tenant),
	    .method = request->method,
	    .path = request->path,
	    .key = request->key,
	    .key_length = strlen(request->key),
	};
	ck_assert_int_eq(identity_compute(&route, &identity, id), 0);
}

/* Case C14. */
static const struct {
	struct request one, other;
	bool same;
	const char *why;
} pairs[] = {
    {{SCOPE_TENANT, "r", "t", "POST", "/a", "k"},
     {SCOPE_TENANT, "r", "t", "POST", "/a", "k"},
     true,
     "a retry"},
    {{SCOPE_TENANT, "r", "t", "POST", "/a", "k"},
     {SCOPE_TENANT, "r", "u", "POST", "/a", "k"},
     false,
     "another tenant"},
    {{SCOPE_TENANT, "r", "t", "POST", "/a", "k"},
     {SCOPE_TENANT, "r", "", "POST", "/a", "k"},
     false,
     "nobody"},
    {{SCOPE_TENANT, "r", "t", "POST", "/a", "k"},
     {SCOPE_TENANT, "r", "t", "POST", "/a", "l"},
     false,
     "another key"},
    {{SCOPE_TENANT, "r", "t", "POST", "/a", "k"},
     {SCOPE_TENANT, "r", "t", "POST", "/a", "K"},
     false,
     "case of a key"},
    {{SCOPE_TENANT, "r", "t", "POST", "/a", "k"},
     {SCOPE_TENANT, "r", "t", "POST", "/a", "k "},
     false,
     "a blank behind a key"},
    {{SCOPE_TENANT, "r", "t", "POST", "/a", "k"},
     {SCOPE_TENANT, "r", "T", "POST", "/a", "k"},
     false,
     "case of a tenant"},
    {{SCOPE_TENANT, "r", "ab", "POST", "/a", "c"},
     {SCOPE_TENANT, "r", "a", "POST", "/a", "bc"},
     false,
     "a byte moved from tenant to key"},
    {{SCOPE_TENANT, "r", "t", "POST", "/a", "k"},
     {SCOPE_TENANT, "s", "t", "PUT", "/b", "k"},
     true,
     "scope tenant: everywhere"},
    {{SCOPE_ROUTE, "r", "t", "POST", "/a", "k"},
     {SCOPE_ROUTE, "r", "t", "PUT", "/b", "k"},
     true,
     "scope route: within it"},
    {{SCOPE_ROUTE, "r", "t", "POST", "/a", "k"},
     {SCOPE_ROUTE, "s", "t", "POST", "/a", "k"},
     false,
     "scope route: not beyond"},
    {{SCOPE_ROUTE, "rk", "t", "POST", "/a", "k"},
     {SCOPE_ROUTE, "r", "t", "POST", "/a", "kk"},
     false,
     "a byte moved from route to key"},
    {{SCOPE_METHOD_PATH, "r", "t", "POST", "/a", "k"},
     {SCOPE_METHOD_PATH, "s", "t", "POST", "/a", "k"},
     true,
     "scope method+path: whatever the route"},
    {{SCOPE_METHOD_PATH, "r", "t", "POST", "/a", "k"},
     {SCOPE_METHOD_PATH, "r", "t", "PUT", "/a", "k"},
     false,
     "scope method+path: another method"},
    {{SCOPE_METHOD_PATH, "r", "t", "POST", "/a", "k"},
     {SCOPE_METHOD_PATH, "r", "t", "POST", "/b", "k"},
     false,
     "scope method+path: another path"},
    {{SCOPE_METHOD_PATH, "r", "t", "POST", "/a", "k"},
     {SCOPE_METHOD_PATH, "r", "t", "POS", "T/a", "k"},
     false,
     "a byte moved from method to path"},
    {{SCOPE_TENANT, "r", "t", "POST", "/a", "k"},
     {SCOPE_ROUTE, "r", "t", "POST", "/a", "k"},
     false,
     "tenant and route"},
    {{SCOPE_TENANT, "r", "t", "POST", "/a", "k"},
     {SCOPE_ROUTE, "", "t", "POST", "/a", "k"},
     false,
     "tenant and a route without name"},
    {{SCOPE_ROUTE, "r", "t", "POST", "/a", "k"},
     {SCOPE_METHOD_PATH, "r", "t", "POST", "/a", "k"},
     false,
     "route and method+path"},
    {{SCOPE_TENANT, "r", "t", "POST", "/a", "k"},
     {SCOPE_METHOD_PATH, "r", "t", "", "", "k"},
     false,
     "tenant and method+path"},
};

START_TEST(keys_meet_exactly_where_their_scope_says)
{
	unsigned char one[DIGEST_LENGTH], other[DIGEST_LENGTH];
	id_of(&pairs[_i].one, one);
	id_of(&pairs[_i].other, other);
	ck_assert_msg((memcmp(one, other, DIGEST_LENGTH) == 0) == pairs[_i].same, "%s",
		      pairs[_i].why);
}
END_TEST

/* Records in databases are found by these: a change here orphans every one of them. Each is what
 * sha256sum(1) says of the fields, eight bytes of length before each. */
static const struct {
	struct request request;
	const char *id;
} kept[] = {
    {{SCOPE_TENANT, "orders", "alice", "POST", "/orders", "k1"},
     "83a3f68efc9d8efc985bb2fb3d8179c24c47d8d3e637cbc26352f9583171226e"},
    {{SCOPE_ROUTE, "orders", "alice", "POST", "/orders", "k1"},
     "853dbfb41904809fd74ac219f0cb8d080be68815e28c294648ef535e481ea46a"},
    {{SCOPE_METHOD_PATH, "orders", "alice", "POST", "/orders", "k1"},
     "30d7deeac3ec450565ffdcbf4936e44f1a48d93276b751fad42733353ad99142"},
};

START_TEST(an_id_is_the_same_in_every_release)
{
	unsigned char id[DIGEST_LENGTH];
	char hex[2 * DIGEST_LENGTH + 1];
	id_of(&kept[_i].request, id);
	encode_hex(hex, id, DIGEST_LENGTH);
	ck_assert_str_eq(hex, kept[_i].id);
}
END_TEST

START_TEST(a_nul_in_a_key_is_a_byte_like_others)
{
	struct route route = {.scope = SCOPE_TENANT};
	struct identity identity = {
	    .tenant = NULL, .tenant_length = 0, .key = "a\0b", .key_length = 3};
	unsigned char one[DIGEST_LENGTH], other[DIGEST_LENGTH];
	ck_assert_int_eq(identity_compute(&route, &identity, one), 0);
	identity.key = "a\0c";
	ck_assert_int_eq(identity_compute(&route, &identity, other), 0);
	ck_assert_mem_ne(one, other, DIGEST_LENGTH);
}
END_TEST

/* Also not by the name of a route, which may be any text. */
START_TEST(what_is_only_observed_never_meets_what_is_enforced)
{
	static const enum route_scope scopes[] = {SCOPE_TENANT, SCOPE_ROUTE, SCOPE_METHOD_PATH};
	struct identity identity = {.tenant = "t",
				    .tenant_length = 1,
				    .method = "tenant",
				    .path = "k",
				    .key = "k",
				    .key_length = 1};
	unsigned char ids[6][DIGEST_LENGTH];
	for (size_t i = 0; i < 6; i++) {
		struct route route = {.name = (char[]){"tenant"},
				      .scope = scopes[i % 3],
				      .mode = i < 3 ? ROUTE_ENFORCE : ROUTE_OBSERVE};
		ck_assert_int_eq(identity_compute(&route, &identity, ids[i]), 0);
		for (size_t k = 0; k < i; k++)
			ck_assert_mem_ne(ids[i], ids[k], DIGEST_LENGTH);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("identity");
	TCase *cases = tcase_create("identity");
	tcase_add_loop_test(cases, keys_meet_exactly_where_their_scope_says, 0,
			    sizeof(pairs) / sizeof(pairs[0]));
	tcase_add_loop_test(cases, an_id_is_the_same_in_every_release, 0,
			    sizeof(kept) / sizeof(kept[0]));
	tcase_add_test(cases, a_nul_in_a_key_is_a_byte_like_others);
	tcase_add_test(cases, what_is_only_observed_never_meets_what_is_enforced);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
