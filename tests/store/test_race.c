/* SPDX-License-Identifier: ISC */
/* Many at once: processes with a store each (cases C1, C2, C5, C21, C58). */
#include <config.h>

#include "tests/store/themes.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/store/database.h"
#include "tests/store/renew.h"

enum { KEYS_MOST = 1000 };

/* Shared by the rivals of one test. */
static struct arena {
	pthread_barrier_t barrier;
	struct store_claim claims[KEYS_MOST];
	atomic_uint winners[KEYS_MOST];
	unsigned char winning_token[KEYS_MOST][TOKEN_LENGTH];
	atomic_int outcomes[2]; /* of the two rivals in a round */
	atomic_int wins[2];
} * arena;

static struct config_store config;

static void set_up(void)
{
	config = database_config();
	arena =
	    mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(arena, MAP_FAILED);
}

static void tear_down(void)
{
	munmap(arena, sizeof(*arena));
	database_leave();
}

static void meet(void)
{
	pthread_barrier_wait(&arena->barrier);
}

/* Let that many processes do the same at once; each says by its exit whether it was as it should
 * be. */
static void let_rivals(unsigned count, void (*act)(struct store *store, unsigned number))
{
	pthread_barrierattr_t shared;
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	ck_assert_int_eq(pthread_barrier_init(&arena->barrier, &shared, count), 0);
	database_leave();
	for (unsigned i = 0; i < count; i++) {
		pid_t rival = fork();
		ck_assert_int_ge(rival, 0);
		if (rival == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			struct store *store = store_new(&config);
			expect(store_connect(store, clock_now() + PATIENCE, test_error()),
			       STORE_DONE);
			act(store, i);
			store_free(store);
			_exit(0);
		}
	}
	/* In the order in which they end: the others may be waiting for one that fails. */
	for (unsigned i = 0; i < count; i++)
		database_end(-1);
}

static void count_win(unsigned key, const struct store_claim *claim)
{
	arena->winners[key]++;
	memcpy(arena->winning_token[key], claim->token, TOKEN_LENGTH);
}

/* As many different moments as a round may take, in microseconds. */
static void stroll(unsigned most)
{
	unsigned value;
	ck_assert_int_eq(random_bytes(&value, sizeof(value)), 0);
	struct timespec span = {.tv_nsec = (long)(value % most) * 1000};
	nanosleep(&span, NULL);
}

static void make_keys(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		arena->claims[i] = claim_new();
}

static void check_one_winner_each(unsigned count, unsigned attempt)
{
	for (unsigned i = 0; i < count; i++) {
		ck_assert_uint_eq(arena->winners[i], 1);
		ck_assert_int_eq(
		    database_number("SELECT COUNT(*) FROM once_record WHERE %s AND attempt = %u"
				    " AND token = x'%s'",
				    where(&arena->claims[i]), attempt,
				    hex(arena->winning_token[i], TOKEN_LENGTH)),
		    1);
	}
}

enum { SHARED_KEYS = 60 };

/* The loser of the race is an ordinary outcome: the record as it stands, or busy; never trouble. */
static void claim_shared_keys(struct store *store, unsigned number)
{
	(void)number;
	struct record record;
	record_init(&record);
	for (unsigned i = 0; i < SHARED_KEYS; i++) {
		struct store_claim claim = claim_again(&arena->claims[i]);
		meet();
		enum store_result result =
		    store_claim(store, &claim, &record, clock_now() + PATIENCE, test_error());
		if (result == STORE_BUSY)
			continue;
		ck_assert_msg(result == STORE_DONE, "%s", test_error()->message);
		if (is_mine(&record, &claim))
			count_win(i, &claim);
	}
	record_free(&record);
}

static const unsigned crowds[] = {2, 20, 64};

