/* SPDX-License-Identifier: ISC */
/*
 * Keeping a claim's lease alive while its handler runs, as a guest of the run loop: renewed each
 * third, tried again soon when a renewal fails (case C8), counted from before each one was sent.
 * Where another may start once the lease is over (on_lapse = rerun), an owner that could not
 * confirm it in time ends its handler first.
 */
#ifndef ONCEWRAP_BROKER_LEASE_H
#define ONCEWRAP_BROKER_LEASE_H

#include "broker/exchange.h"
#include "handler/run.h"

#include <stdbool.h>
#include <stdint.h>

struct lease {
	struct exchange *exchange;
	int64_t length;          /* ms */
	int64_t confirmed_until; /* clock_now until when the lease surely holds */
	int64_t next;            /* when the next renewal is due */
	int64_t sent;            /* when the one under way was sent */
	int64_t step_deadline;   /* until when the one under way may rest */
	bool under_way;
	bool failing;   /* the last renewal failed: told once, not at every try */
	bool lost;      /* closed by somebody else, or not confirmed in time */
	bool must_hold; /* the route lets another run once it is over */
};

/* The lease of the claim that exchange has just won. */
void lease_init(struct lease *lease, struct exchange *exchange);

/* For run.guests. */
struct run_guest lease_guest(struct lease *lease);

/* If the claim was so long on its way that a renewal is due already, renew now, before the handler
 * starts (design section 4, rule 3): true: the lease holds. */
bool lease_confirm(struct lease *lease);

/* The handler has ended: bring a renewal under way to its end, so that the connection is free for
 * the settlement. */
void lease_finish(struct lease *lease);

#endif
