/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "tests/store/themes.h"

#include "base/clock.h"
#include "store/renewal.h"
#include "tests/lib/proxy.h"
#include "tests/store/database.h"
#include "tests/store/renew.h"

#include <stdlib.h>

static struct config_store config;
static struct store *store;
static struct renewal *renewal;
static struct store_claim claim;

static void set_up(void)
{
	config = database_config();
	store = store_new(&config);
	ck_assert_ptr_nonnull(store);
	renewal = renewal_new(store);
	ck_assert_ptr_nonnull(renewal);
	claim = claim_new();
	claim_first(store, &claim);
}

static void tear_down(void)
{
	renewal_free(renewal);
	store_free(store);
	database_leave();
}

static int64_t leases(void)
{
	return database_number("SELECT COUNT(*) FROM once_lease WHERE token = x'%s'",
			       hex(claim.token, TOKEN_LENGTH));
}

/* Case C3. */
START_TEST(a_renewal_holds_the_lease_for_its_length)
{
	ck_assert_int_eq(renew(renewal, &claim, 5000), RENEWAL_HELD);
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_HELD);
	int64_t left = database_number("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), lease_until)"
				       " FROM once_lease WHERE token = x'%s'",
				       hex(claim.token, TOKEN_LENGTH));
	ck_assert_int_ge(left, 3500);
	ck_assert_int_le(left, 3600);
}
END_TEST

START_TEST(a_renewal_leaves_the_records_own_row_alone)
{
	database_run("BEGIN");
	database_run("UPDATE once_record SET checkpoint_seq = 1 WHERE %s", where(&claim));
	int64_t begin = clock_now();
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_HELD);
	ck_assert_int_lt(clock_now() - begin, config.read_timeout / 4);
	database_run("ROLLBACK");
}
END_TEST

START_TEST(a_closed_lease_cannot_be_renewed)
{
	expect(store_close_lease(store, claim.token, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_LOST);
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_LOST);
}
END_TEST

START_TEST(a_renewal_that_has_run_out_can_be_renewed_as_long_as_nobody_closes_it)
{
	ck_assert_int_eq(renew(renewal, &claim, 1), RENEWAL_HELD);
	while (database_number("SELECT lease_until > UTC_TIMESTAMP(6) FROM once_lease"
			       " WHERE token = x'%s'",
			       hex(claim.token, TOKEN_LENGTH)) != 0)
		;
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_HELD);
	expect(store_close_lease(store, claim.token, clock_now() + PATIENCE, test_error()),
	       STORE_NO_ROW);
}
END_TEST

static void settle_done(void)
{
	settle_with(store, &claim, 200, "");
}

static void release(void)
{
	expect(store_release(store, claim.id, claim.token, NULL, false, clock_now() + PATIENCE,
			     test_error()),
	       STORE_DONE);
}

static void mark_unknown(void)
{
	expect(
	    store_mark_unknown(store, claim.id, claim.token, clock_now() + PATIENCE, test_error()),
	    STORE_DONE);
}

static void (*const settlements[])(void) = {settle_done, release, mark_unknown};

START_TEST(a_settlement_takes_its_claims_lease_away)
{
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_HELD);
	ck_assert_int_eq(leases(), 1);
	settlements[_i]();
	ck_assert_int_eq(leases(), 0);
}
END_TEST

START_TEST(a_lost_settlement_leaves_the_closed_lease)
{
	struct store_claim taker = claim_again(&claim);
	uint32_t attempt;
	ck_assert_int_eq(renew(renewal, &claim, 1), RENEWAL_HELD);
	database_run("UPDATE once_record SET lease_until = created_at WHERE %s", where(&claim));
	while (store_close_lease(store, claim.token, clock_now() + PATIENCE, test_error()) !=
	       STORE_DONE)
		;
	expect(store_take_over(store, &taker, claim.token, &attempt, clock_now() + PATIENCE,
			       test_error()),
	       STORE_DONE);
	expect(store_release(store, claim.id, claim.token, NULL, false, clock_now() + PATIENCE,
			     test_error()),
	       STORE_NO_ROW);
	ck_assert_int_eq(leases(), 1);
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_LOST);
}
END_TEST

/* The taker's statement holds the row of once_lease for a moment: 1205 is waited out. */
START_TEST(a_renewal_meets_a_locked_lease_and_tries_again)
{
	struct error error;
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_HELD);
	database_run("BEGIN");
	database_run("SELECT * FROM once_lease WHERE token = x'%s' FOR UPDATE",
		     hex(claim.token, TOKEN_LENGTH));
	enum renewal_state state = renewal_start(renewal, claim.token, 3600000, &error);
	/* until it pauses: then it waits for time alone */
	for (;;) {
		struct pollfd fd;
		int wait = -1;
		ck_assert_int_eq(state, RENEWAL_PENDING);
		renewal_poll(renewal, &fd, &wait);
		if (fd.fd < 0)
			break;
		int ready = poll(&fd, 1, wait);
		state = renewal_step(renewal, ready > 0 ? fd.revents : 0, &error);
	}
	database_run("COMMIT");
	ck_assert_int_eq(renew_on(renewal, state), RENEWAL_HELD);
}
END_TEST

