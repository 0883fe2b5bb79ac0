/* SPDX-License-Identifier: ISC */
/*
 * The claim flow against a scripted store: each row is what the store answers in turn and what must
 * come of it. The store's functions are defined here, so the real ones are not linked.
 */
#include <config.h>

#include "broker/claim.h"
#include "handler/slot.h"
#include "tests/unit/recorder.h"
#include "tests/unit/suite.h"

#include <stdio.h>
#include <string.h>

enum call { NONE, CLAIM, READ, GLANCE, RECLAIM, CLOSE, TAKE_OVER, LAPSE };

/* One answer of the store. `found` says how the record looks that comes with it. */
enum found {
	MINE,
	IN_FLIGHT, /* its lease runs */
	LAPSED,    /* in flight, first lease over */
	COMPLETE,
	NOT_KEPT,
	UNKNOWN,
	RELEASED,
	TOMBSTONE,
};

struct answer {
	enum call call;
	enum store_result result;
	enum found found;
	bool expired;
	bool other_fingerprint;
	const char *scheme; /* NULL: ours */
	int64_t expired_for;
};

static struct exchange exchange;
static struct route route;
static const struct answer *script;
static char called[512]; /* a letter per call, for the message of a failure */

static const struct answer *next(enum call call)
{
	static const char letters[] = "-crgRxtl";
	size_t length = strlen(called);
	ck_assert_uint_lt(length, sizeof(called) - 1);
	called[length] = letters[call];
	ck_assert_msg(script->call == call, "calls so far: %s", called);
	return script++;
}

static enum record_state state_of(enum found found)
{
	static const enum record_state states[] = {
	    [MINE] = RECORD_IN_FLIGHT,    [IN_FLIGHT] = RECORD_IN_FLIGHT,
	    [LAPSED] = RECORD_IN_FLIGHT,  [COMPLETE] = RECORD_COMPLETE,
	    [NOT_KEPT] = RECORD_COMPLETE, [UNKNOWN] = RECORD_UNKNOWN,
	    [RELEASED] = RECORD_RELEASED, [TOMBSTONE] = RECORD_EXPIRED,
	};
	return states[found];
}

static enum store_result give(const struct answer *answer, struct record *record)
{
	memset(record->token, answer->found == MINE ? 1 : 2, TOKEN_LENGTH);
	record->state = state_of(answer->found);
	record->attempt = 1;
	record->expired = answer->expired;
	record->expired_for = answer->expired_for;
	record->lapsed = answer->found == LAPSED;
	record->flags = answer->found == NOT_KEPT ? RECORD_NOT_KEPT : 0;
	if (answer->found == LAPSED && route.on_lapse == LAPSE_UNKNOWN)
		record->flags |= RECORD_LAPSE_UNKNOWN;
	memcpy(record->fingerprint, exchange.fingerprint.digest, DIGEST_LENGTH);
	record->fingerprint[0] ^= answer->other_fingerprint ? 1 : 0;
	snprintf(record->scheme, sizeof(record->scheme), "%s",
		 answer->scheme == NULL ? exchange.fingerprint.scheme : answer->scheme);
	if (answer->scheme != NULL) {
		/* What a record made by that scheme would hold for this very request. */
		struct fingerprint_source source;
		struct fingerprint theirs;
		request_fingerprint_source(exchange.request, &source);
		if (fingerprint_by_scheme(answer->scheme, &source, &theirs) == 0) {
			memcpy(record->fingerprint, theirs.digest, DIGEST_LENGTH);
			record->fingerprint[0] ^= answer->other_fingerprint ? 1 : 0;
		}
	}
	return answer->result;
}

enum store_result store_claim(struct store *store, const struct store_claim *claim,
			      struct record *record, int64_t deadline, struct error *error)
{
	(void)store, (void)claim, (void)deadline, (void)error;
	return give(next(CLAIM), record);
}

enum store_result store_read(struct store *store, const unsigned char id[DIGEST_LENGTH],
			     struct record *record, int64_t deadline, struct error *error)
{
	(void)store, (void)id, (void)deadline, (void)error;
	return give(next(READ), record);
}

enum store_result store_glance(struct store *store, const unsigned char id[DIGEST_LENGTH],
			       const struct store_owner *owner, struct store_glance *glance,
			       int64_t deadline, struct error *error)
{
	(void)store, (void)id, (void)owner, (void)deadline, (void)error;
	const struct answer *answer = next(GLANCE);
	memset(glance->token, 2, TOKEN_LENGTH);
	glance->state = state_of(answer->found);
	glance->lapsed = answer->found == LAPSED;
	glance->here = false;
	return answer->result;
}

