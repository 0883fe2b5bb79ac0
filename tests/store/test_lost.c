/* SPDX-License-Identifier: ISC */
/* Connections and servers that go away at every moment (docs/design.md section 4, rules 1, 2 and 4;
 * cases C22, C23). */
#include <config.h>

#include "tests/store/themes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/roundtrip.h"
#include "tests/lib/proxy.h"
#include "tests/store/database.h"

static struct config_store config, shaky_config;
static struct store *store; /* to prepare with */
static struct store *shaky; /* behind the proxy */
static struct proxy proxy;
static struct record record;
static struct store_claim claim, other;
static struct store_natural natural;

static void set_up(void)
{
	config = shaky_config = database_config();
	proxy_start(&proxy, getenv("STORE_SCRATCH"), config.socket);
	shaky_config.socket = proxy.socket;
	store = store_new(&config);
	shaky = store_new(&shaky_config);
	ck_assert(store != NULL && shaky != NULL);
	record_init(&record);
	claim = claim_new();
	other = claim_again(&claim);
	natural = natural_new();
}

static void tear_down(void)
{
	record_free(&record);
	store_free(shaky);
	store_free(store);
	proxy_stop(&proxy);
	database_leave();
}

static int64_t soon(void)
{
	return clock_now() + PATIENCE;
}

/* Each step of the store: what it needs, the step by `shaky`, and what must then be in the row. */
struct step {
	const char *name;
	void (*prepare)(void);
	enum store_result (*run)(void);
	const char *outcome; /* an SQL condition over the row; NULL: the row is gone */
	bool returns_row;
};

static void nothing(void)
{
}

static void claimed(void)
{
	claim_first(store, &claim);
}

static void expired(void)
{
	claim_first(store, &claim);
	settle_with(store, &claim, 200, "");
	expire(&claim);
}

static void lapsed(void)
{
	claim_lapsed(store, &claim);
}

static void closed(void)
{
	lapsed();
	expect(store_close_lease(store, claim.token, soon(), test_error()), STORE_DONE);
}

static void checkpointed(void)
{
	claimed();
	database_run("UPDATE once_record SET checkpoint = 'half' WHERE %s", where(&claim));
}

static enum store_result run_claim(void)
{
	enum store_result result = store_claim(shaky, &claim, &record, soon(), test_error());
	if (result == STORE_DONE)
		ck_assert(is_mine(&record, &claim));
	return result;
}

static enum store_result run_read(void)
{
	return store_read(shaky, claim.id, &record, soon(), test_error());
}

static enum store_result run_reclaim(void)
{
	enum store_result result =
	    store_reclaim(shaky, &other, claim.token, 0, soon(), test_error());
	claim = other;
	return result;
}

static enum store_result run_close(void)
{
	return store_close_lease(shaky, claim.token, soon(), test_error());
}

static enum store_result run_take_over(void)
{
	uint32_t attempt = 0;
	enum store_result result =
	    store_take_over(shaky, &other, claim.token, &attempt, soon(), test_error());
	if (result == STORE_DONE)
		ck_assert_uint_eq(attempt, 2);
	claim = other;
	return result;
}

static enum store_result run_lapse(void)
{
	return store_lapse(shaky, claim.id, claim.token, soon(), test_error());
}

static enum store_result run_settle(void)
{
	struct store_answer answer = {.status = 201,
				      .headers = "A: b\r\n",
				      .headers_length = 6,
				      .body = "made",
				      .body_length = 4,
				      .retention = claim.retention};
	return store_settle(shaky, claim.id, claim.token, &answer, soon(), test_error());
}

static enum store_result run_release(void)
{
	return store_release(shaky, claim.id, claim.token, NULL, false, soon(), test_error());
}

static enum store_result run_mark_unknown(void)
{
	return store_mark_unknown(shaky, claim.id, claim.token, soon(), test_error());
}

static void held(void)
{
	claimed();
	hold_first(store, &claim, &natural);
}

