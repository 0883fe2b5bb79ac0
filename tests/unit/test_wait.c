/* SPDX-License-Identifier: ISC */
/*
 * A waiter in simulated time: clock, bell, store and poll(2) are defined here, so the real ones are
 * not linked. A story says what becomes of the record, and when.
 */
#include <config.h>

#include "broker/wait.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "broker/bell.h"
#include "handler/slot.h"
#include "tests/unit/recorder.h"
#include "tests/unit/suite.h"

#define START   1000000
#define TIMEOUT 10000
#define LEASE   30000
#define NEVER   CLOCK_NEVER

/* What the record is from a time on. */
enum scene {
	OWNED,   /* in flight, its owner on this host */
	RENEWED, /* ... its first lease over */
	AWAY,    /* in flight, its owner on another host */
	AWAY_LAPSED,
	TAKEN, /* in flight under another token, on this host */
	DONE,
	GONE,    /* no row */
	TROUBLE, /* the database does not answer */
};

struct turn {
	int64_t at; /* ms from the start */
	enum scene scene;
	bool rung; /* the change rings the bell */
};

struct story {
	const char *why;
	struct turn turns[6]; /* the first from the start on */
	int64_t client_leaves;
	int64_t glance_ms; /* how long the way back from the database takes */
	bool no_bell;
	bool runs_without_store;
	enum verdict last; /* what a look finds that is not IN_FLIGHT */
	/* expected */
	enum verdict verdict;
	int64_t ends_from, ends_to;
	int glances_from, glances_to;
	int looks_from, looks_to;
};

static const struct story *story;
static int64_t now;
static int glances, looks;
static const struct bell *const bell = (const struct bell *)&glances; /* any pointer at all */

int64_t clock_now(void)
{
	return START + now;
}

/* The library's logger asks for these. */
int clock_wait(int64_t when)
{
	(void)when;
	return 0;
}

void clock_pause(int64_t milliseconds)
{
	now += milliseconds;
}

void clock_format(char text[CLOCK_STAMP_LENGTH], int64_t milliseconds)
{
	(void)milliseconds;
	text[0] = '\0';
}

void clock_stamp(char text[CLOCK_STAMP_LENGTH])
{
	text[0] = '\0';
}

static const struct turn *turn_now(void)
{
	const struct turn *found = &story->turns[0];
	for (const struct turn *turn = found + 1; turn->at != 0; turn++)
		if (turn->at <= now)
			found = turn;
	return found;
}

/* How often the bell has been rung by then. */
static uint32_t rung_by(int64_t time)
{
	uint32_t rung = 0;
	for (const struct turn *turn = &story->turns[1]; turn->at != 0; turn++)
		rung += turn->rung && turn->at <= time;
	return rung;
}

uint32_t bell_word(const struct bell *which, const unsigned char id[DIGEST_LENGTH])
{
	(void)id;
	return which == NULL ? 0 : rung_by(now);
}

void bell_ring(struct bell *which, const unsigned char id[DIGEST_LENGTH])
{
	(void)which, (void)id;
}

void bell_wait(struct bell *which, const unsigned char id[DIGEST_LENGTH], uint32_t seen,
	       int64_t milliseconds)
{
	ck_assert_ptr_nonnull(which);
	(void)id;
	ck_assert_int_gt(milliseconds, 0);
	for (int64_t end = now + milliseconds; now < end && rung_by(now) == seen; now++)
		;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int milliseconds);
int __wrap_poll(struct pollfd *fds, nfds_t count, int milliseconds)
{
	ck_assert_uint_eq(count, 1);
	ck_assert_int_ge(milliseconds, 0);
	bool leaves = now + milliseconds >= story->client_leaves;
	if (!leaves)
		now += milliseconds;
	else if (story->client_leaves > now)
		now = story->client_leaves;
	fds[0].revents = leaves ? POLLHUP : 0;
	return leaves ? 1 : 0;
}