/* The time for which a complete record is a tombstone is the statement's to hold. */
enum store_result store_reclaim(struct store *store, const struct store_claim *claim,
				const unsigned char seen[TOKEN_LENGTH], int64_t tombstone,
				int64_t deadline, struct error *error)
{
	(void)store, (void)claim, (void)deadline, (void)error;
	ck_assert_int_eq(seen[0], 2);
	bool complete = exchange.record.state == RECORD_COMPLETE;
	ck_assert_int_eq(tombstone, complete ? route.tombstone : 0);
	return next(RECLAIM)->result;
}

/* Natural keys: test_natural.c. */
enum store_result store_hold_natural(struct store *store, const struct store_natural *natural,
				     const unsigned char record[DIGEST_LENGTH],
				     const unsigned char token[TOKEN_LENGTH],
				     struct store_natural_holder *holder, int64_t deadline,
				     struct error *error)
{
	(void)store, (void)natural, (void)record, (void)token, (void)holder, (void)deadline,
	    (void)error;
	ck_abort_msg("the request has no natural key");
}

enum store_result store_take_natural(struct store *store, const struct store_natural *natural,
				     const unsigned char seen[TOKEN_LENGTH],
				     const unsigned char record[DIGEST_LENGTH],
				     const unsigned char token[TOKEN_LENGTH], int64_t deadline,
				     struct error *error)
{
	(void)store, (void)natural, (void)seen, (void)record, (void)token, (void)deadline,
	    (void)error;
	ck_abort_msg("the request has no natural key");
}

enum store_result store_release(struct store *store, const unsigned char id[DIGEST_LENGTH],
				const unsigned char token[TOKEN_LENGTH],
				const struct store_natural *natural, bool keep, int64_t deadline,
				struct error *error)
{
	(void)store, (void)id, (void)token, (void)natural, (void)keep, (void)deadline, (void)error;
	ck_abort_msg("nothing was won");
}

enum store_result store_close_lease(struct store *store, const unsigned char seen[TOKEN_LENGTH],
				    int64_t deadline, struct error *error)
{
	(void)store, (void)deadline, (void)error;
	ck_assert_int_eq(seen[0], 2);
	return next(CLOSE)->result;
}

enum store_result store_take_over(struct store *store, const struct store_claim *claim,
				  const unsigned char seen[TOKEN_LENGTH], uint32_t *attempt,
				  int64_t deadline, struct error *error)
{
	(void)store, (void)claim, (void)deadline, (void)error;
	ck_assert_int_eq(seen[0], 2);
	*attempt = 2;
	return next(TAKE_OVER)->result;
}

enum store_result store_lapse(struct store *store, const unsigned char id[DIGEST_LENGTH],
			      const unsigned char seen[TOKEN_LENGTH], int64_t deadline,
			      struct error *error)
{
	(void)store, (void)id, (void)deadline, (void)error;
	ck_assert_int_eq(seen[0], 2);
	return next(LAPSE)->result;
}