START_TEST(a_lease_that_stays_locked_fails_the_renewal_without_blocking)
{
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_HELD);
	database_run("BEGIN");
	database_run("SELECT * FROM once_lease WHERE token = x'%s' FOR UPDATE",
		     hex(claim.token, TOKEN_LENGTH));
	int64_t begin = clock_now();
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_FAILED);
	ck_assert_int_lt(clock_now() - begin, config.read_timeout / 4);
	database_run("COMMIT");
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_HELD);
}
END_TEST

START_TEST(a_renewal_over_a_dead_connection_connects_anew)
{
	database_run("KILL USER oncewrap");
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_HELD);
	settle_with(store, &claim, 200, "");
	ck_assert_int_eq(leases(), 0);
}
END_TEST

START_TEST(a_silent_server_does_not_block_a_renewal)
{
	struct error error;
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_HELD);
	config.read_timeout = 300;
	database_server("freeze");
	int64_t begin = clock_now();
	enum renewal_state state = renewal_start(renewal, claim.token, 3600000, &error);
	int64_t started = clock_now() - begin;
	struct pollfd fd;
	int wait = -1;
	renewal_poll(renewal, &fd, &wait);
	enum renewal_state early = renewal_step(renewal, 0, &error); /* something else woke us */
	enum renewal_state late = renew_on(renewal, early);
	int64_t failed = clock_now() - begin;
	database_server("thaw");
	ck_assert_int_eq(state, RENEWAL_PENDING);
	ck_assert_int_eq(early, RENEWAL_PENDING);
	ck_assert_int_lt(started, 200);
	ck_assert_int_gt(wait, 0);
	ck_assert_int_le(wait, 300);
	ck_assert_int_eq(late, RENEWAL_FAILED);
	ck_assert_int_ge(failed, 300);
	config.read_timeout = 20000;
	ck_assert_int_eq(renew(renewal, &claim, 3600000), RENEWAL_HELD);
}
END_TEST

START_TEST(a_cancelled_renewal_gives_the_store_back)
{
	struct error error;
	database_run("BEGIN");
	database_run("INSERT INTO once_lease VALUES (x'%s', UTC_TIMESTAMP(6))",
		     hex(claim.token, TOKEN_LENGTH));
	ck_assert_int_eq(renewal_start(renewal, claim.token, 3600000, &error), RENEWAL_PENDING);
	renewal_cancel(renewal);
	renewal_cancel(renewal);
	database_run("ROLLBACK");
	settle_with(store, &claim, 200, "made");
}
END_TEST

START_TEST(a_renewal_makes_the_first_connection_too)
{
	struct store *other = store_new(&config);
	struct renewal *first = renewal_new(other);
	ck_assert_int_eq(renew(first, &claim, 3600000), RENEWAL_HELD);
	renewal_free(first);
	store_free(other);
}
END_TEST

/* Rule 2 for the one statement that store.h does not issue itself. */
START_TEST(a_renewal_whose_reply_is_lost_is_issued_again)
{
	struct proxy proxy;
	proxy_start(&proxy, getenv("STORE_SCRATCH"), config.socket);
	config.socket = proxy.socket;
	struct store *behind = store_new(&config);
	struct renewal *shaky = renewal_new(behind);
	ck_assert_int_eq(renew(shaky, &claim, 60000), RENEWAL_HELD);
	for (enum proxy_harm harm = PROXY_LOSE_REQUEST; harm <= PROXY_LOSE_END; harm++) {
		proxy_harm(&proxy, harm, 0);
		ck_assert_int_eq(renew(shaky, &claim, 3600000), RENEWAL_HELD);
		ck_assert(!proxy_is_armed(&proxy));
	}
	/* Rule 1: not held because a row says so, while the result's end says no. */
	proxy_harm(&proxy, PROXY_FAIL_END, 1290);
	ck_assert_int_eq(renew(shaky, &claim, 3600000), RENEWAL_FAILED);
	ck_assert_int_eq(renew(shaky, &claim, 3600000), RENEWAL_HELD);
	renewal_free(shaky);
	store_free(behind);
	proxy_stop(&proxy);
}
END_TEST

TCase *renewal_tests(void)
{
	TCase *tests = tcase_create("renewal");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, a_renewal_holds_the_lease_for_its_length);
	tcase_add_test(tests, a_renewal_leaves_the_records_own_row_alone);
	tcase_add_test(tests, a_closed_lease_cannot_be_renewed);
	tcase_add_test(tests,
		       a_renewal_that_has_run_out_can_be_renewed_as_long_as_nobody_closes_it);
	tcase_add_loop_test(tests, a_settlement_takes_its_claims_lease_away, 0,
			    (int)(sizeof(settlements) / sizeof(settlements[0])));
	tcase_add_test(tests, a_lost_settlement_leaves_the_closed_lease);
	tcase_add_test(tests, a_renewal_meets_a_locked_lease_and_tries_again);
	tcase_add_test(tests, a_lease_that_stays_locked_fails_the_renewal_without_blocking);
	tcase_add_test(tests, a_renewal_over_a_dead_connection_connects_anew);
	tcase_add_test(tests, a_silent_server_does_not_block_a_renewal);
	tcase_add_test(tests, a_cancelled_renewal_gives_the_store_back);
	tcase_add_test(tests, a_renewal_makes_the_first_connection_too);
	tcase_add_test(tests, a_renewal_whose_reply_is_lost_is_issued_again);
	return tests;
}