static void held_too_long(void)
{
	struct store_claim holder = claim_new();
	claimed();
	claim_first(store, &holder);
	hold_first(store, &holder, &natural);
	memcpy(other.token, holder.token, TOKEN_LENGTH);
	database_run("UPDATE once_natural_key SET window_until = UTC_TIMESTAMP(6)"
		     " WHERE natural_id = x'%s'",
		     hex(natural.id, DIGEST_LENGTH));
}

static enum store_result run_glance(void)
{
	struct store_glance glance;
	enum store_result result =
	    store_glance(shaky, claim.id, claim.owner, &glance, soon(), test_error());
	if (result == STORE_DONE)
		ck_assert_mem_eq(glance.token, claim.token, TOKEN_LENGTH);
	return result;
}

static enum store_result run_hold(void)
{
	struct store_natural_holder holder;
	enum store_result result = store_hold_natural(shaky, &natural, claim.id, claim.token,
						      &holder, soon(), test_error());
	if (result == STORE_DONE)
		ck_assert_mem_eq(holder.token, claim.token, TOKEN_LENGTH);
	buffer_free(&holder.location);
	return result;
}

static enum store_result run_take(void)
{
	return store_take_natural(shaky, &natural, other.token, claim.id, claim.token, soon(),
				  test_error());
}

static enum store_result run_settle_both(void)
{
	struct store_answer answer = {.status = 201,
				      .headers = "",
				      .body = "made",
				      .body_length = 4,
				      .retention = claim.retention,
				      .natural = &natural,
	    .natural_done = true,
				      .location = "/orders/7",
				      .location_length = 9};
	return store_settle(shaky, claim.id, claim.token, &answer, soon(), test_error());
}

static enum store_result run_release_both(void)
{
	enum store_result result =
	    store_release(shaky, claim.id, claim.token, &natural, false, soon(), test_error());
	ck_assert_int_eq(
	    database_number("SELECT COUNT(*) FROM once_natural_key WHERE natural_id = x'%s'",
			    hex(natural.id, DIGEST_LENGTH)),
	    0);
	return result;
}

/* The claim's natural key, beside its record. */
#define HELD                                                                                       \
	"EXISTS (SELECT 1 FROM once_natural_key WHERE record_id = id AND"                          \
	" once_natural_key.token = once_record.token AND once_natural_key.settled_at "

static const struct step steps[] = {
    {"claim", nothing, run_claim, "state = 'in_flight' AND attempt = 1", true},
    {"read", claimed, run_read, "state = 'in_flight' AND attempt = 1", true},
    {"reclaim", expired, run_reclaim, "state = 'in_flight' AND attempt = 1", false},
    {"close", lapsed, run_close, "state = 'in_flight'", true},
    {"take over", closed, run_take_over, "state = 'in_flight' AND attempt = 2", false},
    {"lapse", closed, run_lapse, "state = 'unknown'", false},
    {"settle", claimed, run_settle, "state = 'complete' AND body = 'made'", false},
    {"release", claimed, run_release, NULL, false},
    {"release, kept", checkpointed, run_release, "state = 'released'", false},
    {"mark unknown", claimed, run_mark_unknown, "state = 'unknown'", false},
    {"glance", claimed, run_glance, "state = 'in_flight'", true},
    {"hold", claimed, run_hold, HELD "IS NULL)", true},
    {"take", held_too_long, run_take, HELD "IS NULL)", false},
    {"settle both", held, run_settle_both,
     "state = 'complete' AND " HELD "= once_record.settled_at)", false},
    {"release both", held, run_release_both, NULL, false},
};

#define STEPS ((int)(sizeof(steps) / sizeof(steps[0])))

static void check_outcome(const struct step *step)
{
	int64_t count =
	    database_number("SELECT COUNT(*) FROM once_record WHERE %s AND token = x'%s'"
			    " AND %s",
			    where(&claim), hex(claim.token, TOKEN_LENGTH),
			    step->outcome != NULL ? step->outcome : "TRUE");
	ck_assert_msg(count == (step->outcome != NULL), "%s", step->name);
}

