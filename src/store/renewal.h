/* SPDX-License-Identifier: ISC */
/*
 * Renewing a lease without ever blocking: Connector/C's _start and _cont calls as a small state
 * machine that a poll loop drives, reconnecting included, so that a slow database stops neither the
 * draining of a handler's output nor its deadline. Writes once_lease only, never the record's row.
 *
 * Between renewal_start and the step that ends it the store must not be used for anything else;
 * renewal_cancel gives it back at any moment (the connection is dropped if a statement was under
 * way).
 */
#ifndef ONCEWRAP_STORE_RENEWAL_H
#define ONCEWRAP_STORE_RENEWAL_H

#include "store/store.h"

#include <poll.h>

enum renewal_state {
	RENEWAL_PENDING, /* poll for renewal_poll's descriptor and time, then step again */
	RENEWAL_HELD,    /* confirmed: the lease holds for its length from before the statement was
			    sent */
	RENEWAL_LOST,    /* the lease was closed by somebody else */
	RENEWAL_FAILED,  /* not confirmed; *error says; may be started again */
};

struct renewal;

struct renewal *renewal_new(struct store *store);
void renewal_free(struct renewal *renewal);

/* Begin; `lease` in ms. The connection is used as it is or made anew. */
enum renewal_state renewal_start(struct renewal *renewal, const unsigned char token[TOKEN_LENGTH],
				 int64_t lease, struct error *error);

/* What to wait for: fills *fd (fd -1 when none) and lowers *wait_ms (-1: for ever) to the step's
 * time-out. */
void renewal_poll(const struct renewal *renewal, struct pollfd *fd, int *wait_ms);

/* Go on after poll(2) returned; `revents` 0 when the time ran out. */
enum renewal_state renewal_step(struct renewal *renewal, short revents, struct error *error);

void renewal_cancel(struct renewal *renewal);

#endif
