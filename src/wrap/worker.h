/* SPDX-License-Identifier: ISC */
/* One worker process: takes a FastCGI request, hands it to the broker, and so on until it is told
 * to stop. */
#ifndef ONCEWRAP_WRAP_WORKER_H
#define ONCEWRAP_WRAP_WORKER_H

#include "broker/bell.h"
#include "config/config.h"
#include "handler/slot.h"
#include "wrap/listener.h"

#include <stddef.h>
#include <sys/types.h>

struct worker {
	const struct config *config;
	const char
	    *handler; /* the program of --handler; NULL: scripts as the web server names them */
	const struct listener *listener;
	struct slots *slots;
	struct bell *bell; /* NULL: none */
	size_t index;      /* of its slot */
	size_t count;      /* of all workers */
	pid_t supervisor;
};

/* In the forked child, with the stopping signals blocked: serve until one of them, or the
 * supervisor's death, and finish the request in hand. The exit status. */
int worker_run(const struct worker *worker);

#endif
