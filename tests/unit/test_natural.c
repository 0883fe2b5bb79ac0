/* SPDX-License-Identifier: ISC */
/* The hold of a natural key against a scripted store, whose functions are defined here. */
#include <config.h>

#include "base/clock.h"
#include "broker/natural.h"
#include "tests/unit/suite.h"

#include <stdio.h>
#include <string.h>

enum call { NONE, HOLD, READ, TAKE, RELEASE, CLOSE, LAPSE, TAKE_OVER, FREE };

/* How the holder, or its record, looks. */
enum found {
	NOTHING,
	OURS,
	OTHERS,       /* held and not settled */
	OTHERS_DONE,  /* settled */
	EARLIER_DONE, /* settled, by an earlier life of our own key */
	EARLIER_OVER,
	OTHERS_OVER, /* its window is over */
	IN_FLIGHT,   /* of a record, from here on */
	LAPSED,      /* in flight, first lease over */
	COMPLETE,
	FAILED,        /* complete with a 502 of ours */
	COMPLETE_ANEW, /* another life, by another token */
	UNKNOWN,
	RELEASED,
};

struct answer {
	enum call call;
	enum store_result result;
	enum found found;
};

static struct exchange exchange;
static const struct answer *script;
static bool holder_lapses_unknown;
static char called[256];

static const struct answer *next(enum call call)
{
	static const char letters[] = "-hrtRxloF";
	size_t length = strlen(called);
	ck_assert_uint_lt(length, sizeof(called) - 1);
	called[length] = letters[call];
	ck_assert_msg(script->call == call, "calls so far: %s", called);
	return script++;
}

enum store_result store_hold_natural(struct store *store, const struct store_natural *natural,
				     const unsigned char record[DIGEST_LENGTH],
				     const unsigned char token[TOKEN_LENGTH],
				     struct store_natural_holder *holder, int64_t deadline,
				     struct error *error)
{
	(void)store, (void)deadline, (void)error;
	const struct answer *answer = next(HOLD);
	ck_assert_int_eq(natural->id[0], 7);
	ck_assert_int_eq(record[0], 1);
	ck_assert_int_eq(token[0], 1);
	bool own =
	    answer->found == OURS || answer->found == EARLIER_DONE || answer->found == EARLIER_OVER;
	memset(holder->record, own ? 1 : 2, DIGEST_LENGTH);
	memset(holder->token, answer->found == OURS ? 1 : 2, TOKEN_LENGTH);
	holder->over = answer->found == OTHERS_OVER || answer->found == EARLIER_OVER;
	holder->settled_ms = answer->found == OURS || answer->found == OTHERS ? 0 : 99;
	return answer->result;
}

enum store_result store_read(struct store *store, const unsigned char id[DIGEST_LENGTH],
			     struct record *record, int64_t deadline, struct error *error)
{
	(void)store, (void)deadline, (void)error;
	const struct answer *answer = next(READ);
	static const enum record_state states[] = {
	    [LAPSED] = RECORD_IN_FLIGHT,  [IN_FLIGHT] = RECORD_IN_FLIGHT,
	    [COMPLETE] = RECORD_COMPLETE, [COMPLETE_ANEW] = RECORD_COMPLETE,
	    [UNKNOWN] = RECORD_UNKNOWN,   [FAILED] = RECORD_COMPLETE,
	    [RELEASED] = RECORD_RELEASED,
	};
	ck_assert_int_eq(id[0], 2);
	record->state = states[answer->found];
	record->settled_ms = 55;
	record->lapsed = answer->found == LAPSED;
	record->flags = answer->found == LAPSED && holder_lapses_unknown ? RECORD_LAPSE_UNKNOWN : 0;
	record->status = answer->found == FAILED ? 502 : 200;
	memset(record->token, answer->found == COMPLETE_ANEW ? 3 : 2, TOKEN_LENGTH);
	return answer->result;
}

enum store_result store_take_natural(struct store *store, const struct store_natural *natural,
				     const unsigned char seen[TOKEN_LENGTH],
				     const unsigned char record[DIGEST_LENGTH],
				     const unsigned char token[TOKEN_LENGTH], int64_t deadline,
				     struct error *error)
{
	(void)store, (void)natural, (void)deadline, (void)error;
	ck_assert_int_eq(seen[0], 2);
	ck_assert_int_eq(record[0], 1);
	ck_assert_int_eq(token[0], 1);
	return next(TAKE)->result;
}