enum store_result store_glance(struct store *store, const unsigned char id[DIGEST_LENGTH],
			       const struct store_owner *owner, struct store_glance *glance,
			       int64_t deadline, struct error *error)
{
	(void)store, (void)id;
	enum scene scene = turn_now()->scene;
	glances++;
	now += story->glance_ms;
	ck_assert_ptr_nonnull(owner);
	ck_assert_int_gt(deadline, clock_now());
	memset(glance, 0, sizeof(*glance));
	memset(glance->token, scene == TAKEN ? 3 : 2, TOKEN_LENGTH);
	glance->state = scene == DONE ? RECORD_COMPLETE : RECORD_IN_FLIGHT;
	glance->lapsed = scene == RENEWED || scene == AWAY_LAPSED;
	glance->here = scene != AWAY && scene != AWAY_LAPSED;
	if (scene == GONE)
		return STORE_NO_ROW;
	if (scene != TROUBLE)
		return STORE_DONE;
	error_set(error, ERROR_STORE, "the database is away");
	return STORE_DOWN;
}

static enum verdict look(struct exchange *exchange, struct error *error)
{
	(void)exchange, (void)error;
	looks++;
	switch (turn_now()->scene) {
	case DONE:
	case GONE:
	case AWAY_LAPSED:
		return story->last;
	default:
		return VERDICT_IN_FLIGHT;
	}
}