static const struct {
	const char *why;
	struct answer script[8];
	enum verdict verdict;
	uint32_t attempt; /* of a first */
	bool on_lapse_unknown;
	bool waits;
	int64_t tombstone;
} cases[] = {
    {"a new key is ours", {{CLAIM, STORE_DONE, MINE}}, VERDICT_FIRST, 1},
    {"C2: another's record is an ordinary outcome",
     {{CLAIM, STORE_DONE, IN_FLIGHT}},
     VERDICT_IN_FLIGHT},
    {"a complete record is replayed", {{CLAIM, STORE_DONE, COMPLETE}}, VERDICT_REPLAYED},
    {"C20: an answer that was not kept is told, never run again",
     {{CLAIM, STORE_DONE, NOT_KEPT}},
     VERDICT_NOT_KEPT},
    {"an unknown outcome is told, never run again",
     {{CLAIM, STORE_DONE, UNKNOWN}},
     VERDICT_UNKNOWN},
    {"C9: an unknown outcome never expires", {{CLAIM, STORE_DONE, UNKNOWN, true}}, VERDICT_UNKNOWN},
    {"a tombstone is told, never run again", {{CLAIM, STORE_DONE, TOMBSTONE}}, VERDICT_EXPIRED},
    {"a database that is down is told", {{CLAIM, STORE_DOWN, MINE}}, VERDICT_STORE_DOWN},
    {"an uncertain claim runs nothing", {{CLAIM, STORE_UNCERTAIN, MINE}}, VERDICT_STORE_DOWN},

    {"C15: another request under the key, complete",
     {{CLAIM, STORE_DONE, COMPLETE, false, true}},
     VERDICT_MISMATCH},
    {"C15: ... in flight", {{CLAIM, STORE_DONE, IN_FLIGHT, false, true}}, VERDICT_MISMATCH},
    {"C15: ... lapsed: not taken over",
     {{CLAIM, STORE_DONE, LAPSED, false, true}},
     VERDICT_MISMATCH},
    {"C15: ... unknown", {{CLAIM, STORE_DONE, UNKNOWN, false, true}}, VERDICT_MISMATCH},
    {"C15: ... not kept", {{CLAIM, STORE_DONE, NOT_KEPT, false, true}}, VERDICT_MISMATCH},
    {"C15: ... released: not taken over",
     {{CLAIM, STORE_DONE, RELEASED, false, true}},
     VERDICT_MISMATCH},
    {"C15: ... seen by the fallback read",
     {{CLAIM, STORE_BUSY, MINE}, {READ, STORE_DONE, COMPLETE, false, true}},
     VERDICT_MISMATCH},
    {"C15: ... seen while waiting",
     {{CLAIM, STORE_DONE, IN_FLIGHT},
      {GLANCE, STORE_DONE, COMPLETE},
      {CLAIM, STORE_DONE, COMPLETE, false, true}},
     VERDICT_MISMATCH,
     0,
     false,
     true},
    {"an expired record's fingerprint binds nobody",
     {{CLAIM, STORE_DONE, COMPLETE, true, true}, {RECLAIM, STORE_DONE, MINE}},
     VERDICT_FIRST,
     1},

    {"a record made by another scheme is compared by that scheme",
     {{CLAIM, STORE_DONE, COMPLETE, false, false, "1 method path"}},
     VERDICT_REPLAYED},
    {"... and differs by it",
     {{CLAIM, STORE_DONE, COMPLETE, false, true, "1 method path"}},
     VERDICT_MISMATCH},
    {"a scheme that nobody knows is a difference",
     {{CLAIM, STORE_DONE, COMPLETE, false, false, "9 moon"}},
     VERDICT_MISMATCH},

    {"C9: an expired complete record is claimable like an absent one",
     {{CLAIM, STORE_DONE, COMPLETE, true}, {RECLAIM, STORE_DONE, MINE}},
     VERDICT_FIRST,
     1},
    {"two reclaim: the loser claims again and sees the winner",
     {{CLAIM, STORE_DONE, COMPLETE, true},
      {RECLAIM, STORE_NO_ROW, MINE},
      {CLAIM, STORE_DONE, IN_FLIGHT}},
     VERDICT_IN_FLIGHT},
    {"C9: an expired in-flight record only once its lease is closed",
     {{CLAIM, STORE_DONE, LAPSED, true}, {CLOSE, STORE_DONE, MINE}, {TAKE_OVER, STORE_DONE, MINE}},
     VERDICT_FIRST,
     2},
    {"... to another request as a new life",
     {{CLAIM, STORE_DONE, LAPSED, true, true},
      {CLOSE, STORE_DONE, MINE},
      {RECLAIM, STORE_DONE, MINE}},
     VERDICT_FIRST,
     1},
    {"... which a route with tombstones refuses",
     {{CLAIM, STORE_DONE, LAPSED, true, true}},
     VERDICT_MISMATCH,
     .tombstone = 5000},
    {"on_lapse = unknown: what nobody knows does not become known by waiting",
     {{CLAIM, STORE_DONE, LAPSED, true}, {CLOSE, STORE_DONE, MINE}, {LAPSE, STORE_DONE, MINE}},
     VERDICT_UNKNOWN,
     0,
     true},
    {"C9: ... and not while its owner lives",
     {{CLAIM, STORE_DONE, LAPSED, true}, {CLOSE, STORE_NO_ROW, MINE}},
     VERDICT_IN_FLIGHT},

    {"C24: a tombstone past its end is claimable like an absent record",
     {{CLAIM, STORE_DONE, TOMBSTONE, true}, {RECLAIM, STORE_DONE, MINE}},
     VERDICT_FIRST,
     1},
    {"times.tombstone: an answer past its retention is told, never run again",
     {{CLAIM, STORE_DONE, COMPLETE, true, false, NULL, 4999}},
     VERDICT_EXPIRED,
     .tombstone = 5000},
    {"... whatever the request, which its fingerprint no longer binds",
     {{CLAIM, STORE_DONE, COMPLETE, true, true, NULL, 4999}},
     VERDICT_EXPIRED,
     .tombstone = 5000},
    {"... and claimable once that is over too",
     {{CLAIM, STORE_DONE, COMPLETE, true, false, NULL, 5000}, {RECLAIM, STORE_DONE, MINE}},
     VERDICT_FIRST,
     1,
     .tombstone = 5000},

    {"C3: a renewed lease is in flight",
     {{CLAIM, STORE_DONE, LAPSED}, {CLOSE, STORE_NO_ROW, MINE}},
     VERDICT_IN_FLIGHT},
    {"C6: a closed lease is taken over",
     {{CLAIM, STORE_DONE, LAPSED}, {CLOSE, STORE_DONE, MINE}, {TAKE_OVER, STORE_DONE, MINE}},
     VERDICT_FIRST,
     2},
    {"C5: two see a lapsed lease: the loser looks again",
     {{CLAIM, STORE_DONE, LAPSED},
      {CLOSE, STORE_DONE, MINE},
      {TAKE_OVER, STORE_NO_ROW, MINE},
      {CLAIM, STORE_DONE, IN_FLIGHT}},
     VERDICT_IN_FLIGHT},
    {"a takeover that meets the handler's own transaction is in flight",
     {{CLAIM, STORE_DONE, LAPSED}, {CLOSE, STORE_DONE, MINE}, {TAKE_OVER, STORE_BUSY, MINE}},
     VERDICT_IN_FLIGHT},
    {"an uncertain takeover runs nothing",
     {{CLAIM, STORE_DONE, LAPSED}, {CLOSE, STORE_DONE, MINE}, {TAKE_OVER, STORE_UNCERTAIN, MINE}},
     VERDICT_STORE_DOWN},
    {"on_lapse = unknown: marked, not run",
     {{CLAIM, STORE_DONE, LAPSED}, {CLOSE, STORE_DONE, MINE}, {LAPSE, STORE_DONE, MINE}},
     VERDICT_UNKNOWN,
     0,
     true},
    {"on_lapse = unknown: the owner's late answer came first",
     {{CLAIM, STORE_DONE, LAPSED},
      {CLOSE, STORE_DONE, MINE},
      {LAPSE, STORE_NO_ROW, MINE},
      {CLAIM, STORE_DONE, COMPLETE}},
     VERDICT_REPLAYED,
     0,
     true},
    {"a released record is taken over at once, with its lease not asked for",
     {{CLAIM, STORE_DONE, RELEASED}, {TAKE_OVER, STORE_DONE, MINE}},
     VERDICT_FIRST,
     2},

    {"1205: somebody is inserting: in flight",
     {{CLAIM, STORE_BUSY, MINE}, {READ, STORE_DONE, IN_FLIGHT}},
     VERDICT_IN_FLIGHT},
    {"1205: what looks lapsed is in use",
     {{CLAIM, STORE_BUSY, MINE}, {READ, STORE_DONE, LAPSED}},
     VERDICT_IN_FLIGHT},
    {"1205: no row yet: claim again",
     {{CLAIM, STORE_BUSY, MINE}, {READ, STORE_NO_ROW, MINE}, {CLAIM, STORE_DONE, MINE}},
     VERDICT_FIRST,
     1},
    {"1205: an expired answer is never replayed by the fallback",
     {{CLAIM, STORE_BUSY, MINE},
      {READ, STORE_DONE, COMPLETE, true},
      {CLAIM, STORE_DONE, COMPLETE, true},
      {RECLAIM, STORE_DONE, MINE}},
     VERDICT_FIRST,
     1},
    {"1205, and then the database goes",
     {{CLAIM, STORE_BUSY, MINE}, {READ, STORE_DOWN, MINE}},
     VERDICT_STORE_DOWN},

    {"a waiter gets the owner's answer",
     {{CLAIM, STORE_DONE, IN_FLIGHT},
      {GLANCE, STORE_DONE, IN_FLIGHT},
      {GLANCE, STORE_DONE, COMPLETE},
      {CLAIM, STORE_DONE, COMPLETE}},
     VERDICT_REPLAYED,
     0,
     false,
     true},
    {"a waiter claims a key that comes free",
     {{CLAIM, STORE_DONE, IN_FLIGHT}, {GLANCE, STORE_NO_ROW, MINE}, {CLAIM, STORE_DONE, MINE}},
     VERDICT_FIRST,
     1,
     false,
     true},
    {"a waiter takes over from an owner that died",
     {{CLAIM, STORE_DONE, IN_FLIGHT},
      {GLANCE, STORE_DONE, LAPSED},
      {CLAIM, STORE_DONE, LAPSED},
      {CLOSE, STORE_DONE, MINE},
      {TAKE_OVER, STORE_DONE, MINE}},
     VERDICT_FIRST,
     2,
     false,
     true},
};

