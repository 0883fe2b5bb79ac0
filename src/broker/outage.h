/* SPDX-License-Identifier: ISC */
/*
 * The database's going and its coming back, each told by one line of the log: not by every request,
 * nor by every worker of the pool.
 */
#ifndef ONCEWRAP_BROKER_OUTAGE_H
#define ONCEWRAP_BROKER_OUTAGE_H

#include "base/error.h"

/* Before the workers are forked: what one of them has told is known to all of them. Without memory
 * for it each tells for itself. */
void outage_share(void);

/* The database could not do what it was asked to, or did it. */
void outage_note_failure(const struct error *why);
void outage_note_success(void);

#endif
