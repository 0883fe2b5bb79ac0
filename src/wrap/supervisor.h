/* SPDX-License-Identifier: ISC */
/* The process that keeps the workers: starts them, replaces those that die, reloads, stops. Serves
 * nothing itself. */
#ifndef ONCEWRAP_WRAP_SUPERVISOR_H
#define ONCEWRAP_WRAP_SUPERVISOR_H

#include "broker/bell.h"
#include "wrap/listener.h"
#include "wrap/options.h"

/* Until TERM, INT or QUIT; HUP reads the configuration again. Takes configuration and listener
 * over, borrows the bell (NULL: none). The exit status. */
int supervisor_run(const struct options *options, struct config *config, struct listener *listener,
		   struct bell *bell);

#endif