static struct request request;
static struct recorder recorder;
static struct config config = {.workers = 4,
			       .store = {.connect_timeout = 100, .read_timeout = 100}};
static struct slots *slots;

static void set_up(void)
{
	recorder_init(&recorder);
	request = (struct request){
	    .method = "POST", .path = (char *)(uintptr_t) "/x", .query = "", .content_type = ""};
	route = (struct route){.name = (char *)(uintptr_t) "r",
			       .wait_timeout = 5000,
			       .fingerprint_parts =
				   FINGERPRINT_METHOD | FINGERPRINT_PATH | FINGERPRINT_BODY};
	exchange = (struct exchange){
	    .config = &config, .route = &route, .request = &request, .reply = &recorder.reply};
	struct fingerprint_source source;
	request_fingerprint_source(&request, &source);
	ck_assert_int_eq(fingerprint_make(&route, &source, &exchange.fingerprint), 0);
	memset(exchange.claim.token, 1, TOKEN_LENGTH);
	record_init(&exchange.record);
	called[0] = '\0';
	slots = slots_new(1);
	slot_adopt(slots, 0);
}

static void tear_down(void)
{
	record_free(&exchange.record);
	recorder_free(&recorder);
	slots_free(slots);
}

START_TEST(each_record_leads_to_its_verdict)
{
	struct error error = {0};
	memset(called, 0, sizeof(called));
	script = cases[_i].script;
	route.on_lapse = cases[_i].on_lapse_unknown ? LAPSE_UNKNOWN : LAPSE_RERUN;
	route.in_flight = cases[_i].waits ? IN_FLIGHT_WAIT : IN_FLIGHT_REJECT;
	route.tombstone = cases[_i].tombstone;
	enum verdict verdict = claim_decide(&exchange, &error);
	ck_assert_msg(verdict == cases[_i].verdict, "%s: %s after %s", cases[_i].why,
		      verdict_name(verdict), called);
	ck_assert_msg(script->call == NONE, "%s: not all was asked: %s", cases[_i].why, called);
	if (verdict == VERDICT_FIRST)
		ck_assert_uint_eq(exchange.attempt, cases[_i].attempt);
}
END_TEST

