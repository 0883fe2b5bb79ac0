/* SPDX-License-Identifier: ISC */
/*
 * A process between a client and MariaDB that passes every byte on, until it is told to do harm to
 * an execution of a prepared statement (COM_STMT_EXECUTE), or to a COMMIT: what a network, a dying
 * server or a Galera node can do to it. The harm is done once.
 */
#ifndef ONCEWRAP_TESTS_LIB_PROXY_H
#define ONCEWRAP_TESTS_LIB_PROXY_H

#include <sys/types.h>

enum proxy_harm {
	PROXY_NONE,
	PROXY_LOSE_REQUEST, /* the connection breaks before the server has heard of it */
	PROXY_LOSE_REPLY,   /* the server has done it; the connection breaks before the reply */
	PROXY_LOSE_END,     /* the row got through; the connection breaks before the result's end */
	PROXY_FAIL_END,     /* the row got through; in place of the result's end comes an error */
};

struct proxy {
	pid_t process;
	char socket[108]; /* where it listens */
	struct proxy_orders *orders;
};

/* Listen at a socket in `directory`, and connect to `server` for each client. Fails the test when
 * it cannot. */
void proxy_start(struct proxy *proxy, const char *directory, const char *server);
void proxy_stop(struct proxy *proxy);

/* Do this to the next execution; `code` is the error number of PROXY_FAIL_END. */
void proxy_harm(struct proxy *proxy, enum proxy_harm harm, unsigned code);
/* ... when `spared` of them have passed. */
void proxy_harm_later(struct proxy *proxy, unsigned spared, enum proxy_harm harm, unsigned code);

/* Still to be done? */
int proxy_is_armed(const struct proxy *proxy);

/* Since the start. */
unsigned proxy_connections(const struct proxy *proxy);
unsigned proxy_executions(const struct proxy *proxy);
unsigned proxy_preparations(const struct proxy *proxy);

#endif
