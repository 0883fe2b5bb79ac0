/* SPDX-License-Identifier: ISC */
/* What a person does to a record, beside its worker (docs/design.md section 4). */
#include <config.h>

#include "tests/store/themes.h"

#include <mysqld_error.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/change.h"
#include "store/query.h"
#include "tests/lib/proxy.h"
#include "tests/store/database.h"
#include "tests/store/renew.h"

static const struct audit_author author = {
    .who = "root (sudo: alice)",
    .host = "db1",
    .program = "once-test",
    .reason = "asked the bank; it's \\done'",
};

static const struct store_answer told = {
    .status = 201,
    .headers = "Status: 201\r\nLocation: /orders/7\r\n",
    .headers_length = 34,
    .body = "told by a person\0",
    .body_length = 17,
    .retention = 3600000,
    .natural_done = true,
    .location = "/orders/7",
    .location_length = 9,
};

static struct config_store config;
static struct store *store;
static struct connection connection;
static struct store_claim claim;
static struct change_now now;

static void set_up(void)
{
	config = database_config();
	store = store_new(&config);
	ck_assert_ptr_nonnull(store);
	connection_init(&connection, &config, CONNECTION_ADMIN, "oncewrap-admin");
	claim = claim_new();
}

static void tear_down(void)
{
	connection_close(&connection);
	store_free(store);
	database_leave();
}

static const char *change_name(enum change_result result)
{
	static const char *const names[] = {
	    [CHANGE_DONE] = "done", [CHANGE_GONE] = "gone",     [CHANGE_MOVED] = "moved",
	    [CHANGE_LIVE] = "live", [CHANGE_FAILED] = "failed",
	};
	return names[result];
}

static void expect_change(enum change_result found, enum change_result expected)
{
	ck_assert_msg(found == expected, "%s, not %s: %s", change_name(found),
		      change_name(expected), found == CHANGE_FAILED ? test_error()->message : "");
}

/* The record as somebody saw it in that state. */
static struct change_seen seen_in(enum record_state state)
{
	struct change_seen seen = {.state = state};
	memcpy(seen.id, claim.id, DIGEST_LENGTH);
	memcpy(seen.token, claim.token, TOKEN_LENGTH);
	return seen;
}

static enum change_result release_seen(enum record_state state, bool live)
{
	struct change_seen seen = seen_in(state);
	return change_release(&connection, &seen, live, &author, &now, clock_now() + PATIENCE,
			      test_error());
}

static enum change_result apply_seen(enum record_state state)
{
	struct change_seen seen = seen_in(state);
	return change_applied(&connection, &seen, &told, &author, &now, clock_now() + PATIENCE,
			      test_error());
}

/* Does the claim's record fulfil the condition? */
static bool record_is(const char *condition)
{
	return database_number("SELECT COUNT(*) FROM once_record WHERE %s AND %s", where(&claim),
			       condition) == 1;
}

static int64_t entries(void)
{
	return database_number("SELECT COUNT(*) FROM once_audit WHERE record_id = x'%s'",
			       hex(claim.id, DIGEST_LENGTH));
}

static void make_unknown(void)
{
	claim_first(store, &claim);
	expect(
	    store_mark_unknown(store, claim.id, claim.token, clock_now() + PATIENCE, test_error()),
	    STORE_DONE);
}

static void put_in_state(enum record_state state)
{
	claim_lapsed(store, &claim);
	database_run("UPDATE once_record SET state = '%s', status = 200, settled_at ="
		     " UTC_TIMESTAMP(6) WHERE %s",
		     record_state_name(state), where(&claim));
}

