/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/connection.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

/* Connector/C's non-blocking calls run on a stack of their own; its default of 60 KiB is tight for
 * a TLS handshake. Pages that are never touched cost nothing. */
enum { COROUTINE_STACK = 256 * 1024 };

/* What a packet needs beside its statement's bytes, generously. */
enum { PACKET_RESERVE = 64 * 1024 };

/* Seconds. Whoever is stopped, or cut off, in the middle of a transaction must not keep a worker
 * from its record until TCP or a person finds out. */
enum { IDLE_TRANSACTION = 5 };

/* Bounds of the time in which a database known to be away is not tried again. */
enum { QUIET_LEAST = 200, QUIET_MOST = 5000 };

void connection_init(struct connection *connection, const struct config_store *config,
		     enum connection_use use, const char *group)
{
	*connection = (struct connection){.config = config, .use = use, .group = group};
}

int64_t connection_patience(const struct connection *connection)
{
	return connection->use == CONNECTION_MIGRATION ? 0 : connection->config->read_timeout;
}

uint64_t connection_largest(const struct connection *connection)
{
	uint64_t packet = connection->max_packet;
	return packet > PACKET_RESERVE ? packet - PACKET_RESERVE : 0;
}

/* The server stops a statement before the client turns away from it: a client that only stops
 * listening leaves a statement behind that commits later. And it gives up a lock before that. */
static int64_t statement_limit(const struct connection *connection)
{
	return connection_patience(connection) * 3 / 4;
}

static int64_t lock_wait_seconds(const struct connection *connection)
{
	int64_t patience = connection_patience(connection);
	return patience > 0 ? patience / 2 / 1000 : 60;
}

static int read_credentials(struct connection *connection, struct error *error)
{
	credentials_free(&connection->credentials);
	connection->group_found = false;
	const char *path = connection->config->option_file;
	if (*path == '\0')
		return 0;
	const char *standard = connection->config->option_group;
	bool found = false;
	if (connection->group != NULL &&
	    option_file_read(path, connection->group, &connection->credentials,
			     &connection->group_found, error) < 0)
		return -1;
	if (connection->group_found)
		return 0;
	if (option_file_read(path, standard, &connection->credentials, &found, error) < 0)
		return -1;
	if (!found) {
		error_set(error, ERROR_INPUT, "%s: has no group [%s]", path, standard);
		return -1;
	}
	return 0;
}

/* Whom to log in as: the user of the group that was asked for by name, which is there to be another
 * than the wrapper's; else the configured user, the option file's, or the running account, which is
 * what the server's unix_socket authentication goes by. */
static int choose_user(struct connection *connection, struct error *error)
{
	struct credentials *credentials = &connection->credentials;
	const char *user = connection->config->user;
	if (credentials->user != NULL && (connection->group_found || *user == '\0'))
		return 0;
	if (*user == '\0') {
		errno = 0;
		const struct passwd *account = getpwuid(geteuid());
		if (account == NULL) {
			error_set(error, ERROR_SYSTEM, "account %ju has no name; set store.user",
				  (uintmax_t)geteuid());
			return -1;
		}
		user = account->pw_name;
	}
	free(credentials->user);
	credentials->user = strdup(user);
	if (credentials->user == NULL) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return -1;
	}
	return 0;
}

static unsigned whole_seconds(int64_t milliseconds)
{
	return (unsigned)((milliseconds + 999) / 1000);
}