/* A table, one story a paragraph. */
/* clang-format off */
static const struct story stories[] = {
    {.why = "the ring of a settlement is heard at once, and two glances are all it costs",
     .turns = {{0, OWNED}, {777, DONE, true}},
     .last = VERDICT_REPLAYED, .verdict = VERDICT_REPLAYED,
     .ends_from = 777, .ends_to = 777,
     .glances_from = 2, .glances_to = 2, .looks_from = 1, .looks_to = 1},
    {.why = "an owner on this host costs a glance a second, and its waiter goes after the bound",
     .turns = {{0, OWNED}}, .verdict = VERDICT_IN_FLIGHT,
     .ends_from = TIMEOUT, .ends_to = TIMEOUT,
     .glances_from = 10, .glances_to = 11},
    {.why = "what nobody rang is seen within a second",
     .turns = {{0, OWNED}, {1777, DONE, false}},
     .last = VERDICT_REPLAYED, .verdict = VERDICT_REPLAYED,
     .ends_from = 1778, .ends_to = 2777,
     .glances_from = 3, .glances_to = 3, .looks_from = 1, .looks_to = 1},
    {.why = "a settlement between the glance and the sleep is not slept over",
     .turns = {{0, OWNED}, {1, DONE, true}},
     .glance_ms = 2,
     .last = VERDICT_REPLAYED, .verdict = VERDICT_REPLAYED,
     .ends_from = 4, .ends_to = 4,
     .glances_from = 2, .glances_to = 2, .looks_from = 1, .looks_to = 1},
    {.why = "another id's ring on the same word costs a glance and no look",
     .turns = {{0, OWNED}, {100, OWNED, true}, {300, DONE, true}},
     .last = VERDICT_REPLAYED, .verdict = VERDICT_REPLAYED,
     .ends_from = 300, .ends_to = 300,
     .glances_from = 3, .glances_to = 3, .looks_from = 1, .looks_to = 1},
    {.why = "a key that comes free is claimed",
     .turns = {{0, OWNED}, {500, GONE, true}},
     .last = VERDICT_FIRST, .verdict = VERDICT_FIRST,
     .ends_from = 500, .ends_to = 500,
     .glances_from = 2, .glances_to = 2, .looks_from = 1, .looks_to = 1},
    {.why = "... and where another was faster, its answer is waited for",
     .turns = {{0, OWNED}, {500, TAKEN, true}, {900, DONE, true}},
     .last = VERDICT_REPLAYED, .verdict = VERDICT_REPLAYED,
     .ends_from = 900, .ends_to = 900,
     .glances_from = 4, .glances_to = 4, .looks_from = 2, .looks_to = 2},
    {.why = "... soon, also where it has settled before the waiter slept again",
     .turns = {{0, OWNED}, {500, TAKEN, true}, {502, DONE, false}},
     .last = VERDICT_REPLAYED, .verdict = VERDICT_REPLAYED,
     .ends_from = 502, .ends_to = 510,
     .glances_from = 3, .glances_to = 3, .looks_from = 2, .looks_to = 2},
    {.why = "an owner on another host is polled: its answer comes within a quarter of a second",
     .turns = {{0, AWAY}, {5000, DONE, false}},
     .last = VERDICT_REPLAYED, .verdict = VERDICT_REPLAYED,
     .ends_from = 5000, .ends_to = 5250,
     .glances_from = 20, .glances_to = 27, .looks_from = 1, .looks_to = 1},
    {.why = "... and a short one's within milliseconds",
     .turns = {{0, AWAY}, {12, DONE, false}},
     .last = VERDICT_REPLAYED, .verdict = VERDICT_REPLAYED,
     .ends_from = 12, .ends_to = 20,
     .glances_from = 2, .glances_to = 4, .looks_from = 1, .looks_to = 1},
    {.why = "without a bell everybody is polled",
     .turns = {{0, OWNED}, {5000, DONE, false}},
     .no_bell = true,
     .last = VERDICT_REPLAYED, .verdict = VERDICT_REPLAYED,
     .ends_from = 5000, .ends_to = 5250,
     .glances_from = 20, .glances_to = 27, .looks_from = 1, .looks_to = 1},
    {.why = "C3: an owner that renews costs a look in a tenth of its lease, not one a glance",
     .turns = {{0, RENEWED}}, .verdict = VERDICT_IN_FLIGHT,
     .ends_from = TIMEOUT, .ends_to = TIMEOUT,
     .glances_from = 10, .glances_to = 11, .looks_from = 3, .looks_to = 5},
    {.why = "C6: an owner that died is taken over from soon after its lease",
     .turns = {{0, AWAY}, {4000, AWAY_LAPSED, false}},
     .last = VERDICT_FIRST, .verdict = VERDICT_FIRST,
     .ends_from = 4000, .ends_to = 4250,
     .glances_from = 15, .glances_to = 25, .looks_from = 1, .looks_to = 1},
    {.why = "C32: a client that hangs up is waited for no more, its owner on this host",
     .turns = {{0, OWNED}},
     .client_leaves = 3333, .verdict = VERDICT_IN_FLIGHT,
     .ends_from = 3333, .ends_to = 3583,
     .glances_from = 4, .glances_to = 4},
    {.why = "... or on another",
     .turns = {{0, AWAY}},
     .client_leaves = 3333, .verdict = VERDICT_IN_FLIGHT,
     .ends_from = 3333, .ends_to = 3333,
     .glances_from = 10, .glances_to = 20},
    {.why = "a database that comes back in time is no trouble",
     .turns = {{0, OWNED}, {500, TROUBLE, true}, {2500, DONE, true}},
     .last = VERDICT_REPLAYED, .verdict = VERDICT_REPLAYED,
     .ends_from = 2500, .ends_to = 3500,
     .glances_from = 4, .glances_to = 7, .looks_from = 1, .looks_to = 1},
    {.why = "one that stays away is told",
     .turns = {{0, OWNED}, {500, TROUBLE, true}}, .verdict = VERDICT_STORE_DOWN,
     .ends_from = 3500, .ends_to = 5500,
     .glances_from = 7, .glances_to = 7},
    {.why = "... but runs nothing beside an owner that is known, whatever store_down says",
     .turns = {{0, OWNED}, {500, TROUBLE, true}},
     .runs_without_store = true, .verdict = VERDICT_IN_FLIGHT,
     .ends_from = 3500, .ends_to = 5500,
     .glances_from = 7, .glances_to = 7},
    {.why = "trouble now and then does not add up",
     .turns = {{0, AWAY}, {1000, TROUBLE}, {2000, AWAY}, {3000, TROUBLE}, {6000, AWAY}},
     .verdict = VERDICT_IN_FLIGHT,
     .ends_from = TIMEOUT, .ends_to = TIMEOUT,
     .glances_from = 20, .glances_to = 60},
};
/* clang-format on */

static struct config config = {.workers = 4,
			       .store = {.connect_timeout = 100, .read_timeout = 100}};
static struct route route;
static struct recorder recorder;
static struct store_owner owner;
static struct exchange exchange;