enum store_result store_close_lease(struct store *store, const unsigned char seen[TOKEN_LENGTH],
				    int64_t deadline, struct error *error)
{
	(void)store, (void)deadline, (void)error;
	ck_assert_int_eq(seen[0], 2);
	return next(CLOSE)->result;
}

enum store_result store_lapse(struct store *store, const unsigned char id[DIGEST_LENGTH],
			      const unsigned char seen[TOKEN_LENGTH], int64_t deadline,
			      struct error *error)
{
	(void)store, (void)deadline, (void)error;
	ck_assert_int_eq(id[0], 2);
	ck_assert_int_eq(seen[0], 2);
	return next(LAPSE)->result;
}

static unsigned char taken[TOKEN_LENGTH]; /* by the last takeover */

enum store_result store_take_over(struct store *store, const struct store_claim *claim,
				  const unsigned char seen[TOKEN_LENGTH], uint32_t *attempt,
				  int64_t deadline, struct error *error)
{
	(void)store, (void)deadline, (void)error;
	ck_assert_int_eq(claim->id[0], 2);
	ck_assert_int_eq(seen[0], 2);
	memcpy(taken, claim->token, TOKEN_LENGTH);
	*attempt = 2;
	return next(TAKE_OVER)->result;
}

enum store_result store_release(struct store *store, const unsigned char id[DIGEST_LENGTH],
				const unsigned char token[TOKEN_LENGTH],
				const struct store_natural *natural, bool keep, int64_t deadline,
				struct error *error)
{
	(void)store, (void)error;
	if (id[0] == 2) {
		ck_assert(natural == NULL && !keep);
		ck_assert_mem_eq(token, taken, TOKEN_LENGTH);
		return next(FREE)->result;
	}
	ck_assert_int_eq(id[0], 1);
	ck_assert_int_eq(token[0], 1);
	ck_assert_msg(deadline > clock_now(), "there must be time to give it back");
	/* Where the hold came to be done after all, it goes too; another's is not ours by its
	 * token. */
	ck_assert_ptr_eq(natural, &exchange.natural);
	ck_assert_msg(keep == (exchange.attempt > 1), "an attempt that took over stays counted");
	return next(RELEASE)->result;
}