/* 0 when every option was taken. */
static int set_options(const struct connection *connection)
{
	MYSQL *mysql = connection->mysql;
	const struct config_store *config = connection->config;
	unsigned connect_seconds = whole_seconds(config->connect_timeout);
	unsigned read_seconds = whole_seconds(connection_patience(connection));
	unsigned protocol = *config->socket != '\0' ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
	my_bool reconnect = 0;
	unsigned infile = 0;
	size_t stack = COROUTINE_STACK;
	int failed = mysql_optionsv(mysql, MYSQL_OPT_NONBLOCK, &stack);
	failed |= mysql_optionsv(mysql, MYSQL_OPT_RECONNECT, &reconnect);
	failed |= mysql_optionsv(mysql, MYSQL_OPT_LOCAL_INFILE, &infile);
	failed |= mysql_optionsv(mysql, MYSQL_OPT_PROTOCOL, &protocol);
	failed |= mysql_optionsv(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_seconds);
	failed |= mysql_optionsv(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	failed |= mysql_optionsv(mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "oncewrap");
	if (read_seconds > 0) {
		failed |= mysql_optionsv(mysql, MYSQL_OPT_READ_TIMEOUT, &read_seconds);
		failed |= mysql_optionsv(mysql, MYSQL_OPT_WRITE_TIMEOUT, &read_seconds);
	}
	/* Both, always: enforcing alone takes any certificate, and falls back to plain text. */
	my_bool tls = config->tls == CONFIG_TLS_VERIFY;
	failed |= mysql_optionsv(mysql, MYSQL_OPT_SSL_ENFORCE, &tls);
	failed |= mysql_optionsv(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &tls);
	if (tls && *config->tls_ca != '\0')
		failed |= mysql_optionsv(mysql, MYSQL_OPT_SSL_CA, config->tls_ca);
	return failed;
}

int connection_make_handle(struct connection *connection, struct error *error)
{
	assert(connection->mysql == NULL);
	connection->began = clock_now();
	if (read_credentials(connection, error) < 0 || choose_user(connection, error) < 0)
		return -1;
	connection->mysql = mysql_init(NULL);
	if (connection->mysql == NULL || set_options(connection) != 0) {
		error_set(error, ERROR_MEMORY,
			  "cannot set up a database connection: out of memory");
		return -1;
	}
	return 0;
}

int connection_check_tls(const struct connection *connection, struct error *error)
{
	if (connection->config->tls == CONFIG_TLS_VERIFY &&
	    mysql_get_ssl_cipher(connection->mysql) == NULL) {
		error_set(error, ERROR_STORE,
			  "the connection is not encrypted although store.tls asks for it");
		return -1;
	}
	return 0;
}

int64_t connection_lock_wait(const struct connection *connection)
{
	return connection->use == CONNECTION_BROKER ? 0 : lock_wait_seconds(connection);
}

void connection_session_query(const struct connection *connection,
			      char query[CONNECTION_QUERY_LENGTH])
{
	int64_t limit = statement_limit(connection);
	int64_t lock_wait = lock_wait_seconds(connection);
	snprintf(query, CONNECTION_QUERY_LENGTH,
		 "SET SESSION tx_isolation = 'READ-COMMITTED', time_zone = '+00:00',"
		 " sql_mode = 'STRICT_ALL_TABLES', autocommit = 1,"
		 " innodb_lock_wait_timeout = %" PRId64 ", lock_wait_timeout = %" PRId64 ","
		 " max_statement_time = %" PRId64 ".%03" PRId64 ","
		 " idle_transaction_timeout = %d",
		 connection->use == CONNECTION_BROKER ? 0 : lock_wait, lock_wait, limit / 1000,
		 limit % 1000, IDLE_TRANSACTION);
}

const char connection_variables_query[] =
    "SHOW SESSION VARIABLES WHERE Variable_name IN ('max_allowed_packet', 'wsrep_on')";

/* Reads, updates and deletes wait for what other nodes have committed; claims, being inserts, need
 * not. */
const char connection_galera_query[] = "SET SESSION wsrep_sync_wait = 3";

int connection_take_variables(struct connection *connection, MYSQL_RES *result, struct error *error)
{
	connection->max_packet = 0;
	connection->galera = false;
	for (MYSQL_ROW row; (row = mysql_fetch_row(result)) != NULL;) {
		if (strcmp(row[0], "max_allowed_packet") == 0)
			connection->max_packet = strtoull(row[1], NULL, 10);
		else if (strcmp(row[0], "wsrep_on") == 0)
			connection->galera = strcmp(row[1], "ON") == 0;
	}
	if (connection->max_packet == 0) {
		error_set(error, ERROR_STORE, "the database does not tell its max_allowed_packet");
		return -1;
	}
	return 0;
}

void connection_opened(struct connection *connection)
{
	credentials_free(&connection->credentials);
	connection->open = true;
	connection->down = false;
}

void connection_failed(struct connection *connection, const struct error *error)
{
	connection_drop(connection);
	/* As long again as the attempt took: a host that swallows packets costs half the time at
	 * most. */
	int64_t now = clock_now();
	int64_t quiet = now - connection->began;
	quiet = quiet < QUIET_LEAST ? QUIET_LEAST : quiet > QUIET_MOST ? QUIET_MOST : quiet;
	connection->quiet_until = now + quiet;
	connection->down = true;
	connection->refusal = *error;
}

static void free_handle(struct connection *connection)
{
	/* Connector/C forgets the connection in its statements first: closing those then says
	 * nothing to the server, which drops them with the session anyway. */
	mysql_close(connection->mysql);
	connection->mysql = NULL;
	for (size_t i = 0; i < STATEMENT_COUNT; i++) {
		if (connection->statements[i] != NULL)
			mysql_stmt_close(connection->statements[i]);
		connection->statements[i] = NULL;
	}
	credentials_free(&connection->credentials);
	connection->open = false;
	connection->max_packet = 0;
}

void connection_close(struct connection *connection)
{
	free_handle(connection);
}

void connection_drop(struct connection *connection)
{
	if (connection->mysql != NULL) {
		/* Nothing is sent from here on, so closing cannot block on a peer that does not
		 * read. */
		my_socket fd = mysql_get_socket(connection->mysql);
		if (fd >= 0)
			shutdown(fd, SHUT_RDWR);
	}
	free_handle(connection);
}

void connection_abandon(struct connection *connection)
{
	if (connection->mysql != NULL) {
		/* Connector/C ends a session with a message; the session is the parent's. With the
		 * descriptor closed the message finds no way out. */
		my_socket fd = mysql_get_socket(connection->mysql);
		if (fd >= 0)
			close(fd);
	}
	free_handle(connection);
}

size_t connection_statement_text(const struct connection *connection, enum statement_name name,
				 char text[CONNECTION_TEXT_LENGTH])
{
	const struct statement *statement = &statements[name];
	int length;
	if (statement->waits && connection->use == CONNECTION_BROKER)
		length = snprintf(text, CONNECTION_TEXT_LENGTH,
				  "SET STATEMENT innodb_lock_wait_timeout = %" PRId64 " FOR %s",
				  lock_wait_seconds(connection), statement->text);
	else
		length = snprintf(text, CONNECTION_TEXT_LENGTH, "%s", statement->text);
	assert(length > 0 && length < CONNECTION_TEXT_LENGTH);
	return (size_t)length;
}
