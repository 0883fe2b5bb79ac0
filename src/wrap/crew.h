/* SPDX-License-Identifier: ISC */
/*
 * The workers that share one configuration. A reload makes a new crew and lets the old one leave:
 * each of its workers finishes the request in hand. Whoever does not leave in time is killed, and
 * with a dead worker goes the handler it left.
 */
#ifndef ONCEWRAP_WRAP_CREW_H
#define ONCEWRAP_WRAP_CREW_H

#include "broker/bell.h"
#include "config/config.h"
#include "wrap/listener.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct crew;

/* Takes `config` over, borrows the rest. No worker is started yet. NULL when out of memory:
 * `config` stays the caller's. */
struct crew *crew_new(struct config *config, const char *handler, const struct listener *listener,
		      struct bell *bell);
void crew_free(struct crew *crew); /* NULL is fine; for a crew that is gone */

const struct config *crew_config(const struct crew *crew);

/* Tell all workers to finish and leave; no more are started. */
void crew_dismiss(struct crew *crew);

/* Do what is due: start workers that are missing, kill those that have not left in time. When there
 * is more to do (clock_now), CLOCK_NEVER: not before somebody dies. Returns in the supervisor only.
 */
int64_t crew_tend(struct crew *crew);

/* A process has died: true, and dealt with, if it was one of this crew's. */
bool crew_bury(struct crew *crew, pid_t pid, int status);

/* Has it been dismissed, and have all left? */
bool crew_gone(const struct crew *crew);

#endif