static const struct {
	const char *why;
	struct answer script[8];
	enum verdict verdict;
	int64_t settled_ms; /* of a duplicate */
	bool on_lapse_unknown;
} cases[] = {
    {"a natural key that nobody holds is ours", {{HOLD, STORE_DONE, OURS}}, VERDICT_FIRST, 0},
    {"another key has done it: duplicate, and our claim is given back",
     {{HOLD, STORE_DONE, OTHERS_DONE}, {RELEASE, STORE_DONE, NOTHING}},
     VERDICT_DUPLICATE,
     99},
    {"its window is over: taken",
     {{HOLD, STORE_DONE, OTHERS_OVER}, {TAKE, STORE_DONE, NOTHING}},
     VERDICT_FIRST,
     0},
    {"the same key did it, in a life whose retention is over: duplicate",
     {{HOLD, STORE_DONE, EARLIER_DONE}, {RELEASE, STORE_DONE, NOTHING}},
     VERDICT_DUPLICATE,
     99},
    {"... and whose window is over too: taken",
     {{HOLD, STORE_DONE, EARLIER_OVER}, {TAKE, STORE_DONE, NOTHING}},
     VERDICT_FIRST,
     0},
    {"two take it: the loser sees the winner",
     {{HOLD, STORE_DONE, OTHERS_OVER},
      {TAKE, STORE_NO_ROW, NOTHING},
      {HOLD, STORE_DONE, OTHERS},
      {READ, STORE_DONE, IN_FLIGHT},
      {RELEASE, STORE_DONE, NOTHING}},
     VERDICT_IN_FLIGHT,
     0},
    {"another runs just now",
     {{HOLD, STORE_DONE, OTHERS}, {READ, STORE_DONE, IN_FLIGHT}, {RELEASE, STORE_DONE, NOTHING}},
     VERDICT_IN_FLIGHT,
     0},
    {"its lease is over, yet it lives",
     {{HOLD, STORE_DONE, OTHERS},
      {READ, STORE_DONE, LAPSED},
      {CLOSE, STORE_NO_ROW, NOTHING},
      {RELEASE, STORE_DONE, NOTHING}},
     VERDICT_IN_FLIGHT,
     0},
    {"it died, and nobody may call with its key again: its record is freed",
     {{HOLD, STORE_DONE, OTHERS},
      {READ, STORE_DONE, LAPSED},
      {CLOSE, STORE_DONE, NOTHING},
      {TAKE_OVER, STORE_DONE, NOTHING},
      {FREE, STORE_DONE, NOTHING},
      {TAKE, STORE_DONE, NOTHING}},
     VERDICT_FIRST,
     0},
    {"... unless a retry of its own takes it over first",
     {{HOLD, STORE_DONE, OTHERS},
      {READ, STORE_DONE, LAPSED},
      {CLOSE, STORE_DONE, NOTHING},
      {TAKE_OVER, STORE_NO_ROW, NOTHING},
      {HOLD, STORE_DONE, OTHERS},
      {READ, STORE_DONE, IN_FLIGHT},
      {RELEASE, STORE_DONE, NOTHING}},
     VERDICT_IN_FLIGHT,
     0},
    {"it died, and on_lapse = unknown: nobody knows whether it did it",
     {{HOLD, STORE_DONE, OTHERS},
      {READ, STORE_DONE, LAPSED},
      {CLOSE, STORE_DONE, NOTHING},
      {LAPSE, STORE_DONE, NOTHING},
      {RELEASE, STORE_DONE, NOTHING}},
     VERDICT_UNKNOWN,
     0,
     true},
    {"nobody knows whether another did it",
     {{HOLD, STORE_DONE, OTHERS}, {READ, STORE_DONE, UNKNOWN}, {RELEASE, STORE_DONE, NOTHING}},
     VERDICT_UNKNOWN,
     0},
    {"completed by the handler's own transaction, which knows no natural keys",
     {{HOLD, STORE_DONE, OTHERS}, {READ, STORE_DONE, COMPLETE}, {RELEASE, STORE_DONE, NOTHING}},
     VERDICT_DUPLICATE,
     55},
    {"complete with an answer of ours: nobody knows whether it was done",
     {{HOLD, STORE_DONE, OTHERS}, {READ, STORE_DONE, FAILED}, {RELEASE, STORE_DONE, NOTHING}},
     VERDICT_UNKNOWN,
     0},
    {"the holder's record lives another life: its hold means nothing",
     {{HOLD, STORE_DONE, OTHERS}, {READ, STORE_DONE, COMPLETE_ANEW}, {TAKE, STORE_DONE, NOTHING}},
     VERDICT_FIRST,
     0},
    {"the holder's record has gone",
     {{HOLD, STORE_DONE, OTHERS}, {READ, STORE_NO_ROW, NOTHING}, {TAKE, STORE_DONE, NOTHING}},
     VERDICT_FIRST,
     0},
    {"the holder was released",
     {{HOLD, STORE_DONE, OTHERS}, {READ, STORE_DONE, RELEASED}, {TAKE, STORE_DONE, NOTHING}},
     VERDICT_FIRST,
     0},
    {"1205: somebody holds or settles it just now",
     {{HOLD, STORE_BUSY, NOTHING}, {RELEASE, STORE_DONE, NOTHING}},
     VERDICT_IN_FLIGHT,
     0},
    {"a database that goes is told, and nothing runs",
     {{HOLD, STORE_DOWN, NOTHING}, {RELEASE, STORE_DOWN, NOTHING}},
     VERDICT_STORE_DOWN,
     0},
    {"an uncertain take runs nothing",
     {{HOLD, STORE_DONE, OTHERS_OVER},
      {TAKE, STORE_UNCERTAIN, NOTHING},
      {RELEASE, STORE_DONE, NOTHING}},
     VERDICT_STORE_DOWN,
     0},
};

