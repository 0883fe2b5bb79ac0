/* SPDX-License-Identifier: ISC */
/* What makes a purge wait: a replica that lags behind, and a cluster whose flow control stops its
 * writers. */
#ifndef ONCEWRAP_ADMIN_EXPIRE_BRAKE_H
#define ONCEWRAP_ADMIN_EXPIRE_BRAKE_H

#include "admin/common/connect.h"

#include <stdint.h>

enum brake_state {
	BRAKE_OFF,
	BRAKE_LAG,          /* the replica is too far behind, or replication does not run */
	BRAKE_FLOW_CONTROL, /* writers were stopped for too long */
	BRAKE_FAILED,       /* *error */
};

struct brake {
	const char *replica; /* --replica as it was given; NULL: none */
	int64_t most_lag;    /* --max-lag, ms; 0: not asked for */
	double most_stopped; /* --max-flow-control, a part of the time; 0: not asked for */
	/* private from here */
	struct connection *connection; /* to the database itself */
	struct connection behind;      /* to the replica */
	struct config_store store;
	char *place;     /* of the replica: host or socket; owned ... */
	int64_t port;    /* ... and 0: the database's */
	int64_t looked;  /* clock_now when it was last looked ... */
	int64_t stopped; /* ... ns of flow control by then ... */
	enum brake_state found;
};

/* --replica: HOST, HOST:PORT, [HOST]:PORT, or a socket. 0, or -1 with *error. */
int brake_take_replica(struct brake *brake, const char *argument, struct error *error);

/* Take a first look: 0, or -1 with *error: what is to be looked at is not there. brake_close in any
 * case. */
int brake_open(struct brake *brake, struct connect *connect, const char *group, struct error *error)
    __attribute__((warn_unused_result));
void brake_close(struct brake *brake);

/* The database's error number behind the failure; 0: it came from this side. */
unsigned brake_code(const struct brake *brake);

/* Is there anything to wait for? Looks once a second at most. */
enum brake_state brake_check(struct brake *brake, struct error *error);

#endif
