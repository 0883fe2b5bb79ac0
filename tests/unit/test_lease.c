/* SPDX-License-Identifier: ISC */
/* The keeping of a lease in simulated time: clock and renewal are defined here, so the real ones
 * are not linked. */
#include <config.h>

#include "base/clock.h"
#include "base/log.h"
#include "broker/lease.h"
#include "tests/unit/suite.h"

#define LEASE 30000
#define START 1000000

static int64_t now;

int64_t clock_now(void)
{
	return now;
}

int clock_wait(int64_t when)
{
	return when == CLOCK_NEVER ? -1 : when <= now ? 0 : (int)(when - now);
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

/* What the next renewals answer at once, and how many were sent. */
static enum renewal_state answers[16];
static size_t sent;

enum renewal_state renewal_start(struct renewal *renewal, const unsigned char token[TOKEN_LENGTH],
				 int64_t lease, struct error *error)
{
	(void)renewal, (void)token;
	ck_assert_int_eq(lease, LEASE);
	error->message[0] = '\0';
	return answers[sent++];
}

void renewal_poll(const struct renewal *renewal, struct pollfd *fd, int *wait_ms)
{
	(void)renewal;
	fd->fd = -1;
	*wait_ms = 5000;
}

static enum renewal_state stepped = RENEWAL_HELD;

enum renewal_state renewal_step(struct renewal *renewal, short revents, struct error *error)
{
	(void)renewal, (void)revents;
	error->message[0] = '\0';
	return stepped;
}

static struct route route = {.name = (char *)(uintptr_t) "r", .lease = LEASE};
static struct exchange exchange = {.route = &route, .lease_from = START};

/* Let the run loop turn until `until`; true: it was told to kill the handler, at `now`. */
static bool run_until(struct lease *lease, int64_t until)
{
	struct run_guest guest = lease_guest(lease);
	while (now < until) {
		struct pollfd fd = {.fd = -1};
		int wait_ms = -1;
		guest.prepare(guest.context, &fd, &wait_ms);
		int64_t wait = wait_ms < 0 ? until - now : wait_ms;
		now += wait < until - now ? wait : until - now;
		if (guest.serve(guest.context, 0) == RUN_KILL)
			return true;
	}
	return false;
}

static void begin(struct lease *lease, enum route_lapse on_lapse)
{
	route.on_lapse = on_lapse;
	now = START;
	sent = 0;
	lease_init(lease, &exchange);
}

static void answer_all(enum renewal_state state)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		answers[i] = state;
}

START_TEST(a_short_handler_never_renews)
{
	struct lease lease;
	answer_all(RENEWAL_HELD);
	begin(&lease, LAPSE_RERUN);
	ck_assert(lease_confirm(&lease));
	ck_assert(!run_until(&lease, START + LEASE / 3 - 1));
	ck_assert_uint_eq(sent, 0);
}
END_TEST

START_TEST(C3_a_lease_is_renewed_each_third_while_the_handler_lives)
{
	struct lease lease;
	answer_all(RENEWAL_HELD);
	begin(&lease, LAPSE_RERUN);
	ck_assert(!run_until(&lease, START + 4 * LEASE / 3 + 1));
	ck_assert_uint_eq(sent, 4);
	ck_assert_int_eq(lease.confirmed_until, START + 4 * LEASE / 3 + LEASE);
}
END_TEST

START_TEST(C8_a_failed_renewal_is_tried_again_soon)
{
	struct lease lease;
	answer_all(RENEWAL_HELD);
	answers[0] = RENEWAL_FAILED;
	begin(&lease, LAPSE_RERUN);
	ck_assert(!run_until(&lease, START + LEASE / 3 + LEASE / 20 + 1));
	ck_assert_uint_eq(sent, 2);
	ck_assert_int_eq(lease.confirmed_until, START + LEASE / 3 + LEASE / 20 + LEASE);
}
END_TEST

START_TEST(an_owner_whom_another_may_follow_ends_before_its_lease_does)
{
	struct lease lease;
	answer_all(RENEWAL_FAILED);
	begin(&lease, LAPSE_RERUN);
	ck_assert(run_until(&lease, START + 2 * LEASE));
	ck_assert(lease.lost);
	ck_assert_int_lt(now, START + LEASE);
	ck_assert_int_gt(now, START + LEASE - 1000);
}
END_TEST