/* Cases C1, C2. */
START_TEST(of_any_number_that_claim_one_key_at_once_one_wins)
{
	make_keys(SHARED_KEYS);
	let_rivals(crowds[_i], claim_shared_keys);
	check_one_winner_each(SHARED_KEYS, 1);
}
END_TEST

enum { LAPSED_KEYS = 100, TAKERS = 16 };

static void take_over_lapsed_keys(struct store *store, unsigned number)
{
	(void)number;
	for (unsigned i = 0; i < LAPSED_KEYS; i++) {
		const struct store_claim *owner = &arena->claims[i];
		struct store_claim taker = claim_again(owner);
		uint32_t attempt = 0;
		enum store_result result;
		taker.lease = 600000;
		do
			result = store_close_lease(store, owner->token, clock_now() + PATIENCE,
						   test_error());
		while (result == STORE_BUSY);
		ck_assert_msg(result == STORE_DONE, "%s", test_error()->message);
		do
			result = store_take_over(store, &taker, owner->token, &attempt,
						 clock_now() + PATIENCE, test_error());
		while (result == STORE_BUSY);
		ck_assert_msg(result == STORE_DONE || result == STORE_NO_ROW, "%s",
			      test_error()->message);
		if (result == STORE_DONE) {
			ck_assert_uint_eq(attempt, 2);
			count_win(i, &taker);
		}
	}
}

static void make_lapsed_keys(unsigned count)
{
	struct store *store = store_new(&config);
	make_keys(count);
	for (unsigned i = 0; i < count; i++)
		claim_lapsed(store, &arena->claims[i]);
	store_free(store);
}

/* Case C5. */
START_TEST(of_several_that_see_a_lapsed_lease_one_takes_over)
{
	make_lapsed_keys(LAPSED_KEYS);
	let_rivals(TAKERS, take_over_lapsed_keys);
	check_one_winner_each(LAPSED_KEYS, 2);
}
END_TEST

static void reclaim_expired_keys(struct store *store, unsigned number)
{
	(void)number;
	for (unsigned i = 0; i < LAPSED_KEYS; i++) {
		struct store_claim again = claim_again(&arena->claims[i]);
		enum store_result result;
		do
			result = store_reclaim(store, &again, arena->claims[i].token, 0,
					       clock_now() + PATIENCE, test_error());
		while (result == STORE_BUSY);
		ck_assert_msg(result == STORE_DONE || result == STORE_NO_ROW, "%s",
			      test_error()->message);
		if (result == STORE_DONE)
			count_win(i, &again);
	}
}

START_TEST(of_several_that_see_an_expired_answer_one_begins_anew)
{
	struct store *store = store_new(&config);
	make_keys(LAPSED_KEYS);
	for (unsigned i = 0; i < LAPSED_KEYS; i++) {
		claim_first(store, &arena->claims[i]);
		settle_with(store, &arena->claims[i], 200, "");
		expire(&arena->claims[i]);
	}
	store_free(store);
	let_rivals(TAKERS, reclaim_expired_keys);
	check_one_winner_each(LAPSED_KEYS, 1);
}
END_TEST

static void work_on_own_keys(struct store *store, unsigned number)
{
	(void)number;
	meet();
	for (unsigned i = 0; i < 20; i++) {
		struct store_claim claim = claim_new();
		claim_first(store, &claim);
		settle_with(store, &claim, 200, "made");
	}
}

/* Case C21. */
START_TEST(sixty_four_clients_on_distinct_keys_see_no_deadlock)
{
	let_rivals(64, work_on_own_keys);
}
END_TEST

enum { ROUNDS = 1000, LEASE = 3 /* ms */, OWNER = 0, TAKER = 1 };

/* The owner renews round the end of its lease: the first renewal in one round, a second one in the
 * next. */