static void run_harmed(const struct step *step, enum proxy_harm harm)
{
	step->prepare();
	proxy_harm(&proxy, harm, 0);
	enum store_result result = step->run();
	ck_assert(!proxy_is_armed(&proxy));
	/* A lapse that was done unseen moves nothing the second time: the caller reads anew. */
	bool done = result == STORE_DONE || (result == STORE_NO_ROW && step->run == run_lapse &&
					     harm != PROXY_LOSE_REQUEST);
	ck_assert_msg(done, "%s: %s: %s", step->name, result_name(result), test_error()->message);
	check_outcome(step);
}

START_TEST(a_step_whose_request_is_lost_is_done_once)
{
	run_harmed(&steps[_i], PROXY_LOSE_REQUEST);
}
END_TEST

START_TEST(a_step_whose_reply_is_lost_is_done_once)
{
	run_harmed(&steps[_i], PROXY_LOSE_REPLY);
}
END_TEST

START_TEST(a_step_whose_results_end_is_lost_is_done_once)
{
	run_harmed(&steps[_i], PROXY_LOSE_END);
}
END_TEST

static int64_t resets(void)
{
	return database_number("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
			       " WHERE VARIABLE_NAME = 'COM_STMT_RESET'");
}

/* Rule 1, and rule 4: the statement is reset, and usable over the same connection, at once. */
START_TEST(a_row_is_not_believed_when_the_results_end_is_an_error)
{
	const struct step *step = &steps[_i];
	if (!step->returns_row)
		return;
	step->prepare();
	expect(store_connect(shaky, soon(), test_error()), STORE_DONE);
	proxy_harm(&proxy, PROXY_FAIL_END, 1290);
	int64_t before = resets();
	ck_assert_msg(step->run() == STORE_DOWN, "%s", step->name);
	ck_assert_int_eq(resets() - before, 1);
	ck_assert_ptr_nonnull(strstr(test_error()->message, "(1290)"));
	int64_t begin = clock_now();
	ck_assert_msg(step->run() == STORE_DONE, "%s: %s", step->name, test_error()->message);
	ck_assert_int_lt(clock_now() - begin, shaky_config.read_timeout / 4);
	ck_assert_uint_eq(proxy_connections(&proxy), 1);
}
END_TEST

/* As Galera does it: the row is sent, and certification fails at commit. */
START_TEST(a_deadlock_at_the_results_end_is_answered_by_the_same_statement)
{
	const struct step *step = &steps[_i];
	if (!step->returns_row)
		return;
	step->prepare();
	proxy_harm(&proxy, PROXY_FAIL_END, 1213);
	ck_assert_msg(step->run() == STORE_DONE, "%s: %s", step->name, test_error()->message);
	ck_assert_uint_eq(proxy_executions(&proxy), 2);
	ck_assert_uint_eq(proxy_preparations(&proxy), 1);
	ck_assert_uint_eq(proxy_connections(&proxy), 1);
}
END_TEST

START_TEST(a_connection_that_was_killed_while_idle_is_made_anew)
{
	claim_first(shaky, &claim);
	database_run("KILL USER oncewrap");
	ck_assert_int_eq(run_settle(), STORE_DONE);
	ck_assert_uint_eq(proxy_connections(&proxy), 2);
}
END_TEST

static const char *const kills[] = {"KILL USER oncewrap", "KILL QUERY USER oncewrap"};

START_TEST(a_settlement_that_is_killed_while_it_waits_is_issued_again)
{
	claimed();
	pid_t holder = database_hold_until_waited_for(&claim, kills[_i]);
	ck_assert_int_eq(run_settle(), STORE_DONE);
	database_end(holder);
	check_outcome(&steps[6]);
}
END_TEST

/* Started now, there again after a while. */
static pid_t restart_in_background(void)
{
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		database_server("restart");
		_exit(0);
	}
	return child;
}

/* Cases C22, C23. */
START_TEST(a_settlement_outlives_a_kill_9_of_the_server)
{
	claim_first(shaky, &claim);
	database_leave();
	database_server("kill9");
	pid_t restart = restart_in_background();
	ck_assert_int_eq(run_settle(), STORE_DONE);
	database_end(restart);
	check_outcome(&steps[6]);
}
END_TEST

