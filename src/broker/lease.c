/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/lease.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "broker/outage.h"

#include <poll.h>

/* An owner stops this long before its lease is over: what it takes to end the handler. */
#define STOP_MARGIN_MS 100

/* After a failed renewal the next is tried soon: a twentieth of the lease, at least this. */
#define LEAST_RETRY_MS 50

void lease_init(struct lease *lease, struct exchange *exchange)
{
	int64_t length = exchange->route->lease;
	*lease = (struct lease){
	    .exchange = exchange,
	    .length = length,
	    .confirmed_until = exchange->lease_from + length,
	    .next = exchange->lease_from + length / 3,
	    .must_hold = exchange->route->on_lapse == LAPSE_RERUN,
	};
}

static void log_renewal(const struct lease *lease, const char *event, const char *message)
{
	log_begin(LOG_LEVEL_WARNING, event);
	log_field_text("route", lease->exchange->route->name);
	log_field_hex("record", lease->exchange->claim.id, DIGEST_LENGTH);
	log_field_number("attempt", lease->exchange->attempt);
	log_field_text("message", message);
	log_end();
}

static void take_state(struct lease *lease, enum renewal_state state, const struct error *error)
{
	lease->under_way = state == RENEWAL_PENDING;
	switch (state) {
	case RENEWAL_PENDING:
		return;
	case RENEWAL_HELD:
		lease->failing = false;
		outage_note_success();
		lease->confirmed_until = lease->sent + lease->length;
		lease->next = lease->sent + lease->length / 3;
		return;
	case RENEWAL_LOST:
		lease->lost = true;
		lease->next = CLOCK_NEVER;
		log_renewal(lease, "lease_lost", "the lease was closed by another claimant");
		return;
	case RENEWAL_FAILED: {
		int64_t pause = lease->length / 20;
		outage_note_failure(error);
		lease->next = clock_now() + (pause > LEAST_RETRY_MS ? pause : LEAST_RETRY_MS);
		if (!lease->failing)
			log_renewal(lease, "renewal_failed", error->message);
		lease->failing = true;
		return;
	}
	}
}

static void start(struct lease *lease)
{
	struct error error = {0};
	lease->sent = clock_now();
	take_state(lease,
		   renewal_start(lease->exchange->renewal, lease->exchange->claim.token,
				 lease->length, &error),
		   &error);
}

static void prepare(void *context, struct pollfd *fd, int *wait_ms)
{
	struct lease *lease = context;
	fault_point("handler-running");
	fd->fd = -1;
	int64_t until = lease->next;
	if (lease->under_way) {
		int rest_ms = -1;
		renewal_poll(lease->exchange->renewal, fd, &rest_ms);
		lease->step_deadline = rest_ms < 0 ? CLOCK_NEVER : clock_now() + rest_ms;
		until = lease->step_deadline;
	}
	if (lease->must_hold && lease->confirmed_until - STOP_MARGIN_MS < until)
		until = lease->confirmed_until - STOP_MARGIN_MS;
	int wait = clock_wait(until);
	if (wait >= 0 && (*wait_ms < 0 || wait < *wait_ms))
		*wait_ms = wait;
}

static void step(struct lease *lease, short revents)
{
	if (revents == 0 && clock_now() < lease->step_deadline)
		return;
	struct error error = {0};
	take_state(lease, renewal_step(lease->exchange->renewal, revents, &error), &error);
}

static enum run_wish serve(void *context, short revents)
{
	struct lease *lease = context;
	if (lease->under_way)
		step(lease, revents);
	else if (clock_now() >= lease->next)
		start(lease);
	if (!lease->must_hold)
		return RUN_ON;
	if (!lease->lost && clock_now() >= lease->confirmed_until - STOP_MARGIN_MS) {
		lease->lost = true;
		log_renewal(lease, "lease_lost", "the lease could not be renewed in time");
	}
	return lease->lost ? RUN_KILL : RUN_ON;
}

struct run_guest lease_guest(struct lease *lease)
{
	return (struct run_guest){.context = lease, .prepare = prepare, .serve = serve};
}

void lease_finish(struct lease *lease)
{
	while (lease->under_way) {
		struct pollfd fd = {.fd = -1};
		int wait_ms = -1;
		renewal_poll(lease->exchange->renewal, &fd, &wait_ms);
		lease->step_deadline = wait_ms < 0 ? CLOCK_NEVER : clock_now() + wait_ms;
		if (poll(&fd, 1, wait_ms) <= 0)
			fd.revents = 0;
		step(lease, fd.revents);
	}
}

bool lease_confirm(struct lease *lease)
{
	if (clock_now() < lease->next)
		return true;
	start(lease);
	lease_finish(lease);
	return !lease->lost && clock_now() < lease->confirmed_until - STOP_MARGIN_MS;
}