static int renew_at_the_end(struct renewal *renewal, unsigned round)
{
	const struct store_claim *claim = &arena->claims[round];
	if (round % 2 == 1)
		ck_assert_int_eq(renew(renewal, claim, LEASE), RENEWAL_HELD);
	meet();
	stroll(2 * LEASE * 1000);
	enum renewal_state state = renew(renewal, claim, 3600000);
	ck_assert(state == RENEWAL_HELD || state == RENEWAL_LOST);
	return state == RENEWAL_HELD;
}

/* The taker looks, and where the lease seems over, closes it and takes over. */
static int take_over_at_the_end(struct store *store, unsigned round)
{
	const struct store_claim *owner = &arena->claims[round];
	struct record record;
	uint32_t attempt;
	record_init(&record);
	meet(); /* the owner has claimed */
	struct store_claim taker = claim_again(owner);
	stroll(2 * LEASE * 1000);
	expect(store_read(store, owner->id, &record, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	bool lapsed = record.lapsed;
	record_free(&record);
	if (!lapsed)
		return 0;
	enum store_result result =
	    store_close_lease(store, owner->token, clock_now() + PATIENCE, test_error());
	ck_assert_msg(result == STORE_DONE || result == STORE_NO_ROW || result == STORE_BUSY, "%s",
		      test_error()->message);
	if (result != STORE_DONE)
		return 0;
	expect(store_take_over(store, &taker, owner->token, &attempt, clock_now() + PATIENCE,
			       test_error()),
	       STORE_DONE);
	return 1;
}

static void check_round(unsigned round)
{
	meet(); /* both outcomes are in */
	ck_assert_msg(arena->outcomes[OWNER] != arena->outcomes[TAKER],
		      "round %u: owner %d, taker %d", round, (int)arena->outcomes[OWNER],
		      (int)arena->outcomes[TAKER]);
	meet(); /* both have looked */
}

static void race_for_a_lease(struct store *store, unsigned number)
{
	struct renewal *renewal = renewal_new(store);
	for (unsigned round = 0; round < ROUNDS; round++) {
		if (number == OWNER) {
			arena->claims[round] = claim_new();
			arena->claims[round].lease = LEASE;
			claim_first(store, &arena->claims[round]);
			arena->outcomes[OWNER] = renew_at_the_end(renewal, round);
		} else {
			arena->outcomes[TAKER] = take_over_at_the_end(store, round);
		}
		arena->wins[number] += arena->outcomes[number];
		check_round(round);
	}
	renewal_free(renewal);
}

/* Case C58. */
START_TEST(at_the_end_of_a_lease_owner_or_taker_wins_and_the_other_knows)
{
	let_rivals(2, race_for_a_lease);
	ck_assert_int_eq(arena->wins[OWNER] + arena->wins[TAKER], ROUNDS);
	/* that there was a race at all */
	ck_assert_int_gt(arena->wins[OWNER], 0);
	ck_assert_int_gt(arena->wins[TAKER], 0);
}
END_TEST

enum { SETTLE_ROUNDS = 300 };

static int settle_late(struct store *store, const struct store_claim *claim)
{
	struct store_answer answer = {
	    .status = 201, .headers = "", .body = "made", .body_length = 4, .retention = 86400000};
	enum store_result result = store_settle(store, claim->id, claim->token, &answer,
						clock_now() + PATIENCE, test_error());
	ck_assert_msg(result == STORE_DONE || result == STORE_NO_ROW, "%s", test_error()->message);
	return result == STORE_DONE;
}

static int take_over_closed(struct store *store, const struct store_claim *owner)
{
	struct store_claim taker = claim_again(owner);
	enum store_result result;
	uint32_t attempt;
	do
		result = store_take_over(store, &taker, owner->token, &attempt,
					 clock_now() + PATIENCE, test_error());
	while (result == STORE_BUSY);
	ck_assert_msg(result == STORE_DONE || result == STORE_NO_ROW, "%s", test_error()->message);
	return result == STORE_DONE;
}

static void race_for_the_settlement(struct store *store, unsigned number)
{
	for (unsigned round = 0; round < SETTLE_ROUNDS; round++) {
		const struct store_claim *claim = &arena->claims[round];
		meet();
		/* each is the first in every other round, more or less */
		stroll(round % 2 == number ? 50 : 1000);
		arena->outcomes[number] =
		    number == OWNER ? settle_late(store, claim) : take_over_closed(store, claim);
		arena->wins[number] += arena->outcomes[number];
		check_round(round);
	}
}

/* Case C4, at the very moment. */
START_TEST(a_late_answer_or_the_takeover_stands_and_the_other_knows)
{
	struct store *store = store_new(&config);
	make_lapsed_keys(SETTLE_ROUNDS);
	for (unsigned i = 0; i < SETTLE_ROUNDS; i++)
		expect(store_close_lease(store, arena->claims[i].token, clock_now() + PATIENCE,
					 test_error()),
		       STORE_DONE);
	store_free(store);
	let_rivals(2, race_for_the_settlement);
	ck_assert_int_gt(arena->wins[OWNER], 0);
	ck_assert_int_gt(arena->wins[TAKER], 0);
}
END_TEST

enum { NATURAL_ROUNDS = 2000, RIVALS = 8 };

static int64_t deadlocks(void)
{
	return database_number("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
			       " WHERE VARIABLE_NAME = 'INNODB_DEADLOCKS'");
}

/* What the broker does: hold, and where that is another's, try to take it, which never succeeds
 * while the other is at work or has settled. */
static bool hold_or_take(struct store *store, const struct store_claim *claim,
			 const struct store_natural *natural)
{
	struct store_natural_holder holder;
	enum store_result result;
	do
		result = store_hold_natural(store, natural, claim->id, claim->token, &holder,
					    clock_now() + PATIENCE, test_error());
	while (result == STORE_BUSY);
	ck_assert_msg(result == STORE_DONE, "%s", test_error()->message);
	buffer_free(&holder.location);
	if (memcmp(holder.token, claim->token, TOKEN_LENGTH) == 0)
		return true;
	result = store_take_natural(store, natural, holder.token, claim->id, claim->token,
				    clock_now() + PATIENCE, test_error());
	ck_assert_msg(result == STORE_NO_ROW || result == STORE_BUSY, "%s", result_name(result));
	return false;
}

static void settle_both(struct store *store, const struct store_claim *claim,
			const struct store_natural *natural)
{
	struct store_answer answer = {.status = 201,
				      .headers = "",
				      .body = "",
				      .retention = claim->retention,
				      .natural = natural,
				      .natural_done = true,
				      .location = "/orders/7",
				      .location_length = 9};
	expect(store_settle(store, claim->id, claim->token, &answer, clock_now() + PATIENCE,
			    test_error()),
	       STORE_DONE);
}

/* The id of the round's natural key is that of its claim in the arena. The winner settles while the
 * others still contend; the losers release. */
static void race_for_natural_keys(struct store *store, unsigned number)
{
	(void)number;
	for (unsigned round = 0; round < NATURAL_ROUNDS; round++) {
		unsigned key = round % KEYS_MOST;
		struct store_natural natural = {.window = 3600000};
		memcpy(natural.id, arena->claims[key].id, DIGEST_LENGTH);
		natural.id[0] ^= (unsigned char)(round / KEYS_MOST);
		struct store_claim claim = claim_new();
		claim_first(store, &claim);
		meet();
		if (hold_or_take(store, &claim, &natural)) {
			count_win(key, &claim);
			settle_both(store, &claim, &natural);
		} else {
			expect(store_release(store, claim.id, claim.token, NULL, false,
					     clock_now() + PATIENCE, test_error()),
			       STORE_DONE);
		}
	}
}

/* Natural keys settled together with their records, by all tests so far. */
static int64_t settled_pairs(void)
{
	return database_number("SELECT COUNT(*) FROM once_natural_key JOIN once_record ON"
			       " record_id = id AND once_record.token = once_natural_key.token"
			       " AND once_record.settled_at = once_natural_key.settled_at"
			       " WHERE location = '/orders/7' AND state = 'complete'");
}

START_TEST(of_several_keys_on_one_natural_key_one_holds_it_and_nothing_deadlocks)
{
	int64_t deadlocks_before = deadlocks(), pairs_before = settled_pairs();
	make_keys(KEYS_MOST);
	let_rivals(RIVALS, race_for_natural_keys);
	for (unsigned i = 0; i < KEYS_MOST; i++)
		ck_assert_uint_eq(arena->winners[i], NATURAL_ROUNDS / KEYS_MOST);
	ck_assert_int_eq(deadlocks(), deadlocks_before);
	ck_assert_int_eq(settled_pairs() - pairs_before, NATURAL_ROUNDS);
}
END_TEST

static void take_orphaned_natural_keys(struct store *store, unsigned number)
{
	(void)number;
	struct store_natural natural = {.window = 3600000};
	for (unsigned i = 0; i < LAPSED_KEYS; i++) {
		struct store_claim claim = claim_new();
		memcpy(natural.id, arena->claims[i].id, DIGEST_LENGTH);
		claim_first(store, &claim);
		meet();
		enum store_result result;
		do
			result =
			    store_take_natural(store, &natural, arena->claims[i].token, claim.id,
					       claim.token, clock_now() + PATIENCE, test_error());
		while (result == STORE_BUSY);
		ck_assert_msg(result == STORE_DONE || result == STORE_NO_ROW, "%s",
			      test_error()->message);
		if (result == STORE_DONE)
			count_win(i, &claim);
	}
}

START_TEST(of_several_that_see_a_holder_whose_record_has_gone_one_takes_its_natural_key)
{
	struct store *store = store_new(&config);
	struct store_natural natural = {.window = 3600000};
	make_keys(LAPSED_KEYS);
	for (unsigned i = 0; i < LAPSED_KEYS; i++) {
		memcpy(natural.id, arena->claims[i].id, DIGEST_LENGTH);
		claim_first(store, &arena->claims[i]);
		hold_first(store, &arena->claims[i], &natural);
		database_run("DELETE FROM once_record WHERE %s", where(&arena->claims[i]));
	}
	store_free(store);
	let_rivals(RIVALS, take_orphaned_natural_keys);
	for (unsigned i = 0; i < LAPSED_KEYS; i++) {
		ck_assert_uint_eq(arena->winners[i], 1);
		ck_assert_int_eq(database_number("SELECT COUNT(*) FROM once_natural_key"
						 " WHERE natural_id = x'%s' AND token = x'%s'",
						 hex(arena->claims[i].id, DIGEST_LENGTH),
						 hex(arena->winning_token[i], TOKEN_LENGTH)),
				 1);
	}
}
END_TEST

TCase *race_tests(void)
{
	TCase *tests = tcase_create("race");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, of_any_number_that_claim_one_key_at_once_one_wins, 0,
			    (int)(sizeof(crowds) / sizeof(crowds[0])));
	tcase_add_test(tests, of_several_that_see_a_lapsed_lease_one_takes_over);
	tcase_add_test(tests, of_several_that_see_an_expired_answer_one_begins_anew);
	tcase_add_test(tests, sixty_four_clients_on_distinct_keys_see_no_deadlock);
	tcase_add_test(tests, at_the_end_of_a_lease_owner_or_taker_wins_and_the_other_knows);
	tcase_add_test(tests,
		       of_several_keys_on_one_natural_key_one_holds_it_and_nothing_deadlocks);
	tcase_add_test(
	    tests, of_several_that_see_a_holder_whose_record_has_gone_one_takes_its_natural_key);
	tcase_add_test(tests, a_late_answer_or_the_takeover_stands_and_the_other_knows);
	return tests;
}