START_TEST(a_server_that_is_away_fails_claims_fast_and_is_found_again)
{
	store_free(shaky);
	shaky = store_new(&config);
	database_leave();
	database_server("kill9");
	int64_t begin = clock_now();
	enum store_result first = store_claim(shaky, &claim, &record, begin + 300, test_error());
	int64_t waited = clock_now() - begin;
	begin = clock_now();
	enum store_result second =
	    store_claim(shaky, &claim, &record, begin + PATIENCE, test_error());
	int64_t known = clock_now() - begin;
	database_server("restart");
	ck_assert_int_eq(first, STORE_DOWN);
	ck_assert_int_ge(waited, 300);
	ck_assert_int_eq(second, STORE_DOWN);
	ck_assert_int_lt(known, 1000);
	ck_assert_ptr_nonnull(strstr(test_error()->message, "see whether the database runs"));
	while (run_claim() != STORE_DONE)
		ck_assert_int_lt(clock_now() - begin, PATIENCE);
}
END_TEST

START_TEST(a_claim_that_meets_a_silent_server_is_uncertain_at_its_deadline)
{
	struct store_claim before = claim_new();
	claim_first(shaky, &before); /* prepared, so that the statement itself is what is lost */
	database_leave();
	database_server("freeze");
	int64_t begin = clock_now();
	enum store_result result = store_claim(shaky, &claim, &record, begin + 300, test_error());
	int64_t waited = clock_now() - begin;
	database_server("thaw");
	ck_assert_int_eq(result, STORE_UNCERTAIN);
	ck_assert_int_ge(waited, 300);
	ck_assert_int_lt(waited, shaky_config.read_timeout / 4);
	ck_assert_int_eq(run_claim(), STORE_DONE);
	check_outcome(&steps[0]);
}
END_TEST

START_TEST(a_server_that_does_not_greet_is_down_and_nothing_was_done)
{
	shaky_config.connect_timeout = 300;
	database_server("freeze");
	int64_t begin = clock_now();
	enum store_result result = store_claim(shaky, &claim, &record, begin + 600, test_error());
	int64_t waited = clock_now() - begin;
	database_server("thaw");
	ck_assert_int_eq(result, STORE_DOWN);
	ck_assert_int_ge(waited, 300);
	ck_assert_int_lt(waited, 5000);
}
END_TEST

START_TEST(a_deadline_that_has_passed_does_not_cost_the_connection)
{
	expect(store_connect(shaky, soon(), test_error()), STORE_DONE);
	expect(store_claim(shaky, &claim, &record, clock_now() - 1, test_error()), STORE_DOWN);
	ck_assert_int_eq(run_claim(), STORE_DONE);
	ck_assert_uint_eq(proxy_connections(&proxy), 1);
}
END_TEST

START_TEST(a_child_that_abandons_the_store_leaves_its_parents_connection_alone)
{
	claim_first(shaky, &claim);
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		store_abandon(shaky);
		_exit(run_read() == STORE_DONE ? 0 : 1); /* over one of its own */
	}
	database_end(child);
	ck_assert_int_eq(run_settle(), STORE_DONE);
	ck_assert_uint_eq(proxy_connections(&proxy), 2);
}
END_TEST

START_TEST(what_a_large_answer_cost_in_memory_is_given_back_with_the_connection)
{
	size_t length = 2 << 20;
	char *body = malloc(length + 1);
	ck_assert_ptr_nonnull(body);
	memset(body, 'x', length);
	body[length] = '\0';
	claim_first(shaky, &claim);
	settle_with(shaky, &claim, 200, body);
	ck_assert_int_eq(run_read(), STORE_DONE);
	ck_assert_uint_eq(record.body.length, length);
	ck_assert_int_eq(run_read(), STORE_DONE);
	ck_assert_uint_eq(proxy_connections(&proxy), 3);
	free(body);
}
END_TEST