START_TEST(a_renewal_that_hangs_does_not_keep_an_owner_past_its_lease)
{
	struct lease lease;
	answer_all(RENEWAL_PENDING);
	stepped = RENEWAL_PENDING;
	begin(&lease, LAPSE_RERUN);
	ck_assert(run_until(&lease, START + 2 * LEASE));
	ck_assert_int_lt(now, START + LEASE);
	stepped = RENEWAL_HELD;
}
END_TEST

START_TEST(an_owner_whom_nobody_follows_goes_on)
{
	struct lease lease;
	answer_all(RENEWAL_FAILED);
	answers[2] = RENEWAL_HELD;
	begin(&lease, LAPSE_UNKNOWN);
	ck_assert(!run_until(&lease, START + LEASE));
	answer_all(RENEWAL_LOST);
	ck_assert(!run_until(&lease, START + 3 * LEASE));
	ck_assert(lease.lost);
	size_t after_loss = sent;
	ck_assert(!run_until(&lease, START + 5 * LEASE));
	ck_assert_uint_eq(sent, after_loss);
}
END_TEST

START_TEST(a_lease_that_was_closed_kills_at_once_where_another_may_follow)
{
	struct lease lease;
	answer_all(RENEWAL_LOST);
	begin(&lease, LAPSE_RERUN);
	ck_assert(run_until(&lease, START + LEASE));
	ck_assert_int_eq(now, START + LEASE / 3);
}
END_TEST

START_TEST(the_lease_counts_from_before_the_renewal_was_sent)
{
	struct lease lease;
	answer_all(RENEWAL_PENDING);
	begin(&lease, LAPSE_RERUN);
	ck_assert(!run_until(&lease, START + LEASE / 3 + 5000));
	ck_assert_uint_eq(sent, 1);
	ck_assert_int_eq(lease.confirmed_until, START + LEASE / 3 + LEASE);
}
END_TEST

START_TEST(a_claim_confirmed_late_is_renewed_before_its_handler_starts)
{
	struct lease lease;
	answer_all(RENEWAL_HELD);
	begin(&lease, LAPSE_RERUN);
	now = START + LEASE / 2;
	ck_assert(lease_confirm(&lease));
	ck_assert_uint_eq(sent, 1);
	ck_assert_int_eq(lease.confirmed_until, START + LEASE / 2 + LEASE);
}
END_TEST

START_TEST(a_late_claim_that_cannot_be_renewed_is_given_up)
{
	static const enum renewal_state ends[] = {RENEWAL_LOST, RENEWAL_FAILED};
	for (size_t i = 0; i < 2; i++) {
		struct lease lease;
		answer_all(ends[i]);
		begin(&lease, LAPSE_RERUN);
		now = START + 2 * LEASE;
		ck_assert(!lease_confirm(&lease));
	}
}
END_TEST

int main(void)
{
	/* What is logged is not this test's concern. */
	log_open(LOG_TARGET_STDERR, NULL, LOG_LEVEL_ERROR);
	Suite *suite = suite_create("lease");
	TCase *tests = tcase_create("lease");
	tcase_add_test(tests, a_short_handler_never_renews);
	tcase_add_test(tests, C3_a_lease_is_renewed_each_third_while_the_handler_lives);
	tcase_add_test(tests, C8_a_failed_renewal_is_tried_again_soon);
	tcase_add_test(tests, an_owner_whom_another_may_follow_ends_before_its_lease_does);
	tcase_add_test(tests, a_renewal_that_hangs_does_not_keep_an_owner_past_its_lease);
	tcase_add_test(tests, an_owner_whom_nobody_follows_goes_on);
	tcase_add_test(tests, a_lease_that_was_closed_kills_at_once_where_another_may_follow);
	tcase_add_test(tests, the_lease_counts_from_before_the_renewal_was_sent);
	tcase_add_test(tests, a_claim_confirmed_late_is_renewed_before_its_handler_starts);
	tcase_add_test(tests, a_late_claim_that_cannot_be_renewed_is_given_up);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
