/* SPDX-License-Identifier: ISC */
/*
 * Where an idle worker waits for its next request: at the listener, and at a few connections that
 * it accepted and that have not said enough yet. So a peer that connects and stalls keeps no worker
 * from serving others (case C51).
 */
#ifndef ONCEWRAP_WRAP_LOBBY_H
#define ONCEWRAP_WRAP_LOBBY_H

#include "base/error.h"
#include "wrap/listener.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

struct lobby;

/* `stop`: blocked signals of which the arrival of any ends the waiting. `workers`: told to peers
 * that ask. NULL with *error. */
struct lobby *lobby_new(const struct listener *listener, const sigset_t *stop, size_t workers,
			int64_t silent_timeout, struct error *error);

/* A blocking connection whose request has begun, owned by the caller; -1: stop, all that was
 * accepted has been served or was silent. */
int lobby_next(struct lobby *lobby);

void lobby_free(struct lobby *lobby);

#endif
