/* SPDX-License-Identifier: ISC */
/*
 * One connection to the database: how it is configured, what is set on its session, which
 * statements are prepared on it, and how it is given up. Hides Connector/C's options. Never waits
 * for the network: that is roundtrip.c's work, which also opens it.
 */
#ifndef ONCEWRAP_STORE_CONNECTION_H
#define ONCEWRAP_STORE_CONNECTION_H

#include "base/error.h"
#include "config/config.h"
#include "store/option_file.h"
#include "store/statements.h"

#include <mysql.h>
#include <stdbool.h>
#include <stdint.h>

enum connection_use {
	CONNECTION_BROKER,    /* 1205 at once where a row is locked, unless the statement waits */
	CONNECTION_ADMIN,     /* waits for a locked row */
	CONNECTION_MIGRATION, /* as long as it takes: no time limit on a statement */
};

struct connection {
	const struct config_store *config; /* borrowed */
	enum connection_use use;
	const char
	    *group; /* option group asked first, before the configured one; borrowed, may be NULL */
	bool group_found; /* the credentials are that group's */
	struct credentials credentials;
	MYSQL *mysql;                            /* NULL while there is none */
	MYSQL_STMT *statements[STATEMENT_COUNT]; /* prepared when first needed; NULL until then */
	bool open;                               /* set up: statements may be issued */
	uint64_t max_packet; /* the server's max_allowed_packet; 0 while not open */
	bool galera;
	bool down;            /* the last attempt to open it failed */
	int64_t began;        /* when the attempt under way began */
	int64_t quiet_until;  /* no further attempt before this, for those who cannot wait */
	struct error refusal; /* why the last attempt failed */
	unsigned code;        /* error number that the last round trip ended with; 0: none */
};

void connection_init(struct connection *connection, const struct config_store *config,
		     enum connection_use use, const char *group);

/* Say goodbye, if that needs no waiting, and free everything. Usable again afterwards. */
void connection_close(struct connection *connection);

/* Give it up without a word: what is under way on the server is left to itself. */
void connection_drop(struct connection *connection);

/* In a forked child: free the memory; nothing reaches the parent's connection. */
void connection_abandon(struct connection *connection);

/* The most bytes of data that one statement can carry; 0 while it is not open. */
uint64_t connection_largest(const struct connection *connection);

/* What its session was told of waiting for a row that is locked, s. */
int64_t connection_lock_wait(const struct connection *connection);

/* How long the answer to one call may take, ms; 0: any time. */
int64_t connection_patience(const struct connection *connection);

/* The parts of opening, in roundtrip.c's order. 0, or -1 with *error. */
int connection_make_handle(struct connection *connection, struct error *error);
int connection_check_tls(const struct connection *connection, struct error *error);
#define CONNECTION_QUERY_LENGTH 512
void connection_session_query(const struct connection *connection,
			      char query[CONNECTION_QUERY_LENGTH]);
extern const char connection_variables_query[];
int connection_take_variables(struct connection *connection, MYSQL_RES *result,
			      struct error *error);
extern const char connection_galera_query[];
void connection_opened(struct connection *connection);
/* Also drops it, and remembers why. */
void connection_failed(struct connection *connection, const struct error *error);

/* The text under which a statement is prepared here: its own, with the time it may wait for a row
 * before it. */
#define CONNECTION_TEXT_LENGTH 2048
size_t connection_statement_text(const struct connection *connection, enum statement_name name,
				 char text[CONNECTION_TEXT_LENGTH]);

#endif