/* The life cycle says from which states a person's moves leave; the trail tells of those alone. */
START_TEST(a_record_is_freed_or_resolved_from_the_states_that_the_life_cycle_allows)
{
	for (unsigned state = RECORD_IN_FLIGHT; state <= RECORD_EXPIRED; state++) {
		bool frees = record_may_move(MOVE_FREE, (enum record_state)state);
		claim = claim_new();
		put_in_state((enum record_state)state);
		expect_change(release_seen((enum record_state)state, false),
			      frees ? CHANGE_DONE : CHANGE_MOVED);
		ck_assert_int_eq(now.is_there, !frees);
		ck_assert_int_eq(entries(), frees);
		bool resolves = record_may_move(MOVE_RESOLVE, (enum record_state)state);
		claim = claim_new();
		put_in_state((enum record_state)state);
		expect_change(apply_seen((enum record_state)state),
			      resolves ? CHANGE_DONE : CHANGE_MOVED);
		ck_assert_int_eq(now.state, resolves ? (int)RECORD_COMPLETE : (int)state);
		ck_assert_int_eq(entries(), resolves);
	}
}
END_TEST

START_TEST(a_change_leaves_who_where_by_what_why_and_from_what_to_what)
{
	make_unknown();
	expect_change(apply_seen(RECORD_UNKNOWN), CHANGE_DONE);
	ck_assert_int_eq(
	    database_number("SELECT COUNT(*) FROM once_audit WHERE record_id = x'%s'"
			    " AND token = x'%s' AND state_before = 'unknown'"
			    " AND state_after = 'complete' AND who = 'root (sudo: alice)'"
			    " AND host = 'db1' AND program = 'once-test'"
			    " AND reason = 'asked the bank; it''s \\\\done'''"
			    " AND ABS(TIMESTAMPDIFF(SECOND, done_at, UTC_TIMESTAMP(6))) < 60",
			    hex(claim.id, DIGEST_LENGTH), hex(claim.token, TOKEN_LENGTH)),
	    1);
	claim = claim_new();
	make_unknown();
	expect_change(release_seen(RECORD_UNKNOWN, false), CHANGE_DONE);
	ck_assert_int_eq(database_number("SELECT COUNT(*) FROM once_audit WHERE record_id = x'%s'"
					 " AND state_before = 'unknown' AND state_after IS NULL",
					 hex(claim.id, DIGEST_LENGTH)),
			 1);
}
END_TEST

/* Without the trail's row there is no change either. */
START_TEST(a_change_that_cannot_be_told_of_is_not_made)
{
	struct change_seen seen = seen_in(RECORD_UNKNOWN);
	char long_reason[AUDIT_REASON_LENGTH + 2];
	struct audit_author wordy = author;
	make_unknown();
	memset(long_reason, 'a', sizeof(long_reason) - 1);
	long_reason[sizeof(long_reason) - 1] = '\0';
	wordy.reason = long_reason;
	expect_change(change_release(&connection, &seen, false, &wordy, &now,
				     clock_now() + PATIENCE, test_error()),
		      CHANGE_FAILED);
	ck_assert(record_is("state = 'unknown'"));
	ck_assert_int_eq(entries(), 0);
	expect_change(release_seen(RECORD_UNKNOWN, false), CHANGE_DONE);
}
END_TEST