static struct route route = {.name = (char *)(uintptr_t) "r"};

static void set_up(void)
{
	static const struct config config = {.store = {.settle_timeout = 1000}};
	route.store_down = STORE_DOWN_REFUSE;
	exchange = (struct exchange){.config = &config, .route = &route, .has_natural = true};
	memset(exchange.natural.id, 7, DIGEST_LENGTH);
	memset(exchange.claim.id, 1, DIGEST_LENGTH);
	memset(exchange.claim.token, 1, TOKEN_LENGTH);
}

START_TEST(each_holder_leads_to_its_verdict)
{
	struct error error = {0};
	memset(called, 0, sizeof(called));
	script = cases[_i].script;
	/* The asker's own policy is the other: it does not count. */
	holder_lapses_unknown = cases[_i].on_lapse_unknown;
	route.on_lapse = cases[_i].on_lapse_unknown ? LAPSE_RERUN : LAPSE_UNKNOWN;
	enum verdict verdict = natural_hold(&exchange, 0, &error);
	ck_assert_msg(verdict == cases[_i].verdict, "%s: %s after %s", cases[_i].why,
		      verdict_name(verdict), called);
	ck_assert_msg(script->call == NONE, "%s: not all was asked: %s", cases[_i].why, called);
	if (verdict == VERDICT_DUPLICATE)
		ck_assert_int_eq(exchange.holder.settled_ms, cases[_i].settled_ms);
	buffer_free(&exchange.holder.location);
}
END_TEST

START_TEST(a_request_without_a_natural_key_asks_nothing)
{
	static const struct answer none = {NONE, STORE_DOWN, NOTHING};
	struct error error = {0};
	exchange.has_natural = false;
	script = &none;
	ck_assert_int_eq(natural_hold(&exchange, 0, &error), VERDICT_FIRST);
}
END_TEST

START_TEST(store_down_run_keeps_the_claim_and_goes_without_the_natural_key)
{
	static const struct answer down[] = {{HOLD, STORE_DOWN, NOTHING},
					     {NONE, STORE_DOWN, NOTHING}};
	struct error error = {0};
	memset(called, 0, sizeof(called));
	route.store_down = STORE_DOWN_RUN;
	script = down;
	ck_assert_int_eq(natural_hold(&exchange, 0, &error), VERDICT_FIRST);
	ck_assert(!exchange.has_natural);
}
END_TEST

START_TEST(an_attempt_that_took_over_is_given_back_with_its_count)
{
	static const struct answer done[] = {{HOLD, STORE_DONE, OTHERS_DONE},
					     {RELEASE, STORE_DONE, NOTHING},
					     {NONE, STORE_DOWN, NOTHING}};
	struct error error = {0};
	memset(called, 0, sizeof(called));
	exchange.attempt = 2;
	script = done;
	ck_assert_int_eq(natural_hold(&exchange, 0, &error), VERDICT_DUPLICATE);
}
END_TEST

START_TEST(a_storm_ends_as_in_flight)
{
	static struct answer storm[160];
	size_t at = 0;
	for (int turn = 0; turn < 64; turn++) {
		storm[at++] = (struct answer){HOLD, STORE_DONE, OTHERS_OVER};
		storm[at++] = (struct answer){TAKE, STORE_NO_ROW, NOTHING};
	}
	storm[at] = (struct answer){RELEASE, STORE_DONE, NOTHING};
	struct error error = {0};
	memset(called, 0, sizeof(called));
	script = storm;
	ck_assert_int_eq(natural_hold(&exchange, 0, &error), VERDICT_IN_FLIGHT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("natural");
	TCase *tests = tcase_create("natural");
	tcase_add_checked_fixture(tests, set_up, NULL);
	tcase_add_loop_test(tests, each_holder_leads_to_its_verdict, 0,
			    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, a_request_without_a_natural_key_asks_nothing);
	tcase_add_test(tests, store_down_run_keeps_the_claim_and_goes_without_the_natural_key);
	tcase_add_test(tests, an_attempt_that_took_over_is_given_back_with_its_count);
	tcase_add_test(tests, a_storm_ends_as_in_flight);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