START_TEST(C4_a_lost_owner_sees_only_what_its_successor_stored)
{
	static const struct {
		struct answer answer;
		enum verdict verdict;
	} looks[] = {
	    {{READ, STORE_DONE, COMPLETE}, VERDICT_REPLAYED},
	    {{READ, STORE_DONE, IN_FLIGHT}, VERDICT_IN_FLIGHT},
	    {{READ, STORE_DONE, LAPSED}, VERDICT_IN_FLIGHT},
	    {{READ, STORE_NO_ROW, MINE}, VERDICT_IN_FLIGHT},
	    {{READ, STORE_DONE, UNKNOWN}, VERDICT_UNKNOWN},
	    {{READ, STORE_DONE, COMPLETE, true}, VERDICT_IN_FLIGHT},
	    {{READ, STORE_DONE, COMPLETE, false, true}, VERDICT_MISMATCH},
	    {{READ, STORE_DOWN, MINE}, VERDICT_STORE_DOWN},
	};
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		struct error error = {0};
		memset(called, 0, sizeof(called));
		script = &looks[i].answer;
		ck_assert_int_eq(claim_look(&exchange, &error), looks[i].verdict);
	}
}
END_TEST

START_TEST(a_storm_on_one_key_ends_as_in_flight)
{
	static struct answer storm[256];
	for (size_t i = 0; i < 255; i += 2) {
		storm[i] = (struct answer){CLAIM, STORE_BUSY, MINE};
		storm[i + 1] = (struct answer){READ, STORE_NO_ROW, MINE};
	}
	struct error error = {0};
	memset(called, 0, sizeof(called));
	script = storm;
	ck_assert_int_eq(claim_decide(&exchange, &error), VERDICT_IN_FLIGHT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("claim");
	TCase *tests = tcase_create("claim");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, each_record_leads_to_its_verdict, 0,
			    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tests, C4_a_lost_owner_sees_only_what_its_successor_stored);
	tcase_add_test(tests, a_storm_on_one_key_ends_as_in_flight);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
