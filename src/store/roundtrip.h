/* SPDX-License-Identifier: ISC */
/*
 * One round trip: a statement on its way, from opening the connection, where there is none, to the
 * end of its result. It never blocks: who started it polls and steps. roundtrip_run does that till
 * a deadline.
 *
 * Done means that the result was read to its end without an error. A row that came before that
 * proves nothing: the commit can still fail after the row was sent (on Galera it does).
 */
#ifndef ONCEWRAP_STORE_ROUNDTRIP_H
#define ONCEWRAP_STORE_ROUNDTRIP_H

#include "store/connection.h"
#include "store/parameters.h"

#include <poll.h>

enum roundtrip_state { ROUNDTRIP_PENDING, ROUNDTRIP_DONE, ROUNDTRIP_FAILED };

enum roundtrip_goal {
	ROUNDTRIP_OPEN,      /* an open connection */
	ROUNDTRIP_STATEMENT, /* a prepared statement's result, stored on this side */
	ROUNDTRIP_QUERY,     /* a query without placeholders; its result, stored, in `result` */
	ROUNDTRIP_STREAM,    /* the same, rows not fetched: mysql_use_result is next */
	ROUNDTRIP_ONCE,      /* a statement prepared for this run alone; its result stored */
};

struct roundtrip {
	struct connection *connection;
	enum roundtrip_goal goal;
	enum statement_name statement; /* ROUNDTRIP_STATEMENT */
	struct parameters *parameters; /* its values; borrowed, NULL: none */
	const char *query;             /* all others: the text; borrowed */
	MYSQL_BIND *binds;             /* ROUNDTRIP_ONCE: its values; borrowed */
	size_t bind_count, bind_size;  /* how many, and their bytes */
	MYSQL_RES *result;             /* of ROUNDTRIP_QUERY; owned by the caller once it is done */
	MYSQL_STMT *once; /* of ROUNDTRIP_ONCE; the caller's to close, also when it failed */

	/* after ROUNDTRIP_FAILED */
	unsigned code; /* the error's number; 0: it came from this side */
	bool in_doubt; /* the statement may have been done all the same */
	bool opening;  /* it failed before the statement was sent */
	struct error error;

	/* inside */
	unsigned step;
	int waiting;      /* what Connector/C waits for, MYSQL_WAIT_* */
	int64_t until;    /* when it has waited long enough */
	bool interrupted; /* its time ran out */
	char session[CONNECTION_QUERY_LENGTH];
	union {
		MYSQL *connected;
		int failed;
		my_bool refused;
		MYSQL_RES *stored;
	} returned; /* by the call under way */
};

/* Begin. The fields down to `bind_size` are the caller's to fill in first, the rest is cleared
 * here. */
enum roundtrip_state roundtrip_start(struct roundtrip *roundtrip);
/* What to poll for, and until when (clock_now milliseconds). */
void roundtrip_poll(const struct roundtrip *roundtrip, struct pollfd *fd, int64_t *until);
/* Go on after poll(2): `revents` as it filled them in, 0 when the time ran out. */
enum roundtrip_state roundtrip_step(struct roundtrip *roundtrip, short revents);
/* Give up what is under way; the connection is dropped. The server may still do the statement. */
void roundtrip_cancel(struct roundtrip *roundtrip);

/* All of it, blocking until the deadline at most. DONE or FAILED. */
enum roundtrip_state roundtrip_run(struct roundtrip *roundtrip, int64_t deadline);

/* The statement of a round trip that is done: its result, row count and insert id. */
MYSQL_STMT *roundtrip_statement(const struct roundtrip *roundtrip);

#endif
