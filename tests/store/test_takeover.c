/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "tests/store/themes.h"

#include "base/clock.h"
#include "tests/store/database.h"

static struct config_store config;
static struct store *store;
static struct record record;
static struct store_claim owner, taker;
static uint32_t attempt;

/* An owner whose first lease is over, and one who would take over. */
static void set_up(void)
{
	config = database_config();
	store = store_new(&config);
	ck_assert_ptr_nonnull(store);
	record_init(&record);
	owner = claim_new();
	claim_lapsed(store, &owner);
	taker = claim_again(&owner);
	taker.lease = 600000;
	attempt = 0;
}

static void tear_down(void)
{
	record_free(&record);
	store_free(store);
	database_leave();
}

static enum store_result close_now(void)
{
	return store_close_lease(store, owner.token, clock_now() + PATIENCE, test_error());
}

static enum store_result take_over_now(void)
{
	return store_take_over(store, &taker, owner.token, &attempt, clock_now() + PATIENCE,
			       test_error());
}

static enum store_result lapse_now(void)
{
	return store_lapse(store, owner.id, owner.token, clock_now() + PATIENCE, test_error());
}

static void read_now(void)
{
	expect(store_read(store, owner.id, &record, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
}

/* Case C6. */
START_TEST(a_lapsed_record_is_taken_over_once_its_lease_is_closed)
{
	expect(close_now(), STORE_DONE);
	expect(take_over_now(), STORE_DONE);
	ck_assert_uint_eq(attempt, 2);
	read_now();
	ck_assert(is_mine(&record, &taker));
	ck_assert_int_eq(record.state, RECORD_IN_FLIGHT);
	ck_assert_uint_eq(record.attempt, 2);
	ck_assert(!record.lapsed);
}
END_TEST

START_TEST(without_closing_the_lease_nobody_takes_over)
{
	expect(take_over_now(), STORE_NO_ROW);
	expect(lapse_now(), STORE_NO_ROW);
	read_now();
	ck_assert(is_mine(&record, &owner));
}
END_TEST

START_TEST(a_lease_that_is_renewed_cannot_be_closed)
{
	database_run("INSERT INTO once_lease VALUES (x'%s', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)",
		     hex(owner.token, TOKEN_LENGTH));
	expect(close_now(), STORE_NO_ROW);
	expect(take_over_now(), STORE_NO_ROW);
}
END_TEST

START_TEST(a_renewal_that_has_run_out_can_be_closed)
{
	database_run("INSERT INTO once_lease VALUES (x'%s', UTC_TIMESTAMP(6))",
		     hex(owner.token, TOKEN_LENGTH));
	expect(close_now(), STORE_DONE);
	expect(close_now(), STORE_DONE); /* by a second taker */
	expect(take_over_now(), STORE_DONE);
}
END_TEST

/* Closing looks at renewals only; that the first lease runs is in the takeover's own condition. */
START_TEST(a_first_lease_that_runs_is_not_taken_over_even_if_it_was_closed)
{
	database_run(
	    "UPDATE once_record SET lease_until = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR WHERE %s",
	    where(&owner));
	expect(close_now(), STORE_DONE);
	expect(take_over_now(), STORE_NO_ROW);
	expect(lapse_now(), STORE_NO_ROW);
}
END_TEST

START_TEST(what_a_lapse_means_stands_in_the_record_and_is_its_owners)
{
	read_now();
	ck_assert_uint_eq(record.flags & RECORD_LAPSE_UNKNOWN, 0);
	taker.lapse_unknown = true;
	expect(close_now(), STORE_DONE);
	expect(take_over_now(), STORE_DONE);
	read_now();
	ck_assert_uint_eq(record.flags & RECORD_LAPSE_UNKNOWN, RECORD_LAPSE_UNKNOWN);
}
END_TEST

/* Case C4. */
START_TEST(an_owner_that_was_taken_over_changes_nothing_any_more)
{
	struct store_answer answer = {.status = 200, .headers = "", .body = "", .retention = 1000};
	expect(close_now(), STORE_DONE);
	expect(take_over_now(), STORE_DONE);
	expect(store_settle(store, owner.id, owner.token, &answer, clock_now() + PATIENCE,
			    test_error()),
	       STORE_NO_ROW);
	expect(store_release(store, owner.id, owner.token, NULL, false, clock_now() + PATIENCE,
			     test_error()),
	       STORE_NO_ROW);
	expect(
	    store_mark_unknown(store, owner.id, owner.token, clock_now() + PATIENCE, test_error()),
	    STORE_NO_ROW);
	read_now();
	ck_assert(is_mine(&record, &taker));
	ck_assert_int_eq(record.state, RECORD_IN_FLIGHT);
	settle_with(store, &taker, 201, "the successor's");
}
END_TEST

START_TEST(an_owner_whose_lease_was_closed_may_still_settle_before_the_takeover)
{
	expect(close_now(), STORE_DONE);
	settle_with(store, &owner, 201, "late and in time");
	expect(take_over_now(), STORE_NO_ROW);
	read_now();
	ck_assert_int_eq(record.state, RECORD_COMPLETE);
}
END_TEST

/* Case C57. */
START_TEST(a_takeover_near_expiry_is_kept_for_a_whole_retention)
{
	database_run("UPDATE once_record SET expires_at = UTC_TIMESTAMP(6) WHERE %s",
		     where(&owner));
	taker.retention = 3600000;
	expect(close_now(), STORE_DONE);
	expect(take_over_now(), STORE_DONE);
	ck_assert_int_ge(
	    database_number("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), expires_at)"
			    " FROM once_record WHERE %s",
			    where(&owner)),
	    3500);
}
END_TEST

START_TEST(a_takeover_does_not_shorten_what_is_kept)
{
	taker.retention = 1000;
	expect(close_now(), STORE_DONE);
	expect(take_over_now(), STORE_DONE);
	ck_assert_int_ge(
	    database_number("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), expires_at)"
			    " FROM once_record WHERE %s",
			    where(&owner)),
	    86000);
}
END_TEST

START_TEST(a_takeover_keeps_the_checkpoint_and_names_the_new_owner)
{
	struct store_owner other = *owner.owner;
	other.pid = 4711;
	taker.owner = &other;
	database_run("UPDATE once_record SET checkpoint = 'half', checkpoint_data = 'd',"
		     " checkpoint_seq = 3 WHERE %s",
		     where(&owner));
	expect(close_now(), STORE_DONE);
	expect(take_over_now(), STORE_DONE);
	ck_assert_str_eq(database_text("SELECT CONCAT(checkpoint, checkpoint_data, checkpoint_seq,"
				       " owner_pid) FROM once_record WHERE %s",
				       where(&owner)),
			 "halfd34711");
}
END_TEST

START_TEST(a_released_record_is_taken_over_at_once)
{
	database_run("UPDATE once_record SET state = 'released', attempt = 4, checkpoint = 'half',"
		     " settled_at = UTC_TIMESTAMP(6), expires_at = created_at WHERE %s",
		     where(&owner));
	expect(take_over_now(), STORE_DONE);
	ck_assert_uint_eq(attempt, 5);
	read_now();
	ck_assert_int_eq(record.state, RECORD_IN_FLIGHT);
	ck_assert_int_eq(record.settled_ms, 0);
	ck_assert(!record.expired);
}
END_TEST

static const char *const not_taken[] = {
    "state = 'complete', status = 200, settled_at = created_at",
    "state = 'unknown'",
    "state = 'expired'",
};

START_TEST(no_other_state_is_taken_over)
{
	database_run("UPDATE once_record SET %s WHERE %s", not_taken[_i], where(&owner));
	expect(close_now(), STORE_DONE);
	expect(take_over_now(), STORE_NO_ROW);
	expect(lapse_now(), STORE_NO_ROW);
}
END_TEST

START_TEST(a_reader_marks_a_lapsed_record_unknown_and_its_token_stays)
{
	expect(close_now(), STORE_DONE);
	expect(lapse_now(), STORE_DONE);
	read_now();
	ck_assert_int_eq(record.state, RECORD_UNKNOWN);
	ck_assert(is_mine(&record, &owner));
	ck_assert_int_gt(record.settled_ms, 0);
	expect(take_over_now(), STORE_NO_ROW);
	settle_with(store, &owner, 201, "the owner's late answer");
	read_now();
	ck_assert_int_eq(record.state, RECORD_COMPLETE);
}
END_TEST

START_TEST(a_takeover_of_a_locked_row_is_busy_at_once)
{
	expect(close_now(), STORE_DONE);
	database_run("BEGIN");
	database_run("SELECT * FROM once_record WHERE %s FOR UPDATE", where(&owner));
	int64_t begin = clock_now();
	expect(take_over_now(), STORE_BUSY);
	ck_assert_int_lt(clock_now() - begin, config.read_timeout / 4);
	database_run("ROLLBACK");
	expect(take_over_now(), STORE_DONE);
}
END_TEST

TCase *takeover_tests(void)
{
	TCase *tests = tcase_create("takeover");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, a_lapsed_record_is_taken_over_once_its_lease_is_closed);
	tcase_add_test(tests, without_closing_the_lease_nobody_takes_over);
	tcase_add_test(tests, a_lease_that_is_renewed_cannot_be_closed);
	tcase_add_test(tests, a_renewal_that_has_run_out_can_be_closed);
	tcase_add_test(tests, a_first_lease_that_runs_is_not_taken_over_even_if_it_was_closed);
	tcase_add_test(tests, what_a_lapse_means_stands_in_the_record_and_is_its_owners);
	tcase_add_test(tests, an_owner_that_was_taken_over_changes_nothing_any_more);
	tcase_add_test(tests, an_owner_whose_lease_was_closed_may_still_settle_before_the_takeover);
	tcase_add_test(tests, a_takeover_near_expiry_is_kept_for_a_whole_retention);
	tcase_add_test(tests, a_takeover_does_not_shorten_what_is_kept);
	tcase_add_test(tests, a_takeover_keeps_the_checkpoint_and_names_the_new_owner);
	tcase_add_test(tests, a_released_record_is_taken_over_at_once);
	tcase_add_loop_test(tests, no_other_state_is_taken_over, 0,
			    (int)(sizeof(not_taken) / sizeof(not_taken[0])));
	tcase_add_test(tests, a_reader_marks_a_lapsed_record_unknown_and_its_token_stays);
	tcase_add_test(tests, a_takeover_of_a_locked_row_is_busy_at_once);
	return tests;
}
