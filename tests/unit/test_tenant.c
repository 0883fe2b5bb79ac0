/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/tenant.h"

#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct source sources[] = {
    {SOURCE_ENV, (char[]){"ORG_ID"}},
    {SOURCE_ENV, (char[]){"REMOTE_USER"}},
    {SOURCE_HEADER, (char[]){"ApiKey"}},
};

static struct source literal[] = {
    {SOURCE_ENV, (char[]){"REMOTE_USER"}},
    {SOURCE_LITERAL, (char[]){"shop"}},
};

static struct route route_with(struct source *items, size_t count,
			       enum route_tenant_missing missing)
{
	return (struct route){.tenant_sources = {items, count}, .tenant_missing = missing};
}

/* The digests are the first 32 digits of what sha256sum(1) says of the value. */
static const struct {
	const char *entries[4];
	const char *tenant; /* NULL: missing */
	const char *why;
} requests[] = {
    {{"REMOTE_USER=alice"}, "alice", "a variable stands as it is"},
    {{"ORG_ID=7", "REMOTE_USER=alice"}, "7", "the first source counts"},
    {{"ORG_ID=", "REMOTE_USER=alice"}, "alice", "an empty one is absent"},
    {{"HTTP_APIKEY=abc"}, "header:apikey=ba7816bf8f01cfea414140de5dae2223", "a header as a digest"},
    {{"HTTP_APIKEY=abc", "REMOTE_USER=alice"}, "alice", "before a header where the route says so"},
    {{"REMOTE_USER=header:apikey=ba7816bf8f01cfea414140de5dae2223"},
     "env:REMOTE_USER=1da944f69cab87c2105bf243bde110f5",
     "a name that plays a header's digest"},
    {{"REMOTE_USER=env:REMOTE_USER=1da944f69cab87c2105bf243bde110f5"},
     "env:REMOTE_USER=40ca2aee9a257a11d5008e5d942745ca",
     "a name that plays such a name's digest"},
    {{"REMOTE_USER=caf\xc3\xa9 \xff"}, "caf\xc3\xa9 \xff", "any bytes"},
    {{"HTTP_APIKEY="}, NULL, "an empty header is absent"},
    {{"HTTP_OTHER=abc"}, NULL, "nobody"},
    {{"HTTP_APIKEY=abc", "HTTP_APIKEY=abd"}, NULL, "a header sent twice: whose is it?"},
    {{"HTTP_APIKEY=abc", "HTTP_APIKEY="}, NULL, "a header sent twice, once empty"},
    {{"REMOTE_USER=alice", "REMOTE_USER=bob"}, NULL, "a variable given twice"},
    {{"ORG_ID=7", "ORG_ID=8", "REMOTE_USER=alice"}, NULL, "not passed over for a later source"},
};

static struct params params_of_entries(const char *const entries[4])
{
	struct params params = {.entries = entries, .count = 0};
	while (params.count < 4 && entries[params.count] != NULL)
		params.count++;
	return params;
}

START_TEST(a_tenant_is_named_by_the_first_source_present)
{
	struct route route = route_with(sources, 3, TENANT_REFUSE);
	struct params params = params_of_entries(requests[_i].entries);
	struct buffer tenant = {.limit = 0};
	buffer_append_text(&tenant, "left over");
	struct error why = {.kind = ERROR_NONE};
	enum tenant_result result = tenant_read(&route, &params, &tenant, &why);
	ck_assert_msg(result == (requests[_i].tenant != NULL ? TENANT_FOUND : TENANT_MISSING), "%s",
		      requests[_i].why);
	ck_assert_msg(strcmp(buffer_text(&tenant),
			     requests[_i].tenant != NULL ? requests[_i].tenant : "") == 0,
		      "%s: %s", requests[_i].why, buffer_text(&tenant));
	if (result == TENANT_MISSING)
		ck_assert_int_eq(why.kind, ERROR_INPUT);
	buffer_free(&tenant);
}
END_TEST

START_TEST(where_tenants_are_optional_nobody_is_the_empty_tenant)
{
	struct route route = route_with(sources, 3, TENANT_ANONYMOUS);
	struct params params = params_of_entries((const char *[4]){"HTTP_OTHER=x", "REMOTE_USER="});
	struct buffer tenant = {.limit = 0};
	buffer_append_text(&tenant, "left over");
	struct error why;
	ck_assert_int_eq(tenant_read(&route, &params, &tenant, &why), TENANT_FOUND);
	ck_assert_uint_eq(tenant.length, 0);
	buffer_free(&tenant);
}
END_TEST

START_TEST(two_credentials_are_refused_also_where_tenants_are_optional)
{
	struct route route = route_with(sources, 3, TENANT_ANONYMOUS);
	struct params params =
	    params_of_entries((const char *[4]){"HTTP_APIKEY=mine", "HTTP_APIKEY=yours"});
	struct buffer tenant = {.limit = 0};
	struct error why;
	ck_assert_int_eq(tenant_read(&route, &params, &tenant, &why), TENANT_MISSING);
	ck_assert_str_eq(why.message, "header ApiKey is given more than once");
	buffer_free(&tenant);
}
END_TEST

