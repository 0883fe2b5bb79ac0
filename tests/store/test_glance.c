/* SPDX-License-Identifier: ISC */
/* What a waiter sees of a record (docs/design.md section 8). */
#include <config.h>

#include "tests/store/themes.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tests/store/database.h"

static struct config_store config;
static struct store *store;
static struct store_claim claim;
static struct store_glance glance;

static void set_up(void)
{
	config = database_config();
	store = store_new(&config);
	ck_assert_ptr_nonnull(store);
	claim = claim_new();
}

static void tear_down(void)
{
	store_free(store);
	database_leave();
}

static enum store_result glance_as(const struct store_owner *owner)
{
	return store_glance(store, claim.id, owner, &glance, clock_now() + PATIENCE, test_error());
}

START_TEST(a_glance_tells_token_and_state)
{
	expect(glance_as(claim.owner), STORE_NO_ROW);
	claim_first(store, &claim);
	expect(glance_as(claim.owner), STORE_DONE);
	ck_assert_mem_eq(glance.token, claim.token, TOKEN_LENGTH);
	ck_assert_int_eq(glance.state, RECORD_IN_FLIGHT);
	ck_assert(!glance.lapsed);
	settle_with(store, &claim, 200, "made");
	expect(glance_as(claim.owner), STORE_DONE);
	ck_assert_int_eq(glance.state, RECORD_COMPLETE);
	ck_assert(!glance.lapsed);
}
END_TEST

/* NULL: no row in once_lease. */
static const struct {
	const char *first, *renewed;
	bool lapsed;
	const char *why;
} leases[] = {
    {"UTC_TIMESTAMP(6) + INTERVAL 1 HOUR", NULL, false, "the first lease runs"},
    {"UTC_TIMESTAMP(6)", NULL, true, "over, and never renewed"},
    {"UTC_TIMESTAMP(6)", "UTC_TIMESTAMP(6) + INTERVAL 1 HOUR", false, "its owner lives"},
    {"UTC_TIMESTAMP(6)", "UTC_TIMESTAMP(6)", true, "the renewal is over as well"},
    {"UTC_TIMESTAMP(6)", "'1970-01-01'", true, "closed"},
    {"UTC_TIMESTAMP(6) + INTERVAL 1 HOUR", "'1970-01-01'", false, "closed, and the first runs"},
};

START_TEST(a_record_has_lapsed_when_first_lease_and_renewal_are_over)
{
	claim_first(store, &claim);
	database_run("UPDATE once_record SET lease_until = %s WHERE %s", leases[_i].first,
		     where(&claim));
	if (leases[_i].renewed != NULL)
		database_run("INSERT INTO once_lease VALUES (x'%s', %s)",
			     hex(claim.token, TOKEN_LENGTH), leases[_i].renewed);
	expect(glance_as(claim.owner), STORE_DONE);
	ck_assert_msg(glance.lapsed == leases[_i].lapsed, "%s", leases[_i].why);
}
END_TEST

START_TEST(an_owner_is_here_when_its_host_and_its_boot_are_ours)
{
	struct store_owner same = *claim.owner, elsewhere = same, earlier = same;
	same.pid = elsewhere.pid = earlier.pid = 4711;
	snprintf(elsewhere.host, sizeof(elsewhere.host), "%.200s.example", same.host);
	snprintf(earlier.boot, sizeof(earlier.boot), "%s", "00000000-0000-0000-0000-000000000000");
	claim_first(store, &claim);
	expect(glance_as(&same), STORE_DONE);
	ck_assert(glance.here);
	expect(glance_as(&elsewhere), STORE_DONE);
	ck_assert(!glance.here);
	expect(glance_as(&earlier), STORE_DONE);
	ck_assert(!glance.here);
}
END_TEST

START_TEST(a_glance_does_not_wait_for_a_row_that_is_locked)
{
	claim_first(store, &claim);
	database_run("BEGIN");
	database_run("UPDATE once_record SET checkpoint_seq = 1 WHERE %s", where(&claim));
	int64_t begin = clock_now();
	expect(glance_as(claim.owner), STORE_DONE);
	ck_assert_int_lt(clock_now() - begin, config.read_timeout / 4);
	database_run("ROLLBACK");
}
END_TEST

TCase *glance_tests(void)
{
	TCase *tests = tcase_create("glance");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, a_glance_tells_token_and_state);
	tcase_add_loop_test(tests, a_record_has_lapsed_when_first_lease_and_renewal_are_over, 0,
			    (int)(sizeof(leases) / sizeof(leases[0])));
	tcase_add_test(tests, an_owner_is_here_when_its_host_and_its_boot_are_ours);
	tcase_add_test(tests, a_glance_does_not_wait_for_a_row_that_is_locked);
	return tests;
}
