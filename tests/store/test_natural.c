/* SPDX-License-Identifier: ISC */
/* Natural keys (docs/design.md section 9). */
#include <config.h>

#include "tests/store/themes.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tests/store/database.h"

static struct config_store config;
static struct store *store;
static struct store_natural natural;
static struct store_natural_holder holder;
static struct store_claim first, second; /* two keys, in flight; the first holds the natural key */

static void set_up(void)
{
	config = database_config();
	store = store_new(&config);
	ck_assert_ptr_nonnull(store);
	natural = natural_new();
	first = claim_new();
	second = claim_new();
	claim_first(store, &first);
	claim_first(store, &second);
	hold_first(store, &first, &natural);
	holder = (struct store_natural_holder){0};
}

static void tear_down(void)
{
	buffer_free(&holder.location);
	store_free(store);
	database_leave();
}

static void hold_by(const struct store_claim *claim)
{
	buffer_free(&holder.location);
	expect(store_hold_natural(store, &natural, claim->id, claim->token, &holder,
				  clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
}

static bool is_held_by(const struct store_claim *claim)
{
	return memcmp(holder.record, claim->id, DIGEST_LENGTH) == 0 &&
	       memcmp(holder.token, claim->token, TOKEN_LENGTH) == 0;
}

static enum store_result take_by(const struct store_claim *claim, const struct store_claim *seen)
{
	return store_take_natural(store, &natural, seen->token, claim->id, claim->token,
				  clock_now() + PATIENCE, test_error());
}

static enum store_result settle_by(const struct store_claim *claim, const char *location)
{
	const struct store_answer answer = {
	    .status = 201,
	    .headers = "",
	    .body = "made",
	    .body_length = 4,
	    .retention = claim->retention,
	    .natural = &natural,
	    .natural_done = true,
	    .location = location,
	    .location_length = location != NULL ? strlen(location) : 0,
	};
	return store_settle(store, claim->id, claim->token, &answer, clock_now() + PATIENCE,
			    test_error());
}

static enum store_result release_by(const struct store_claim *claim)
{
	return store_release(store, claim->id, claim->token, &natural, false,
			     clock_now() + PATIENCE, test_error());
}

static const char *row(void)
{
	static char text[2 * DIGEST_LENGTH + 20];
	snprintf(text, sizeof(text), "natural_id = x'%s'", hex(natural.id, DIGEST_LENGTH));
	return text;
}

static int64_t rows(void)
{
	return database_number("SELECT COUNT(*) FROM once_natural_key WHERE %s", row());
}

static void end_window(void)
{
	database_run("UPDATE once_natural_key SET window_until = UTC_TIMESTAMP(6) WHERE %s", row());
}

/* A takeover of the first claim by another request with its key. */
static struct store_claim taken_over(void)
{
	struct store_claim taker = claim_again(&first);
	uint32_t attempt;
	database_run("UPDATE once_record SET lease_until = UTC_TIMESTAMP(6) WHERE %s",
		     where(&first));
	expect(store_close_lease(store, first.token, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	expect(store_take_over(store, &taker, first.token, &attempt, clock_now() + PATIENCE,
			       test_error()),
	       STORE_DONE);
	return taker;
}

START_TEST(a_second_key_is_shown_who_holds_the_natural_key_and_changes_nothing)
{
	hold_by(&second);
	ck_assert(is_held_by(&first));
	ck_assert(!holder.over);
	ck_assert_int_eq(holder.settled_ms, 0);
	ck_assert_uint_eq(holder.location.length, 0);
	hold_by(&first);
	ck_assert(is_held_by(&first));
}
END_TEST

START_TEST(another_natural_key_is_held_beside_it)
{
	natural = natural_new();
	hold_by(&second);
	ck_assert(is_held_by(&second));
}
END_TEST

static const struct {
	int64_t window; /* ms */
	const char *end;
} windows[] = {
    {3600000, "window_until BETWEEN UTC_TIMESTAMP(6) + INTERVAL 50 MINUTE"
	      " AND UTC_TIMESTAMP(6) + INTERVAL 1 HOUR"},
    {INT64_C(100) * 365 * 24 * 3600000, "window_until > UTC_TIMESTAMP(6) + INTERVAL 99 YEAR"
					" AND window_until < UTC_TIMESTAMP(6) + INTERVAL 100 YEAR"},
    {WINDOW_FOR_EVER, "window_until = '9999-12-31'"},
    {WINDOW_FOR_EVER / 2, "window_until = '9999-12-31'"},
};

START_TEST(a_window_may_be_for_ever)
{
	natural = natural_new();
	natural.window = windows[_i].window;
	hold_by(&second);
	ck_assert(!holder.over);
	ck_assert_int_eq(
	    database_number("SELECT %s FROM once_natural_key WHERE %s", windows[_i].end, row()), 1);
	end_window();
	expect(take_by(&first, &second), STORE_DONE);
	ck_assert_int_eq(
	    database_number("SELECT %s FROM once_natural_key WHERE %s", windows[_i].end, row()), 1);
}
END_TEST

START_TEST(a_settlement_writes_time_and_location_of_both_in_one)
{
	expect(settle_by(&first, "/orders/7"), STORE_DONE);
	hold_by(&second);
	ck_assert(is_held_by(&first));
	ck_assert_uint_eq(holder.location.length, 9);
	ck_assert_mem_eq(holder.location.data, "/orders/7", 9);
	ck_assert_int_eq(
	    database_number("SELECT COUNT(*) FROM once_record JOIN once_natural_key"
			    " ON record_id = id WHERE %s AND state = 'complete' AND body = 'made'"
			    " AND once_record.settled_at = once_natural_key.settled_at"
			    " AND TIMESTAMPDIFF(MICROSECOND, '1970-01-01', once_record.settled_at)"
			    " DIV 1000 = %lld",
			    row(), (long long)holder.settled_ms),
	    1);
}
END_TEST

START_TEST(an_answer_that_says_no_frees_its_natural_key)
{
	const struct store_answer no = {.status = 422,
					.headers = "",
					.body = "no",
					.body_length = 2,
					.retention = first.retention,
					.natural = &natural,
					.natural_done = false};
	expect(
	    store_settle(store, first.id, first.token, &no, clock_now() + PATIENCE, test_error()),
	    STORE_DONE);
	ck_assert_str_eq(database_text("SELECT state FROM once_record WHERE %s", where(&first)),
			 "complete");
	hold_by(&second);
	ck_assert(holder.over);
	ck_assert_int_eq(holder.settled_ms, 0);
	expect(take_by(&second, &first), STORE_DONE);
	hold_by(&second);
	ck_assert(is_held_by(&second));
}
END_TEST

START_TEST(a_location_that_does_not_fit_is_left_out_and_stops_nothing)
{
	static char location[STORE_LOCATION_LENGTH + 2];
	memset(location, 'x', STORE_LOCATION_LENGTH + (_i == 1));
	expect(settle_by(&first, location), STORE_DONE);
	hold_by(&second);
	ck_assert_int_ne(holder.settled_ms, 0);
	ck_assert_uint_eq(holder.location.length, _i == 1 ? 0 : STORE_LOCATION_LENGTH);
}
END_TEST

START_TEST(an_answer_without_a_location_is_settled_all_the_same)
{
	expect(settle_by(&first, NULL), STORE_DONE);
	hold_by(&second);
	ck_assert_int_ne(holder.settled_ms, 0);
	ck_assert_uint_eq(holder.location.length, 0);
}
END_TEST

START_TEST(a_natural_key_that_was_lost_does_not_stop_the_settlement)
{
	if (_i == 0)
		database_run("DELETE FROM once_natural_key WHERE %s", row());
	else
		database_run("UPDATE once_natural_key SET token = x'%s', record_id = x'%s'"
			     " WHERE %s",
			     hex(second.token, TOKEN_LENGTH), hex(second.id, DIGEST_LENGTH), row());
	expect(settle_by(&first, "/orders/7"), STORE_DONE);
	ck_assert_str_eq(database_text("SELECT state FROM once_record WHERE %s", where(&first)),
			 "complete");
	hold_by(&second);
	ck_assert(is_held_by(&second));
	ck_assert_int_eq(holder.settled_ms, 0);
}
END_TEST

/* Section 6, joined transactions: the record is complete when the wrapper comes. */
START_TEST(a_natural_key_is_settled_where_the_handler_has_completed_the_record)
{
	database_run("UPDATE once_record SET state = 'complete', status = 202, body = 'its own',"
		     " settled_at = UTC_TIMESTAMP(6) WHERE %s",
		     where(&first));
	expect(settle_by(&first, "/orders/7"), STORE_DONE);
	hold_by(&second);
	ck_assert_int_ne(holder.settled_ms, 0);
	ck_assert_uint_eq(holder.location.length, 9);
}
END_TEST

START_TEST(a_released_claim_frees_its_natural_key)
{
	expect(release_by(&first), STORE_DONE);
	ck_assert_int_eq(rows(), 0);
	hold_by(&second);
	ck_assert(is_held_by(&second));
	expect(release_by(&first), STORE_NO_ROW);
	hold_by(&second);
	ck_assert(is_held_by(&second));
}
END_TEST

START_TEST(a_claim_released_with_its_checkpoint_frees_its_natural_key)
{
	database_run("UPDATE once_record SET checkpoint = 'half' WHERE %s", where(&first));
	expect(release_by(&first), STORE_DONE);
	ck_assert_str_eq(database_text("SELECT state FROM once_record WHERE %s", where(&first)),
			 "released");
	hold_by(&second);
	ck_assert(holder.over);
	expect(take_by(&second, &first), STORE_DONE);
	hold_by(&second);
	ck_assert(is_held_by(&second));
	ck_assert(!holder.over);
}
END_TEST

START_TEST(a_claim_that_does_not_hold_it_leaves_it_when_released)
{
	expect(release_by(&second), STORE_DONE);
	hold_by(&first);
	ck_assert(is_held_by(&first));
}
END_TEST

START_TEST(an_unknown_outcome_keeps_the_natural_key)
{
	if (_i == 0) {
		expect(store_mark_unknown(store, first.id, first.token, clock_now() + PATIENCE,
					  test_error()),
		       STORE_DONE);
	} else {
		database_run("UPDATE once_record SET lease_until = UTC_TIMESTAMP(6) WHERE %s",
			     where(&first));
		expect(store_close_lease(store, first.token, clock_now() + PATIENCE, test_error()),
		       STORE_DONE);
		expect(
		    store_lapse(store, first.id, first.token, clock_now() + PATIENCE, test_error()),
		    STORE_DONE);
	}
	hold_by(&second);
	ck_assert(is_held_by(&first));
	expect(take_by(&second, &first), STORE_NO_ROW);
	/* its owner's late answer settles both */
	expect(settle_by(&first, "/orders/7"), STORE_DONE);
	hold_by(&second);
	ck_assert_int_ne(holder.settled_ms, 0);
}
END_TEST

START_TEST(a_takeover_holds_its_natural_key_under_its_new_token)
{
	struct store_claim taker = taken_over();
	hold_by(&taker);
	ck_assert(is_held_by(&taker));
	expect(settle_by(&taker, "/orders/7"), STORE_DONE);
	hold_by(&second);
	ck_assert(is_held_by(&taker));
	ck_assert_int_ne(holder.settled_ms, 0);
}
END_TEST

/* The first attempt is slow: its claim was won, taken over, and only now it comes. */
START_TEST(an_attempt_that_was_taken_over_does_not_take_the_natural_key_back)
{
	struct store_claim taker = taken_over();
	hold_by(&taker);
	hold_by(&first);
	ck_assert(is_held_by(&taker));
	expect(take_by(&first, &taker), STORE_NO_ROW);
}
END_TEST

START_TEST(what_an_earlier_life_of_the_key_has_settled_is_not_held_by_its_next)
{
	struct store_claim next = claim_again(&first);
	expect(settle_by(&first, "/orders/7"), STORE_DONE);
	expire(&first);
	expect(store_reclaim(store, &next, first.token, 0, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	hold_by(&next);
	ck_assert(is_held_by(&first));
	ck_assert_int_ne(holder.settled_ms, 0);
	expect(take_by(&next, &first), STORE_NO_ROW);
}
END_TEST

/* What becomes of the holder, and whether another may then take the natural key from it. */
static const struct {
	const char *change; /* of record r and natural key n; NULL: the record is deleted */
	enum store_result result;
	const char *why;
} fates[] = {
    {"n.location = ''", STORE_NO_ROW, "in flight"},
    {"r.lease_until = r.created_at", STORE_NO_ROW, "in flight, lapsed"},
    {"r.state = 'unknown'", STORE_NO_ROW, "its outcome unknown"},
    {"r.state = 'complete', r.status = 200, r.settled_at = r.created_at", STORE_NO_ROW,
     "completed by its handler, the natural key not settled yet"},
    {"n.settled_at = r.created_at", STORE_NO_ROW, "settled"},
    {"n.settled_at = r.created_at, r.token = REPEAT('t', 16)", STORE_NO_ROW,
     "settled, its record in another life"},
    {"r.token = REPEAT('t', 16)", STORE_DONE, "its record has moved on"},
    {"r.state = 'released'", STORE_DONE, "released by a person"},
    {NULL, STORE_DONE, "its record has gone"},
    {"n.window_until = UTC_TIMESTAMP(6)", STORE_DONE, "its window over"},
    {"n.window_until = UTC_TIMESTAMP(6), n.settled_at = r.created_at", STORE_DONE,
     "settled, its window over"},
};

START_TEST(a_natural_key_is_taken_only_from_who_holds_it_no_longer)
{
	if (fates[_i].change != NULL)
		database_run("UPDATE once_record r JOIN once_natural_key n ON n.record_id = r.id"
			     " SET %s WHERE r.%s",
			     fates[_i].change, where(&first));
	else
		database_run("DELETE FROM once_record WHERE %s", where(&first));
	ck_assert_msg(take_by(&second, &first) == fates[_i].result, "%s", fates[_i].why);
	hold_by(&second);
	ck_assert_msg(is_held_by(&second) == (fates[_i].result == STORE_DONE), "%s", fates[_i].why);
	if (fates[_i].result == STORE_DONE)
		ck_assert(!holder.over && holder.settled_ms == 0 && holder.location.length == 0);
}
END_TEST

START_TEST(a_natural_key_that_moved_on_is_not_taken_by_what_was_seen_of_it)
{
	struct store_claim third = claim_new();
	end_window();
	hold_by(&second);
	ck_assert(holder.over);
	expect(take_by(&second, &first), STORE_DONE);
	end_window();
	expect(take_by(&third, &first), STORE_NO_ROW);
}
END_TEST

START_TEST(a_natural_key_whose_row_is_locked_is_busy_at_once)
{
	int64_t begin = clock_now();
	database_run("BEGIN");
	database_run("UPDATE once_natural_key SET location = 'x' WHERE %s", row());
	expect(store_hold_natural(store, &natural, second.id, second.token, &holder,
				  clock_now() + PATIENCE, test_error()),
	       STORE_BUSY);
	expect(take_by(&second, &first), STORE_BUSY);
	ck_assert_int_lt(clock_now() - begin, config.read_timeout / 4);
	database_run("ROLLBACK");
}
END_TEST

TCase *natural_tests(void)
{
	TCase *tests = tcase_create("natural");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, a_second_key_is_shown_who_holds_the_natural_key_and_changes_nothing);
	tcase_add_test(tests, another_natural_key_is_held_beside_it);
	tcase_add_loop_test(tests, a_window_may_be_for_ever, 0,
			    (int)(sizeof(windows) / sizeof(windows[0])));
	tcase_add_test(tests, a_settlement_writes_time_and_location_of_both_in_one);
	tcase_add_test(tests, an_answer_that_says_no_frees_its_natural_key);
	tcase_add_loop_test(tests, a_location_that_does_not_fit_is_left_out_and_stops_nothing, 0,
			    2);
	tcase_add_test(tests, an_answer_without_a_location_is_settled_all_the_same);
	tcase_add_loop_test(tests, a_natural_key_that_was_lost_does_not_stop_the_settlement, 0, 2);
	tcase_add_test(tests, a_natural_key_is_settled_where_the_handler_has_completed_the_record);
	tcase_add_test(tests, a_released_claim_frees_its_natural_key);
	tcase_add_test(tests, a_claim_released_with_its_checkpoint_frees_its_natural_key);
	tcase_add_test(tests, a_claim_that_does_not_hold_it_leaves_it_when_released);
	tcase_add_loop_test(tests, an_unknown_outcome_keeps_the_natural_key, 0, 2);
	tcase_add_test(tests, a_takeover_holds_its_natural_key_under_its_new_token);
	tcase_add_test(tests, an_attempt_that_was_taken_over_does_not_take_the_natural_key_back);
	tcase_add_test(tests, what_an_earlier_life_of_the_key_has_settled_is_not_held_by_its_next);
	tcase_add_loop_test(tests, a_natural_key_is_taken_only_from_who_holds_it_no_longer, 0,
			    (int)(sizeof(fates) / sizeof(fates[0])));
	tcase_add_test(tests, a_natural_key_that_moved_on_is_not_taken_by_what_was_seen_of_it);
	tcase_add_test(tests, a_natural_key_whose_row_is_locked_is_busy_at_once);
	return tests;
}
