/* SPDX-License-Identifier: ISC */
/*
 * Waiting for another's answer (in_flight = "wait"): within the route's bound, with no more waiters
 * than leave workers to run what they wait for (case C13), woken by the bell where the owner is on
 * this host and looking now and then where it is not.
 */
#ifndef ONCEWRAP_BROKER_WAIT_H
#define ONCEWRAP_BROKER_WAIT_H

#include "base/error.h"
#include "broker/exchange.h"
#include "broker/verdict.h"

/*
 * After VERDICT_IN_FLIGHT. `look` decides anew, claiming a key that came free; anything but
 * VERDICT_IN_FLIGHT ends the wait. It is called only when a glance at the record says that
 * something has changed, or that the lease may have lapsed.
 *
 * VERDICT_IN_FLIGHT when the bound is reached, there are too many waiters, or the client has gone.
 * VERDICT_STORE_DOWN with *error when the database stays away; but where such a route runs its
 * requests all the same (store_down = run), VERDICT_IN_FLIGHT: an owner is known to be at work.
 */
enum verdict wait_for_owner(struct exchange *exchange,
			    enum verdict (*look)(struct exchange *exchange, struct error *error),
			    struct error *error);

#endif
