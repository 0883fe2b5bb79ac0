/* SPDX-License-Identifier: ISC */
/* The purge beside those that claim, settle, reclaim and renew (cases C24, C57). */
#include <config.h>

#include "tests/store/themes.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/maintenance.h"
#include "store/purge.h"
#include "tests/store/database.h"
#include "tests/store/renew.h"

enum { KEYS = 6, CLAIMERS = 4, ROUNDS = 400 };

/* Shared with the processes of one test. */
static struct arena {
	struct store_claim claims[KEYS];
	atomic_uint settled, reclaimed, deleted;
} * arena;

static struct config_store config;

static void set_up(void)
{
	config = database_config();
	arena =
	    mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(arena, MAP_FAILED);
	database_run("DELETE FROM once_record");
}

static void tear_down(void)
{
	munmap(arena, sizeof(*arena));
	database_leave();
}

static int64_t no_tombstone(void *context, const char *route, size_t length)
{
	(void)context, (void)route, (void)length;
	return 0;
}

/* A whole purge; how many records it has deleted. */
static uint64_t purge_all(struct connection *connection, size_t batch)
{
	const struct purge_settings settings = {
	    .selection.expired = true, .batch = batch, .tombstone = no_tombstone};
	struct purge purge;
	struct error error;
	enum purge_result result;
	ck_assert_int_eq(purge_init(&purge, connection, &settings), 0);
	do
		result = purge_step(&purge, &error);
	while (result == PURGE_MORE);
	ck_assert_msg(result == PURGE_DONE, "%s", error.message);
	uint64_t deleted = purge.counts.deleted;
	purge_free(&purge);
	return deleted;
}

static pid_t begin(void (*act)(struct store *store))
{
	database_leave();
	pid_t process = fork();
	ck_assert_int_ge(process, 0);
	if (process > 0)
		return process;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	struct store *store = store_new(&config);
	act(store);
	store_free(store);
	_exit(0);
}

/* As many different moments as a step of the purge may take. */
static void stroll(void)
{
	unsigned value;
	ck_assert_int_eq(random_bytes(&value, sizeof(value)), 0);
	struct timespec span = {.tv_nsec = (long)(value % 8000) * 1000};
	nanosleep(&span, NULL);
}

