/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/wait.h"

#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "broker/bell.h"
#include "handler/slot.h"
#include "metrics/count.h"

/* A sleep that the bell ends is cut so, for a client that hangs up does not ring it. */
#define SLICE_MS 250

/* Between two glances where the bell will ring: for what it cannot tell of, such as an owner that
 * died, and for an owner on this host that rings another bell (a container, another run_directory).
 */
#define NET_MS 1000

/* ... and where it will not, doubling. */
#define FIRST_POLL_MS 5
#define LAST_POLL_MS  250

/* A first lease that is over says nothing while the owner renews it, and to find out costs writes:
 * each waiter does so once in a tenth of the lease, within these. */
#define LEAST_LAPSE_MS 250
#define MOST_LAPSE_MS  5000

/* Between glances that fail, doubling, and how many in a row are borne: some four seconds. */
#define FIRST_TROUBLE_MS 250
#define LAST_TROUBLE_MS  1000
#define MOST_TROUBLES    5

struct wait {
	struct exchange *exchange;
	enum verdict (*look)(struct exchange *exchange, struct error *error);
	int64_t until;
	bool knows_owner;                 /* by the last glance: */
	unsigned char seen[TOKEN_LENGTH]; /* its token */
	bool rings;                       /* it rings our bell */
	int64_t poll_ms;                  /* the next pause where nobody rings */
	int64_t next_lapse;               /* when a lapse may be looked into again */
	int troubles;                     /* glances that failed in a row */
};

/* Waiters never fill the pool: somebody must be left to run what they wait for. */
static size_t most_waiters(const struct exchange *exchange)
{
	int64_t workers = exchange->config->workers;
	int64_t most = exchange->route->max_waiters;
	if (most == 0)
		most = workers / 2;
	return (size_t)(most < workers ? most : workers - 1);
}

/* Sleep `milliseconds` (0: only see); true: the client has gone. */
static bool client_leaves(const struct wait *wait, int64_t milliseconds)
{
	const struct reply *reply = wait->exchange->reply;
	struct pollfd client = {.fd = reply->descriptor(reply->context),
				.events = POLLIN | POLLRDHUP};
	return poll(&client, 1, (int)milliseconds) > 0;
}

static int64_t shorter(int64_t one, int64_t other)
{
	return one < other ? one : other;
}

/* Up to the next glance; false: the client has gone. A word that is not `word` any more ends it,
 * also where the wake itself was lost with the process that rang. */
static bool sleep_until_rung(const struct wait *wait, uint32_t word)
{
	struct bell *bell = wait->exchange->bell;
	const unsigned char *id = wait->exchange->claim.id;
	int64_t end = shorter(clock_now() + NET_MS, wait->until);
	for (;;) {
		if (client_leaves(wait, 0))
			return false;
		int64_t left = end - clock_now();
		if (left <= 0 || bell_word(bell, id) != word)
			return true;
		bell_wait(bell, id, word, shorter(left, SLICE_MS));
	}
}

static bool sleep_unrung(const struct wait *wait, int64_t milliseconds)
{
	int64_t left = wait->until - clock_now();
	return left <= 0 || !client_leaves(wait, shorter(milliseconds, left));
}

static int64_t doubled(int64_t first, int times, int64_t last)
{
	return shorter(first << times, last);
}

/* False: the client has gone. */
static bool sleep_before_glance(struct wait *wait, uint32_t word)
{
	if (wait->troubles > 0)
		return sleep_unrung(wait,
				    doubled(FIRST_TROUBLE_MS, wait->troubles - 1, LAST_TROUBLE_MS));
	if (wait->rings)
		return sleep_until_rung(wait, word);
	int64_t pause = wait->poll_ms;
	wait->poll_ms = doubled(pause, 1, LAST_POLL_MS);
	return sleep_unrung(wait, pause);
}

/* Whoever is the owner after a look is learnt by the next glance, soon. */
static void forget_owner(struct wait *wait)
{
	wait->knows_owner = false;
	wait->rings = false;
	wait->poll_ms = FIRST_POLL_MS;
}

static bool lapse_is_due(struct wait *wait)
{
	int64_t now = clock_now();
	if (now < wait->next_lapse)
		return false;
	int64_t pause = shorter(wait->exchange->route->lease / 10, MOST_LAPSE_MS);
	wait->next_lapse = now + (pause > LEAST_LAPSE_MS ? pause : LEAST_LAPSE_MS);
	return true;
}

/* Does what was glanced at call for a look? That an unknown owner is at work has just been seen. */
static bool calls_for_look(struct wait *wait, const struct store_glance *glance)
{
	bool other = wait->knows_owner && memcmp(wait->seen, glance->token, TOKEN_LENGTH) != 0;
	if (glance->state != RECORD_IN_FLIGHT || other) {
		forget_owner(wait);
		return true;
	}
	memcpy(wait->seen, glance->token, TOKEN_LENGTH);
	wait->knows_owner = true;
	wait->rings = glance->here && wait->exchange->bell != NULL;
	return glance->lapsed && lapse_is_due(wait);
}

static enum verdict judge_trouble(struct wait *wait, struct error *error)
{
	wait->troubles++;
	if (wait->troubles <= MOST_TROUBLES) {
		*error = (struct error){0};
		return VERDICT_IN_FLIGHT;
	}
	return wait->exchange->route->store_down == STORE_DOWN_RUN ? VERDICT_IN_FLIGHT
								   : VERDICT_STORE_DOWN;
}

static enum verdict glance_once(struct wait *wait, struct error *error)
{
	struct exchange *exchange = wait->exchange;
	const struct config_store *limits = &exchange->config->store;
	int64_t deadline = clock_now() + limits->connect_timeout + limits->read_timeout;
	struct store_glance glance;
	enum store_result result = store_glance(exchange->store, exchange->claim.id,
						exchange->claim.owner, &glance, deadline, error);
	if (result != STORE_DONE && result != STORE_NO_ROW)
		return judge_trouble(wait, error);
	wait->troubles = 0;
	if (result == STORE_NO_ROW)
		forget_owner(wait);
	else if (!calls_for_look(wait, &glance))
		return VERDICT_IN_FLIGHT;
	return wait->look(exchange, error);
}

static enum verdict wait_long(struct wait *wait, struct error *error)
{
	const struct exchange *exchange = wait->exchange;
	while (clock_now() < wait->until) {
		/* Before the glance: who settles after it rings what is slept on. */
		uint32_t word = bell_word(exchange->bell, exchange->claim.id);
		enum verdict verdict = glance_once(wait, error);
		if (verdict != VERDICT_IN_FLIGHT || wait->troubles > MOST_TROUBLES ||
		    !sleep_before_glance(wait, word))
			return verdict;
	}
	return VERDICT_IN_FLIGHT;
}

enum verdict wait_for_owner(struct exchange *exchange,
			    enum verdict (*look)(struct exchange *exchange, struct error *error),
			    struct error *error)
{
	if (!slot_wait_begin(most_waiters(exchange)))
		return VERDICT_IN_FLIGHT;
	struct wait wait = {
	    .exchange = exchange,
	    .look = look,
	    .until = clock_now() + exchange->route->wait_timeout,
	    .poll_ms = FIRST_POLL_MS,
	};
	count_worker_state(WORKER_WAITING);
	enum verdict verdict = wait_long(&wait, error);
	count_worker_state(WORKER_CLAIMING);
	slot_wait_end();
	return verdict;
}
