/* SPDX-License-Identifier: ISC */
/* The database as the configuration names it, for a program that ends when it cannot be had. */
#ifndef ONCEWRAP_ADMIN_CONNECT_H
#define ONCEWRAP_ADMIN_CONNECT_H

#include "admin/common/options.h"
#include "admin/common/status.h"
#include "config/config.h"
#include "store/connection.h"

#include <stdbool.h>

#define CONNECT_DEFAULT_FILE SYSCONFDIR "/oncewrap/oncewrap.conf"

struct connect {
	const char *file;      /* --config */
	int64_t timeout;       /* --timeout, in seconds: for connecting, and for each answer */
	bool verbose;          /* --verbose: connect_open tells whom it has reached, and how */
	struct config *config; /* owned */
	struct connection connection;
};

/* Every option at its default, nothing opened. */
void connect_init(struct connect *connect);

struct option_group connect_options(struct connect *connect);
/* --config alone, for a program with a --timeout of its own. */
struct option_group connect_file_options(struct connect *connect);

/* Read the configuration, to be logged in with by the option group `group`, or the configured one
 * where the option file has no such group; nothing is opened. GO_ON, or the exit status of what was
 * told. Closed by connect_close in either case. */
int connect_load(struct connect *connect, enum connection_use use, const char *group)
    __attribute__((warn_unused_result));

/* For whoever promised an answer in so many seconds: a name server that does not answer is waited
 * for within Connector/C, where no deadline reaches. Who has set something else meant it. */
void connect_hurry(void);

/* connect_load, and log in. */
int connect_open(struct connect *connect, const char *program, enum connection_use use,
		 const char *group) __attribute__((warn_unused_result));

void connect_close(struct connect *connect);

/* Tell why something failed at the database, after it did; the exit status. */
int connect_failed(const struct connect *connect, const char *program, const struct error *error);

#endif