/* Unless its retention is over at once, the answer stays for as long as we want to have it. */
static void settle(struct store *store, const struct store_claim *claim)
{
	struct record record;
	settle_with(store, claim, 200, "done");
	arena->settled++;
	if (claim->retention == 1)
		return;
	stroll();
	record_init(&record);
	expect(store_read(store, claim->id, &record, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	ck_assert(is_mine(&record, claim));
	record_free(&record);
	expire(claim);
}

/* Whoever wins a claim settles it: a record of which the retention is over while it is in flight is
 * nobody's but its owner's. */
static void claim_again_and_again(struct store *store)
{
	struct record record;
	record_init(&record);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct store_claim claim = claim_again(&arena->claims[round % KEYS]);
		claim.retention = round % 2 == 0 ? 1 : 600000;
		enum store_result result =
		    store_claim(store, &claim, &record, clock_now() + PATIENCE, test_error());
		if (result == STORE_BUSY)
			continue;
		ck_assert_msg(result == STORE_DONE, "%s", test_error()->message);
		if (is_mine(&record, &claim)) {
			settle(store, &claim);
		} else if (record.state == RECORD_COMPLETE && record.expired) {
			result = store_reclaim(store, &claim, record.token, 0,
					       clock_now() + PATIENCE, test_error());
			if (result != STORE_DONE)
				continue;
			arena->reclaimed++;
			settle(store, &claim);
		}
	}
	record_free(&record);
}

static unsigned all_ended(const pid_t *processes, bool *ended)
{
	unsigned count = 0;
	for (unsigned i = 0; i < CLAIMERS; i++) {
		int status = 0;
		if (!ended[i] && waitpid(processes[i], &status, WNOHANG) == processes[i]) {
			ck_assert_int_eq(status, 0);
			ended[i] = true;
		}
		count += ended[i];
	}
	return count;
}

/* Case C24. */
START_TEST(a_purge_beside_live_claims_takes_what_is_expired_and_settled_and_nothing_else)
{
	struct connection connection;
	pid_t claimers[CLAIMERS];
	bool ended[CLAIMERS] = {false};
	uint64_t deleted = 0;
	for (unsigned i = 0; i < KEYS; i++)
		arena->claims[i] = claim_new();
	for (unsigned i = 0; i < CLAIMERS; i++)
		claimers[i] = begin(claim_again_and_again);
	connection_init(&connection, &config, CONNECTION_ADMIN, "oncewrap-admin");
	while (all_ended(claimers, ended) < CLAIMERS)
		deleted += purge_all(&connection, 2);
	connection_close(&connection);
	/* Each life that was settled ended by a reclaim or by the purge, or is there. */
	ck_assert_uint_gt(deleted, 0);
	ck_assert_uint_eq(arena->settled,
			  arena->reclaimed + deleted +
			      (uint64_t)database_number("SELECT COUNT(*) FROM once_record"));
}
END_TEST

static void purge_again_and_again(struct store *store)
{
	struct connection connection;
	(void)store;
	connection_init(&connection, &config, CONNECTION_ADMIN, "oncewrap-admin");
	for (;;)
		arena->deleted += (unsigned)purge_all(&connection, 500);
}

enum { ENOUGH = 20, MOST_TRIES = 5000 };

/* Case C24: an owner that is about to renew, and a purge that finds its lease lapsed. */
START_TEST(an_owner_that_could_renew_keeps_its_record_and_one_that_lost_it_is_told)
{
	struct store *store = store_new(&config);
	struct renewal *renewal = renewal_new(store);
	unsigned kept = 0, lost = 0;
	pid_t purger = begin(purge_again_and_again);
	for (unsigned i = 0; i < MOST_TRIES && (kept < ENOUGH || lost < ENOUGH); i++) {
		struct store_claim claim = claim_new();
		claim.lease = claim.retention = 1;
		claim_first(store, &claim);
		stroll();
		enum renewal_state state = renew(renewal, &claim, 600000);
		ck_assert(state == RENEWAL_HELD || state == RENEWAL_LOST);
		if (state == RENEWAL_HELD) {
			stroll();
			settle(store, &claim);
		}
		kept += state == RENEWAL_HELD;
		lost += state == RENEWAL_LOST;
	}
	renewal_free(renewal);
	ck_assert_int_eq(kill(purger, SIGKILL), 0);
	ck_assert_int_eq(waitpid(purger, NULL, 0), purger);
	store_free(store);
	ck_assert_msg(kept >= ENOUGH && lost >= ENOUGH, "%u kept, %u lost", kept, lost);
}
END_TEST

/* Case C57. */
START_TEST(a_late_takeover_does_not_lose_its_record_to_the_purge)
{
	struct store *store = store_new(&config);
	struct connection connection;
	struct store_claim owner = claim_new(), taker = claim_again(&owner);
	uint32_t attempt;
	claim_lapsed(store, &owner);
	database_run(
	    "UPDATE once_record SET expires_at = UTC_TIMESTAMP(6) + INTERVAL 50000 MICROSECOND"
	    " WHERE %s",
	    where(&owner));
	expect(store_close_lease(store, owner.token, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	taker.lease = taker.retention = 600000;
	expect(store_take_over(store, &taker, owner.token, &attempt, clock_now() + PATIENCE,
			       test_error()),
	       STORE_DONE);
	connection_init(&connection, &config, CONNECTION_ADMIN, "oncewrap-admin");
	/* Until the first retention is over. */
	for (int64_t until = clock_now() + 100; clock_now() < until;)
		ck_assert_uint_eq(purge_all(&connection, 500), 0);
	settle_with(store, &taker, 201, "the successor's");
	connection_close(&connection);
	store_free(store);
}
END_TEST

static const struct audit_author nobody = {
    .who = "nobody", .host = "here", .program = "test", .reason = "for the test"};

START_TEST(a_task_is_one_holders_and_a_second_one_is_told_whose)
{
	struct connection connection;
	struct maintenance first, second;
	struct error error;
	const struct maintenance_counts none = {0}, one = {.deleted = 1};
	const struct maintenance_counts some = {5, 2, 6}, all = {7, 2, 8};
	database_run("UPDATE once_maintenance SET held_until = '1970-01-01', deleted = 0,"
		     " tombstoned = 0, expired = 0, succeeded_at = NULL");
	connection_init(&connection, &config, CONNECTION_ADMIN, "oncewrap-admin");
	ck_assert_int_eq(maintenance_take(&first, &connection, MAINTENANCE_PURGE, "alice", &error),
			 MAINTENANCE_HELD);
	ck_assert_int_eq(maintenance_take(&second, &connection, MAINTENANCE_PURGE, "bob", &error),
			 MAINTENANCE_BUSY);
	ck_assert_msg(strstr(error.message, "alice") != NULL, "%s", error.message);
	ck_assert_int_eq(maintenance_take(&second, &connection, "dusting", "bob", &error),
			 MAINTENANCE_MISSING);
	/* The first one dies, and wakes up when the second one has taken it. */
	database_run("UPDATE once_maintenance SET held_until = UTC_TIMESTAMP(6)");
	ck_assert_int_eq(maintenance_take(&second, &connection, MAINTENANCE_PURGE, "bob", &error),
			 MAINTENANCE_HELD);
	first.renewed -= 60000;
	ck_assert_int_eq(maintenance_keep(&first, &none, &error), MAINTENANCE_BUSY);
	second.renewed -= 60000;
	ck_assert_int_eq(maintenance_keep(&second, &some, &error), MAINTENANCE_HELD);
	ck_assert_int_eq(maintenance_end(&first, &one, true, &nobody, &error), 0);
	ck_assert_int_eq(
	    database_number("SELECT held_until > UTC_TIMESTAMP(6) FROM once_maintenance"), 1);
	ck_assert_int_eq(maintenance_end(&second, &all, true, &nobody, &error), 0);
	ck_assert_str_eq(
	    database_text(
		"SELECT CONCAT_WS(' ', deleted, tombstoned, expired, holder, held_until <="
		" UTC_TIMESTAMP(6), succeeded_at = finished_at) FROM once_maintenance"),
	    "7 2 8  1 1");
	/* A run that the database refused ends, and is no success. */
	database_run("UPDATE once_maintenance SET succeeded_at = NULL");
	ck_assert_int_eq(maintenance_take(&first, &connection, MAINTENANCE_PURGE, "alice", &error),
			 MAINTENANCE_HELD);
	ck_assert_int_eq(maintenance_end(&first, &none, false, &nobody, &error), 0);
	ck_assert_int_eq(database_number("SELECT succeeded_at IS NULL AND finished_at >= started_at"
					 " FROM once_maintenance"),
			 1);
	connection_close(&connection);
}
END_TEST

TCase *purge_tests(void)
{
	TCase *tests = tcase_create("purge");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(
	    tests, a_purge_beside_live_claims_takes_what_is_expired_and_settled_and_nothing_else);
	tcase_add_test(tests,
		       an_owner_that_could_renew_keeps_its_record_and_one_that_lost_it_is_told);
	tcase_add_test(tests, a_late_takeover_does_not_lose_its_record_to_the_purge);
	tcase_add_test(tests, a_task_is_one_holders_and_a_second_one_is_told_whose);
	return tests;
}
