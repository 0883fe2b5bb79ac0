/* SPDX-License-Identifier: ISC */
/* TLS to the database: verified, or none at all; started by tests/store/tls, which makes the
 * servers. */
#include <config.h>

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/store/database.h"
#include "tests/store/renew.h"
#include "tests/unit/suite.h"

static char secure[] = "secure", plain[] = "plain", localhost[] = "localhost",
	    address[] = "127.0.0.1", none[] = "", name[] = "oncewrap", group[] = "oncewrap";

static struct config_store config;
static struct store *store;
static struct store_claim claim;
static char authority[256];

/* Encrypted, verified, as an account that must be. */
static void set_up(void)
{
	config = (struct config_store){
	    .socket = none,
	    .host = localhost,
	    .port = strtol(getenv("TLS_PORT"), NULL, 10),
	    .database = name,
	    .user = secure,
	    .option_file = getenv("STORE_OPTION_FILE"),
	    .option_group = group,
	    .tls = CONFIG_TLS_VERIFY,
	    .tls_ca = authority,
	    .connect_timeout = 10000,
	    .read_timeout = 20000,
	};
	snprintf(authority, sizeof(authority), "%s/ours.pem", getenv("TLS_KEYS"));
	store = store_new(&config);
	ck_assert_ptr_nonnull(store);
	claim = claim_new();
}

static void tear_down(void)
{
	store_free(store);
}

START_TEST(a_server_with_a_certificate_of_the_named_authority_is_used_encrypted)
{
	claim_first(store, &claim);
	settle_with(store, &claim, 201, "made");
}
END_TEST

START_TEST(large_answers_and_renewals_go_through_tls)
{
	struct renewal *renewal = renewal_new(store);
	struct record record;
	char *body = malloc((4 << 20) + 1);
	ck_assert(renewal != NULL && body != NULL);
	memset(body, 'x', 4 << 20);
	body[4 << 20] = '\0';
	claim_first(store, &claim);
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_HELD);
	settle_with(store, &claim, 200, body);
	record_init(&record);
	expect(store_read(store, claim.id, &record, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	ck_assert_uint_eq(record.body.length, 4 << 20);
	record_free(&record);
	free(body);
	renewal_free(renewal);
}
END_TEST

static void check_refused(const char *message)
{
	struct error *error = test_error();
	expect(store_connect(store, clock_now() + PATIENCE, error), STORE_DOWN);
	ck_assert_msg(strstr(error->message, message) != NULL, "%s", error->message);
}

START_TEST(a_certificate_of_another_authority_is_refused)
{
	snprintf(authority, sizeof(authority), "%s/others.pem", getenv("TLS_KEYS"));
	check_refused("store.tls_ca");
}
END_TEST

START_TEST(without_a_named_authority_the_systems_are_trusted_and_no_other)
{
	authority[0] = '\0';
	check_refused("store.tls_ca");
}
END_TEST

START_TEST(a_missing_file_of_authorities_is_refused)
{
	snprintf(authority, sizeof(authority), "/nonexistent/ca.pem");
	check_refused("store.tls_ca");
}
END_TEST

START_TEST(a_certificate_of_another_name_is_refused)
{
	config.host = address;
	check_refused("store.tls_ca");
}
END_TEST

/* Never plain text where TLS was asked for. */
START_TEST(a_server_without_tls_is_refused)
{
	config.user = plain;
	config.port = strtol(getenv("TLS_PLAIN_PORT"), NULL, 10);
	check_refused("store.tls");
	config.tls = CONFIG_TLS_OFF; /* it was that alone */
	expect(store_connect(store, clock_now() + PATIENCE, test_error()), STORE_DONE);
}
END_TEST

START_TEST(without_tls_an_account_that_needs_it_is_refused)
{
	config.tls = CONFIG_TLS_OFF;
	check_refused("(1045)");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tls");
	TCase *tests = tcase_create("tls");
	tcase_set_timeout(tests, 300);
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, a_server_with_a_certificate_of_the_named_authority_is_used_encrypted);
	tcase_add_test(tests, large_answers_and_renewals_go_through_tls);
	tcase_add_test(tests, a_certificate_of_another_authority_is_refused);
	tcase_add_test(tests, without_a_named_authority_the_systems_are_trusted_and_no_other);
	tcase_add_test(tests, a_missing_file_of_authorities_is_refused);
	tcase_add_test(tests, a_certificate_of_another_name_is_refused);
	tcase_add_test(tests, a_server_without_tls_is_refused);
	tcase_add_test(tests, without_tls_an_account_that_needs_it_is_refused);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