static enum verdict wait_through(const struct story *told, struct error *error)
{
	story = told;
	now = glances = looks = 0;
	route.store_down = told->runs_without_store ? STORE_DOWN_RUN : STORE_DOWN_REFUSE;
	exchange.bell = told->no_bell ? NULL : (struct bell *)(uintptr_t)bell;
	return wait_for_owner(&exchange, look, error);
}

static void set_up(void)
{
	recorder_init(&recorder);
	route = (struct route){.wait_timeout = TIMEOUT, .lease = LEASE};
	exchange = (struct exchange){.config = &config, .route = &route, .reply = &recorder.reply};
	exchange.claim.owner = &owner;
}

static void tear_down(void)
{
	recorder_free(&recorder);
}

START_TEST(each_story_ends_as_it_must)
{
	struct story told = stories[_i];
	struct error error = {0};
	if (told.client_leaves == 0)
		told.client_leaves = NEVER;
	enum verdict verdict = wait_through(&told, &error);
	char found[200];
	snprintf(found, sizeof(found), "%s: %s after %lld ms, %d glances, %d looks", told.why,
		 verdict_name(verdict), (long long)now, glances, looks);
	ck_assert_msg(verdict == told.verdict, "%s", found);
	ck_assert_msg(now >= told.ends_from && now <= told.ends_to, "%s", found);
	ck_assert_msg(glances >= told.glances_from && glances <= told.glances_to, "%s", found);
	ck_assert_msg(looks >= told.looks_from && looks <= told.looks_to, "%s", found);
	/* A trouble that passed is not told; one that did not is. */
	ck_assert_msg((error.message[0] != '\0') == (turn_now()->scene == TROUBLE), "%s: %s", found,
		      error.message);
}
END_TEST

/* How many of the pool's places for waiters there are. */
static size_t places(void)
{
	static const struct story done = {
	    .turns = {{0, DONE}}, .client_leaves = NEVER, .last = VERDICT_REPLAYED};
	struct slots *slots = slots_new((size_t)config.workers);
	struct error error = {0};
	size_t waiting = 0;
	for (; waiting < (size_t)config.workers; waiting++) {
		slot_adopt(slots, waiting);
		if (wait_through(&done, &error) != VERDICT_REPLAYED) {
			ck_assert_int_eq(glances, 0);
			break;
		}
		ck_assert(slot_wait_begin((size_t)config.workers)); /* stays */
	}
	slots_free(slots);
	return waiting;
}

START_TEST(C13_waiters_leave_workers_to_run_what_they_wait_for)
{
	static const struct {
		int64_t workers, max_waiters;
		size_t places;
		const char *why;
	} pools[] = {
	    {8, 0, 4, "half the workers where nothing is said"},
	    {5, 0, 2, "rounded down"},
	    {8, 3, 3, "as many as the route says"},
	    {8, 7, 7, "up to all workers but one"},
	    {8, 8, 7, "never all"},
	    {8, 100, 7, "whatever the route says"},
	    {1, 0, 0, "a worker alone never waits: it would wait for itself"},
	    {1, 5, 0, "whatever the route says"},
	};
	for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++) {
		config.workers = pools[i].workers;
		route.max_waiters = pools[i].max_waiters;
		size_t found = places();
		ck_assert_msg(found == pools[i].places, "%s: %zu", pools[i].why, found);
	}
}
END_TEST

START_TEST(C13_the_place_is_free_again_after_the_wait)
{
	static const struct story done = {
	    .turns = {{0, DONE}}, .client_leaves = NEVER, .last = VERDICT_REPLAYED};
	struct slots *slots = slots_new(2);
	struct error error = {0};
	config.workers = 2;
	route.max_waiters = 1;
	slot_adopt(slots, 0);
	ck_assert_int_eq(wait_through(&done, &error), VERDICT_REPLAYED);
	slot_adopt(slots, 1);
	ck_assert_int_eq(wait_through(&done, &error), VERDICT_REPLAYED);
	slots_free(slots);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wait");
	TCase *tests = tcase_create("wait");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, each_story_ends_as_it_must, 0,
			    sizeof(stories) / sizeof(stories[0]));
	tcase_add_test(tests, C13_waiters_leave_workers_to_run_what_they_wait_for);
	tcase_add_test(tests, C13_the_place_is_free_again_after_the_wait);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