START_TEST(a_literal_is_the_tenant_when_nothing_before_it_is)
{
	struct route route = route_with(literal, 2, TENANT_REFUSE);
	struct params params = params_of_entries((const char *[4]){"HTTP_OTHER=x"});
	struct buffer tenant = {.limit = 0};
	struct error why;
	ck_assert_int_eq(tenant_read(&route, &params, &tenant, &why), TENANT_FOUND);
	ck_assert_str_eq(buffer_text(&tenant), "shop");
	params = params_of_entries((const char *[4]){"REMOTE_USER=alice"});
	ck_assert_int_eq(tenant_read(&route, &params, &tenant, &why), TENANT_FOUND);
	ck_assert_str_eq(buffer_text(&tenant), "alice");
	buffer_free(&tenant);
}
END_TEST

START_TEST(a_refusal_says_where_the_tenant_was_looked_for)
{
	struct route route = route_with(sources, 3, TENANT_REFUSE);
	struct params params = params_of_entries((const char *[4]){NULL});
	struct buffer tenant = {.limit = 0};
	struct error why;
	ck_assert_int_eq(tenant_read(&route, &params, &tenant, &why), TENANT_MISSING);
	ck_assert_str_eq(why.message,
			 "the request names no tenant, looked for in env ORG_ID and env "
			 "REMOTE_USER and header ApiKey");
	route.tenant_sources.count = 0;
	ck_assert_int_eq(tenant_read(&route, &params, &tenant, &why), TENANT_MISSING);
	ck_assert_str_eq(why.message, "the request names no tenant");
	buffer_free(&tenant);
}
END_TEST

START_TEST(a_secret_is_in_neither_tenant_nor_message)
{
	struct route route = route_with(sources, 3, TENANT_REFUSE);
	struct buffer tenant = {.limit = 0};
	struct error why = {.message = ""};
	struct params params = params_of_entries((const char *[4]){"HTTP_APIKEY=s3cr3t"});
	ck_assert_int_eq(tenant_read(&route, &params, &tenant, &why), TENANT_FOUND);
	ck_assert_ptr_null(strstr(buffer_text(&tenant), "s3cr3t"));
	params = params_of_entries((const char *[4]){"HTTP_APIKEY=s3cr3t", "HTTP_APIKEY=s3cr3t"});
	ck_assert_int_eq(tenant_read(&route, &params, &tenant, &why), TENANT_MISSING);
	ck_assert_ptr_null(strstr(why.message, "s3cr3t"));
	buffer_free(&tenant);
}
END_TEST

static const size_t name_lengths[] = {254, 255, 256, 5000};

START_TEST(a_name_too_long_for_the_column_becomes_a_digest)
{
	struct route route = route_with(sources, 3, TENANT_REFUSE);
	size_t length = name_lengths[_i];
	char entry[6000] = "REMOTE_USER=";
	char *name = entry + strlen(entry);
	memset(name, 'a', length);
	name[length] = '\0';
	struct params params = params_of_entries((const char *[4]){entry});
	struct buffer tenant = {.limit = 0};
	struct error why;
	ck_assert_int_eq(tenant_read(&route, &params, &tenant, &why), TENANT_FOUND);
	ck_assert_uint_le(tenant.length, TENANT_MAX_LENGTH);
	if (length <= TENANT_MAX_LENGTH)
		ck_assert_str_eq(buffer_text(&tenant), name);
	else
		ck_assert_int_eq(strncmp(buffer_text(&tenant), "env:REMOTE_USER=", 16), 0);
	buffer_free(&tenant);
}
END_TEST

START_TEST(a_tenant_that_its_buffer_cannot_hold_is_not_taken_in_part)
{
	struct route route = route_with(sources, 3, TENANT_ANONYMOUS);
	struct params params = params_of_entries((const char *[4]){"REMOTE_USER=alice"});
	struct buffer tenant = {.limit = 3};
	struct error why;
	ck_assert_int_eq(tenant_read(&route, &params, &tenant, &why), TENANT_MISSING);
	ck_assert_int_eq(why.kind, ERROR_MEMORY);
	ck_assert_uint_eq(tenant.length, 0);
	buffer_free(&tenant);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("tenant");
	TCase *cases = tcase_create("tenant");
	tcase_add_loop_test(cases, a_tenant_is_named_by_the_first_source_present, 0,
			    COUNT(requests));
	tcase_add_test(cases, where_tenants_are_optional_nobody_is_the_empty_tenant);
	tcase_add_test(cases, two_credentials_are_refused_also_where_tenants_are_optional);
	tcase_add_test(cases, a_literal_is_the_tenant_when_nothing_before_it_is);
	tcase_add_test(cases, a_refusal_says_where_the_tenant_was_looked_for);
	tcase_add_test(cases, a_secret_is_in_neither_tenant_nor_message);
	tcase_add_loop_test(cases, a_name_too_long_for_the_column_becomes_a_digest, 0,
			    COUNT(name_lengths));
	tcase_add_test(cases, a_tenant_that_its_buffer_cannot_hold_is_not_taken_in_part);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