START_TEST(an_applied_outcome_is_replayed_for_a_fresh_retention)
{
	struct record record;
	record_init(&record);
	make_unknown();
	expire(&claim);
	expect_change(apply_seen(RECORD_UNKNOWN), CHANGE_DONE);
	ck_assert(now.is_there);
	ck_assert_int_eq(now.state, RECORD_COMPLETE);
	expect(store_read(store, claim.id, &record, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	ck_assert_int_eq(record.state, RECORD_COMPLETE);
	ck_assert(!record.expired);
	ck_assert_int_eq(record.status, 201);
	ck_assert_uint_eq(record.headers.length, told.headers_length);
	ck_assert_mem_eq(record.headers.data, told.headers, told.headers_length);
	ck_assert_uint_eq(record.body.length, told.body_length);
	ck_assert_mem_eq(record.body.data, told.body, told.body_length);
	ck_assert(
	    record_is("ABS(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), expires_at) - 3600) < 60"));
	record_free(&record);
}
END_TEST

static enum store_result settle_late(struct store *by, const struct store_claim *own)
{
	struct store_answer answer = {
	    .status = 200, .headers = "", .body = "late", .body_length = 4, .retention = 86400000};
	return store_settle(by, own->id, own->token, &answer, clock_now() + PATIENCE, test_error());
}

/* Its token was the record's no more: what a person said stands, and the worker must not believe
 * that its answer does. */
START_TEST(an_owner_that_comes_back_after_a_person_is_told_so)
{
	make_unknown();
	expect_change(apply_seen(RECORD_UNKNOWN), CHANGE_DONE);
	expect(settle_late(store, &claim), STORE_NO_ROW);
	ck_assert(record_is("status = 201"));
	claim = claim_new();
	make_unknown();
	expect_change(release_seen(RECORD_UNKNOWN, false), CHANGE_DONE);
	expect(settle_late(store, &claim), STORE_NO_ROW);
	ck_assert_int_eq(
	    database_number("SELECT COUNT(*) FROM once_record WHERE %s", where(&claim)), 0);
}
END_TEST

START_TEST(a_key_that_was_freed_is_claimed_at_once)
{
	make_unknown();
	expect_change(release_seen(RECORD_UNKNOWN, false), CHANGE_DONE);
	ck_assert(!now.is_there);
	struct store_claim again = claim_again(&claim);
	claim_first(store, &again);
}
END_TEST

START_TEST(a_record_with_a_checkpoint_is_kept_and_taken_over_from_there)
{
	uint32_t attempt;
	make_unknown();
	database_run("UPDATE once_record SET checkpoint = 'half' WHERE %s", where(&claim));
	expect_change(release_seen(RECORD_UNKNOWN, false), CHANGE_DONE);
	ck_assert(now.is_there);
	ck_assert_int_eq(now.state, RECORD_RELEASED);
	ck_assert_str_eq(database_text("SELECT state_after FROM once_audit WHERE record_id = x'%s'",
				       hex(claim.id, DIGEST_LENGTH)),
			 "released");
	struct store_claim again = claim_again(&claim);
	expect(store_take_over(store, &again, claim.token, &attempt, clock_now() + PATIENCE,
			       test_error()),
	       STORE_DONE);
	ck_assert_uint_eq(attempt, 2);
}
END_TEST

/* What may have happened to a record since somebody looked: how it is found, and the state told. */
START_TEST(what_is_not_as_it_was_seen_stays_as_it_is)
{
	struct record record;
	record_init(&record);
	claim_lapsed(store, &claim);
	settle_with(store, &claim, 200, "made");
	expect_change(release_seen(RECORD_IN_FLIGHT, false), CHANGE_MOVED);
	ck_assert_int_eq(now.state, RECORD_COMPLETE);
	ck_assert(!now.other_token);
	expect_change(apply_seen(RECORD_IN_FLIGHT), CHANGE_MOVED);
	ck_assert(record_is("body = 'made'"));

	claim = claim_new();
	expect_change(release_seen(RECORD_IN_FLIGHT, false), CHANGE_GONE);
	ck_assert(!now.is_there);
	expect_change(apply_seen(RECORD_IN_FLIGHT), CHANGE_GONE);

	claim_lapsed(store, &claim);
	struct store_claim taker = claim_again(&claim);
	uint32_t attempt;
	expect(store_close_lease(store, claim.token, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	expect(store_take_over(store, &taker, claim.token, &attempt, clock_now() + PATIENCE,
			       test_error()),
	       STORE_DONE);
	expect_change(release_seen(RECORD_IN_FLIGHT, true), CHANGE_MOVED);
	ck_assert_int_eq(now.state, RECORD_IN_FLIGHT);
	ck_assert(now.other_token);
	ck_assert_int_eq(entries(), 0);
	record_free(&record);
}
END_TEST

/* The lease as it may stand beside a record in flight, and whether it is somebody's. */
static const struct {
	const char *record;  /* lease_until */
	const char *renewed; /* NULL: never */
	bool lives;
} leases[] = {
    {"UTC_TIMESTAMP(6) + INTERVAL 1 HOUR", NULL, true},
    {"UTC_TIMESTAMP(6) + INTERVAL 1 HOUR", "'1970-01-01'", true},
    {"UTC_TIMESTAMP(6) - INTERVAL 1 SECOND", "UTC_TIMESTAMP(6) + INTERVAL 1 HOUR", true},
    {"UTC_TIMESTAMP(6) - INTERVAL 1 SECOND", NULL, false},
    {"UTC_TIMESTAMP(6) - INTERVAL 1 SECOND", "UTC_TIMESTAMP(6) - INTERVAL 1 SECOND", false},
    {"UTC_TIMESTAMP(6) - INTERVAL 1 SECOND", "'1970-01-01'", false},
};
#define LEASES ((int)(sizeof(leases) / sizeof(leases[0])))

static void make_lease(int which)
{
	claim_first(store, &claim);
	database_run("UPDATE once_record SET lease_until = %s WHERE %s", leases[which].record,
		     where(&claim));
	if (leases[which].renewed != NULL)
		database_run("INSERT INTO once_lease VALUES (x'%s', %s)",
			     hex(claim.token, TOKEN_LENGTH), leases[which].renewed);
}

static const char *lease_row(void)
{
	return database_text("SELECT lease_until FROM once_lease WHERE token = x'%s'",
			     hex(claim.token, TOKEN_LENGTH));
}

START_TEST(a_record_in_flight_moves_only_once_its_lease_is_closed)
{
	bool lives = leases[_i].lives;
	make_lease(_i);
	char before[32];
	snprintf(before, sizeof(before), "%s", lease_row());
	expect_change(apply_seen(RECORD_IN_FLIGHT), lives ? CHANGE_LIVE : CHANGE_DONE);
	if (lives) {
		ck_assert_str_eq(lease_row(), before);
		ck_assert(record_is("state = 'in_flight'"));
		ck_assert_int_eq(entries(), 0);
	}
	claim = claim_new();
	make_lease(_i);
	snprintf(before, sizeof(before), "%s", lease_row());
	expect_change(release_seen(RECORD_IN_FLIGHT, false), lives ? CHANGE_LIVE : CHANGE_DONE);
	ck_assert_str_eq(lease_row(), lives ? before : "1970-01-01 00:00:00.000000");
}
END_TEST

START_TEST(a_running_lease_is_taken_where_that_is_asked_for_and_its_owner_learns_it)
{
	make_lease(_i);
	expect_change(release_seen(RECORD_IN_FLIGHT, true), CHANGE_DONE);
	struct renewal *renewal = renewal_new(store);
	ck_assert_int_eq(renew(renewal, &claim, 60000), RENEWAL_LOST);
	renewal_free(renewal);
	expect(settle_late(store, &claim), STORE_NO_ROW);
}
END_TEST

static int64_t natural_rows(const struct store_natural *natural, const char *condition)
{
	return database_number("SELECT COUNT(*) FROM once_natural_key WHERE natural_id = x'%s'"
			       " AND %s",
			       hex(natural->id, DIGEST_LENGTH), condition);
}

START_TEST(the_natural_key_is_free_with_its_record)
{
	struct store_natural natural = natural_new();
	make_unknown();
	hold_first(store, &claim, &natural);
	expect_change(release_seen(RECORD_UNKNOWN, false), CHANGE_DONE);
	ck_assert_int_eq(natural_rows(&natural, "TRUE"), 0);
	/* as well where the record is kept */
	claim = claim_new();
	make_unknown();
	database_run("UPDATE once_record SET checkpoint = 'half' WHERE %s", where(&claim));
	hold_first(store, &claim, &natural);
	expect_change(release_seen(RECORD_UNKNOWN, false), CHANGE_DONE);
	ck_assert_int_eq(natural_rows(&natural, "TRUE"), 0);
}
END_TEST

START_TEST(the_natural_key_is_settled_with_its_record)
{
	struct store_natural natural = natural_new(), other = natural_new();
	struct store_natural_holder holder;
	struct store_claim rival = claim_new();
	make_unknown();
	hold_first(store, &claim, &natural);
	claim_first(store, &rival);
	hold_first(store, &rival, &other);
	expect_change(apply_seen(RECORD_UNKNOWN), CHANGE_DONE);
	ck_assert_int_eq(natural_rows(&other, "settled_at IS NULL"), 1);
	expect(store_hold_natural(store, &natural, rival.id, rival.token, &holder,
				  clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	ck_assert_mem_eq(holder.record, claim.id, DIGEST_LENGTH);
	ck_assert_int_gt(holder.settled_ms, 0);
	ck_assert_str_eq(buffer_text(&holder.location), "/orders/7");
	buffer_free(&holder.location);
	expect(store_take_natural(store, &natural, holder.token, rival.id, rival.token,
				  clock_now() + PATIENCE, test_error()),
	       STORE_NO_ROW);
}
END_TEST

START_TEST(an_answer_by_which_nothing_was_done_frees_the_natural_key)
{
	struct store_natural natural = natural_new();
	struct store_answer refusal = told;
	struct change_seen seen;
	refusal.status = 422;
	refusal.natural_done = false;
	make_unknown();
	hold_first(store, &claim, &natural);
	seen = seen_in(RECORD_UNKNOWN);
	expect_change(change_applied(&connection, &seen, &refusal, &author, &now,
				     clock_now() + PATIENCE, test_error()),
		      CHANGE_DONE);
	ck_assert(record_is("state = 'complete' AND status = 422"));
	struct store_claim rival = claim_new();
	claim_first(store, &rival);
	hold_first(store, &rival, &natural);
}
END_TEST

/* Whoever is suspended, or cut off, in the middle of a change holds the record's lock: the server
 * ends that, long before a worker gives up its settlement. */
START_TEST(a_change_that_stops_half_way_does_not_keep_the_worker_from_its_record)
{
	struct query query;
	claim_first(store, &claim);
	ck_assert_int_eq(query_begin(&connection, CLOCK_NEVER, test_error()), 0);
	query_init(&query, &connection);
	buffer_append_text(&query.text, "SELECT token FROM once_record WHERE id = ? FOR UPDATE");
	query_add_bytes(&query, claim.id, DIGEST_LENGTH);
	ck_assert_int_eq(query_run(&query, CLOCK_NEVER, test_error()), 0);
	query_free(&query);
	expect(settle_late(store, &claim), STORE_DONE);
	ck_assert_int_lt(query_commit(&connection, CLOCK_NEVER, test_error()), 0);
}
END_TEST

/* Somebody else's work on the record is waited for, and what it does is found. */
START_TEST(a_row_that_is_locked_is_waited_for)
{
	char then[256];
	make_unknown();
	snprintf(then, sizeof(then),
		 "UPDATE once_record SET state = 'complete', status = 200 WHERE %s", where(&claim));
	pid_t other = database_hold_until_waited_for(&claim, then);
	expect_change(release_seen(RECORD_UNKNOWN, false), CHANGE_MOVED);
	ck_assert_int_eq(now.state, RECORD_COMPLETE);
	database_end(other);
}
END_TEST

/* A server that has been restarted since the last statement costs a new connection. */
START_TEST(a_lost_connection_is_made_anew)
{
	make_unknown();
	struct change_seen seen = seen_in(RECORD_COMPLETE);
	expect_change(change_release(&connection, &seen, false, &author, &now,
				     clock_now() + PATIENCE, test_error()),
		      CHANGE_MOVED);
	database_run("KILL %lu", mysql_thread_id(connection.mysql));
	expect_change(release_seen(RECORD_UNKNOWN, false), CHANGE_DONE);
	ck_assert_int_eq(entries(), 1);
}
END_TEST

/* What happens to each statement of a change in turn, the commit being the last. */
static const struct {
	const char *name;
	enum proxy_harm harm;
	unsigned code;
	bool to_commit; /* also to that: of a refusal it would be a lie */
} harms[] = {
    {"the request is lost", PROXY_LOSE_REQUEST, 0, true},
    {"the reply is lost", PROXY_LOSE_REPLY, 0, true},
    {"a deadlock", PROXY_FAIL_END, ER_LOCK_DEADLOCK, false},
};
#define HARMS ((int)(sizeof(harms) / sizeof(harms[0])))

/* How many a change of a lapsed record with a natural key has: lock, close, move, look for natural
 * keys, move one, audit, commit. */
enum { CHANGE_STATEMENTS = 7 };

static void lapse_with_natural(struct store_natural *natural)
{
	claim = claim_new();
	*natural = natural_new();
	claim_lapsed(store, &claim);
	hold_first(store, &claim, natural);
}

START_TEST(a_change_is_made_once_whatever_happens_to_one_of_its_statements)
{
	struct store_natural natural;
	struct proxy proxy;
	struct config_store shaky = config;
	connection_close(&connection);
	proxy_start(&proxy, getenv("STORE_SCRATCH"), config.socket);
	shaky.socket = proxy.socket;
	connection_init(&connection, &shaky, CONNECTION_ADMIN, "oncewrap-admin");
	int count = harms[_i].to_commit ? CHANGE_STATEMENTS : CHANGE_STATEMENTS - 1;
	for (int i = 0; i < count; i++) {
		lapse_with_natural(&natural);
		proxy_harm_later(&proxy, (unsigned)i, harms[_i].harm, harms[_i].code);
		expect_change(release_seen(RECORD_IN_FLIGHT, false), CHANGE_DONE);
		ck_assert_msg(!proxy_is_armed(&proxy), "%s, %d", harms[_i].name, i);
		ck_assert(!now.is_there);
		ck_assert_int_eq(entries(), 1);
		ck_assert_int_eq(natural_rows(&natural, "TRUE"), 0);
		lapse_with_natural(&natural);
		proxy_harm_later(&proxy, (unsigned)i, harms[_i].harm, harms[_i].code);
		expect_change(apply_seen(RECORD_IN_FLIGHT), CHANGE_DONE);
		ck_assert_msg(!proxy_is_armed(&proxy), "%s, %d", harms[_i].name, i);
		ck_assert_int_eq(now.state, RECORD_COMPLETE);
		ck_assert(!now.other_token);
		ck_assert_int_eq(entries(), 1);
		ck_assert(record_is("status = 201"));
		ck_assert_int_eq(natural_rows(&natural, "settled_at IS NOT NULL"), 1);
	}
	proxy_stop(&proxy);
}
END_TEST

/* The kill may come when only the reply is owed. */
START_TEST(a_commit_that_was_stopped_is_looked_at_and_told_as_done)
{
	struct proxy proxy;
	struct config_store shaky = config;
	make_unknown();
	connection_close(&connection);
	proxy_start(&proxy, getenv("STORE_SCRATCH"), config.socket);
	shaky.socket = proxy.socket;
	connection_init(&connection, &shaky, CONNECTION_ADMIN, "oncewrap-admin");
	/* lock, move, look for natural keys, audit */
	proxy_harm_later(&proxy, 4, PROXY_FAIL_END, ER_STATEMENT_TIMEOUT);
	expect_change(release_seen(RECORD_UNKNOWN, false), CHANGE_DONE);
	ck_assert(!proxy_is_armed(&proxy));
	ck_assert(!now.is_there);
	ck_assert_int_eq(entries(), 1);
	proxy_stop(&proxy);
}
END_TEST

START_TEST(a_commit_in_doubt_that_cannot_be_looked_at_is_told_as_not_known)
{
	struct proxy proxy;
	struct config_store shaky = config;
	make_unknown();
	connection_close(&connection);
	proxy_start(&proxy, getenv("STORE_SCRATCH"), config.socket);
	shaky.socket = proxy.socket;
	connection_init(&connection, &shaky, CONNECTION_ADMIN, "oncewrap-admin");
	expect_change(release_seen(RECORD_COMPLETE, false), CHANGE_MOVED);
	/* lock, move, look for natural keys, audit; and no way back */
	proxy_harm_later(&proxy, 4, PROXY_LOSE_REPLY, 0);
	ck_assert_int_eq(unlink(proxy.socket), 0);
	expect_change(release_seen(RECORD_UNKNOWN, false), CHANGE_FAILED);
	ck_assert_ptr_nonnull(strstr(test_error()->message, "whether it was done is not known"));
	ck_assert_int_eq(entries(), 1);
	proxy_stop(&proxy);
}
END_TEST

enum { ROUNDS = 300, OWNER = 0, PERSON = 1 };

/* What the person does in a race, what the owner has then, and how its record stands before. */
static const struct race {
	const char *name;
	bool applied;
	bool unknown;
} races[] = {
    {"release of a lapsed lease", false, false},
    {"release of an unknown outcome", false, true},
    {"applied, from a lapsed lease", true, false},
    {"applied, from an unknown outcome", true, true},
};
#define RACES ((int)(sizeof(races) / sizeof(races[0])))

/* Shared by the two. */
static struct arena {
	pthread_barrier_t barrier;
	struct store_claim claims[ROUNDS];
	atomic_int outcomes[2];
	atomic_int wins[2];
} * arena;

static void meet(void)
{
	pthread_barrier_wait(&arena->barrier);
}

static void make_arena(const struct race *race)
{
	pthread_barrierattr_t shared;
	arena =
	    mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(arena, MAP_FAILED);
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	ck_assert_int_eq(pthread_barrier_init(&arena->barrier, &shared, 2), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		arena->claims[i] = claim_new();
		arena->claims[i].lease = 1;
		claim_first(store, &arena->claims[i]);
		if (race->unknown)
			expect(store_mark_unknown(store, arena->claims[i].id,
						  arena->claims[i].token, clock_now() + PATIENCE,
						  test_error()),
			       STORE_DONE);
	}
	/* the last lease too is over */
	while (database_number("SELECT COUNT(*) FROM once_record WHERE %s AND"
			       " lease_until > UTC_TIMESTAMP(6)",
			       where(&arena->claims[ROUNDS - 1])) != 0)
		;
}

/* As many different moments as a round may take. */
static void stroll(unsigned most)
{
	unsigned value;
	ck_assert_int_eq(random_bytes(&value, sizeof(value)), 0);
	struct timespec span = {.tv_nsec = (long)(value % most) * 1000};
	nanosleep(&span, NULL);
}

static bool act(const struct race *race, unsigned number)
{
	enum record_state state = race->unknown ? RECORD_UNKNOWN : RECORD_IN_FLIGHT;
	if (number == OWNER) {
		enum store_result result = settle_late(store, &claim);
		ck_assert_msg(result == STORE_DONE || result == STORE_NO_ROW, "%s",
			      test_error()->message);
		return result == STORE_DONE;
	}
	enum change_result result = race->applied ? apply_seen(state) : release_seen(state, false);
	ck_assert_msg(result == CHANGE_DONE || result == CHANGE_MOVED, "%s: %s",
		      change_name(result), test_error()->message);
	/* The tool says which. */
	if (result == CHANGE_MOVED)
		ck_assert_int_eq(now.state, RECORD_COMPLETE);
	return result == CHANGE_DONE;
}

/* What stands in the database is what the winner did, and the trail tells of the person alone. */
static void check_round(const struct race *race, unsigned round)
{
	bool person = arena->outcomes[PERSON] != 0;
	ck_assert_msg(arena->outcomes[OWNER] != arena->outcomes[PERSON], "%s, round %u: both %d",
		      race->name, round, (int)person);
	ck_assert_int_eq(entries(), person);
	if (!person)
		ck_assert(record_is("body = 'late'"));
	else if (race->applied)
		ck_assert(record_is("status = 201"));
	else
		ck_assert_int_eq(
		    database_number("SELECT COUNT(*) FROM once_record WHERE %s", where(&claim)), 0);
}

static void run_race(const struct race *race, unsigned number)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		claim = arena->claims[round];
		meet();
		/* each is the first in every other round, more or less */
		stroll(round % 2 == number ? 50 : 2000);
		arena->outcomes[number] = act(race, number);
		arena->wins[number] += arena->outcomes[number];
		meet();
		if (number == OWNER)
			check_round(race, round);
	}
}

START_TEST(a_person_or_the_worker_that_is_just_completing_wins_and_the_other_knows)
{
	const struct race *race = &races[_i];
	make_arena(race);
	store_free(store);
	database_leave();
	for (unsigned number = 0; number < 2; number++) {
		pid_t rival = fork();
		ck_assert_int_ge(rival, 0);
		if (rival != 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		store = store_new(&config);
		run_race(race, number);
		connection_close(&connection);
		store_free(store);
		_exit(0);
	}
	store = NULL;
	database_end(-1);
	database_end(-1);
	/* that there was a race at all */
	ck_assert_int_gt(arena->wins[OWNER], 0);
	ck_assert_int_gt(arena->wins[PERSON], 0);
	ck_assert_int_eq(arena->wins[OWNER] + arena->wins[PERSON], ROUNDS);
	munmap(arena, sizeof(*arena));
}
END_TEST

TCase *change_tests(void)
{
	TCase *tests = tcase_create("change");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests,
		       a_record_is_freed_or_resolved_from_the_states_that_the_life_cycle_allows);
	tcase_add_test(tests, a_change_leaves_who_where_by_what_why_and_from_what_to_what);
	tcase_add_test(tests, a_change_that_cannot_be_told_of_is_not_made);
	tcase_add_test(tests, an_applied_outcome_is_replayed_for_a_fresh_retention);
	tcase_add_test(tests, an_owner_that_comes_back_after_a_person_is_told_so);
	tcase_add_test(tests, a_key_that_was_freed_is_claimed_at_once);
	tcase_add_test(tests, a_record_with_a_checkpoint_is_kept_and_taken_over_from_there);
	tcase_add_test(tests, what_is_not_as_it_was_seen_stays_as_it_is);
	tcase_add_loop_test(tests, a_record_in_flight_moves_only_once_its_lease_is_closed, 0,
			    LEASES);
	tcase_add_loop_test(
	    tests, a_running_lease_is_taken_where_that_is_asked_for_and_its_owner_learns_it, 0,
	    LEASES);
	tcase_add_test(tests, the_natural_key_is_free_with_its_record);
	tcase_add_test(tests, the_natural_key_is_settled_with_its_record);
	tcase_add_test(tests, an_answer_by_which_nothing_was_done_frees_the_natural_key);
	tcase_add_test(tests,
		       a_change_that_stops_half_way_does_not_keep_the_worker_from_its_record);
	tcase_add_test(tests, a_row_that_is_locked_is_waited_for);
	tcase_add_test(tests, a_lost_connection_is_made_anew);
	tcase_add_loop_test(tests, a_change_is_made_once_whatever_happens_to_one_of_its_statements,
			    0, HARMS);
	tcase_add_test(tests, a_commit_that_was_stopped_is_looked_at_and_told_as_done);
	tcase_add_test(tests, a_commit_in_doubt_that_cannot_be_looked_at_is_told_as_not_known);
	tcase_add_loop_test(tests,
			    a_person_or_the_worker_that_is_just_completing_wins_and_the_other_knows,
			    0, RACES);
	return tests;
}