static void check_session(struct connection *connection)
{
	struct roundtrip roundtrip = {
	    .connection = connection,
	    .goal = ROUNDTRIP_QUERY,
	    .query = "SELECT CONCAT_WS(' ', @@tx_isolation, @@time_zone, @@sql_mode, @@autocommit,"
		     " @@innodb_lock_wait_timeout, @@lock_wait_timeout, @@max_statement_time,"
		     " @@character_set_client)",
	};
	ck_assert_int_eq(roundtrip_run(&roundtrip, soon()), ROUNDTRIP_DONE);
	MYSQL_ROW row = mysql_fetch_row(roundtrip.result);
	/* read time-out 20 s: a statement ends before that, the wait for a lock before the
	 * statement */
	ck_assert_str_eq(row[0],
			 "READ-COMMITTED +00:00 STRICT_ALL_TABLES ON 0 10 15.000000 utf8mb4");
	mysql_free_result(roundtrip.result);
}

START_TEST(every_connection_sets_its_session)
{
	struct connection connection;
	connection_init(&connection, &config, CONNECTION_BROKER, NULL);
	check_session(&connection);
	database_run("KILL USER oncewrap");
	struct roundtrip roundtrip = {
	    .connection = &connection, .goal = ROUNDTRIP_QUERY, .query = "DO 0"};
	ck_assert_int_eq(roundtrip_run(&roundtrip, soon()), ROUNDTRIP_FAILED);
	ck_assert(roundtrip.in_doubt);
	check_session(&connection);
	connection_close(&connection);
}
END_TEST

/* Case C10: neither the web host's clock zone nor the server's default decides about a time. */
START_TEST(time_zones_make_no_difference)
{
	database_run("SET GLOBAL time_zone = '+05:00'");
	ck_assert_int_eq(setenv("TZ", "Pacific/Kiritimati", 1), 0);
	ck_assert_int_eq(run_claim(), STORE_DONE);
	int64_t off =
	    database_number("SELECT ABS(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), created_at))"
			    " + ABS(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', created_at)"
			    " DIV 1000 - %jd) FROM once_record WHERE %s",
			    (intmax_t)record.created_ms, where(&claim));
	database_run("SET GLOBAL time_zone = 'SYSTEM'");
	ck_assert_int_le(off, PATIENCE / 1000);
}
END_TEST

TCase *lost_tests(void)
{
	TCase *tests = tcase_create("lost");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, a_step_whose_request_is_lost_is_done_once, 0, STEPS);
	tcase_add_loop_test(tests, a_step_whose_reply_is_lost_is_done_once, 0, STEPS);
	tcase_add_loop_test(tests, a_step_whose_results_end_is_lost_is_done_once, 0, STEPS);
	tcase_add_loop_test(tests, a_row_is_not_believed_when_the_results_end_is_an_error, 0,
			    STEPS);
	tcase_add_loop_test(tests, a_deadlock_at_the_results_end_is_answered_by_the_same_statement,
			    0, STEPS);
	tcase_add_test(tests, a_connection_that_was_killed_while_idle_is_made_anew);
	tcase_add_loop_test(tests, a_settlement_that_is_killed_while_it_waits_is_issued_again, 0,
			    (int)(sizeof(kills) / sizeof(kills[0])));
	tcase_add_test(tests, a_settlement_outlives_a_kill_9_of_the_server);
	tcase_add_test(tests, a_server_that_is_away_fails_claims_fast_and_is_found_again);
	tcase_add_test(tests, a_claim_that_meets_a_silent_server_is_uncertain_at_its_deadline);
	tcase_add_test(tests, a_server_that_does_not_greet_is_down_and_nothing_was_done);
	tcase_add_test(tests, a_deadline_that_has_passed_does_not_cost_the_connection);
	tcase_add_test(tests, a_child_that_abandons_the_store_leaves_its_parents_connection_alone);
	tcase_add_test(tests, what_a_large_answer_cost_in_memory_is_given_back_with_the_connection);
	tcase_add_test(tests, every_connection_sets_its_session);
	tcase_add_test(tests, time_zones_make_no_difference);
	return tests;
}
