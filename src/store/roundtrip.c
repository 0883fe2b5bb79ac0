/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/roundtrip.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "store/trouble.h"

/*
 * A call of Connector/C that may wait for the network, in its three parts: start it (what comes
 * back is what it waits for, 0 when it has ended), go on with it, and judge what it returned: the
 * next step follows.
 */
struct step {
	int (*start)(struct roundtrip *roundtrip);
	int (*resume)(struct roundtrip *roundtrip, int ready);
	void (*finish)(struct roundtrip *roundtrip);
};

enum step_name {
	STEP_CONNECT,
	STEP_SET_SESSION,
	STEP_ASK_VARIABLES,
	STEP_TAKE_VARIABLES,
	STEP_SET_GALERA,
	STEP_PREPARE,
	STEP_EXECUTE,
	STEP_READ_TO_END,
	STEP_RESET,
	STEP_QUERY,
	STEP_STORE_RESULT,
	STEP_DONE,
	STEP_FAILED,
};

static MYSQL_STMT **slot(struct roundtrip *roundtrip)
{
	return roundtrip->goal == ROUNDTRIP_ONCE
		   ? &roundtrip->once
		   : &roundtrip->connection->statements[roundtrip->statement];
}

MYSQL_STMT *roundtrip_statement(const struct roundtrip *roundtrip)
{
	return roundtrip->connection->statements[roundtrip->statement];
}

/* From an open connection to the goal. */
static void proceed(struct roundtrip *roundtrip)
{
	switch (roundtrip->goal) {
	case ROUNDTRIP_OPEN:
		roundtrip->step = STEP_DONE;
		break;
	case ROUNDTRIP_STATEMENT:
	case ROUNDTRIP_ONCE:
		roundtrip->step = *slot(roundtrip) == NULL ? STEP_PREPARE : STEP_EXECUTE;
		break;
	case ROUNDTRIP_QUERY:
	case ROUNDTRIP_STREAM:
		roundtrip->step = STEP_QUERY;
		break;
	}
}

/* The connection cannot be had; roundtrip->error says why. */
static void fail_opening(struct roundtrip *roundtrip)
{
	roundtrip->opening = true;
	connection_failed(roundtrip->connection, &roundtrip->error);
	roundtrip->step = STEP_FAILED;
}

static void fail_opening_by_server(struct roundtrip *roundtrip)
{
	MYSQL *mysql = roundtrip->connection->mysql;
	roundtrip->code = mysql_errno(mysql);
	roundtrip->connection->code = roundtrip->code;
	trouble_describe(&roundtrip->error, roundtrip->code, mysql_error(mysql));
	error_prefix(&roundtrip->error, "database");
	fail_opening(roundtrip);
}

/* A call of the statement failed. An error inside a result shows in the connection, not in the
 * statement. */
static void fail_statement(struct roundtrip *roundtrip, MYSQL_STMT *statement, bool sent)
{
	MYSQL *mysql = roundtrip->connection->mysql;
	bool own = statement != NULL && mysql_stmt_errno(statement) != 0;
	roundtrip->code = own ? mysql_stmt_errno(statement) : mysql_errno(mysql);
	roundtrip->connection->code = roundtrip->code;
	trouble_describe(&roundtrip->error, roundtrip->code,
			 own ? mysql_stmt_error(statement) : mysql_error(mysql));
	if (roundtrip->goal == ROUNDTRIP_STATEMENT)
		error_prefix(&roundtrip->error, "%s", statements[roundtrip->statement].name);
	roundtrip->in_doubt = sent && trouble_leaves_doubt(roundtrip->code);
	roundtrip->step = STEP_FAILED;
	if (trouble_of(roundtrip->code) == TROUBLE_GONE || roundtrip->interrupted)
		connection_drop(roundtrip->connection);
}

static int start_connect(struct roundtrip *roundtrip)
{
	struct connection *connection = roundtrip->connection;
	roundtrip->returned.connected = NULL;
	if (connection_make_handle(connection, &roundtrip->error) < 0)
		return 0;
	const struct config_store *config = connection->config;
	const struct credentials *credentials = &connection->credentials;
	const char *password = credentials->password != NULL ? credentials->password : "";
	bool local = *config->socket != '\0';
	return mysql_real_connect_start(&roundtrip->returned.connected, connection->mysql,
					local ? NULL : config->host, credentials->user, password,
					config->database, local ? 0 : (unsigned)config->port,
					local ? config->socket : NULL, 0);
}

static int resume_connect(struct roundtrip *roundtrip, int ready)
{
	return mysql_real_connect_cont(&roundtrip->returned.connected, roundtrip->connection->mysql,
				       ready);
}

static void finish_connect(struct roundtrip *roundtrip)
{
	struct connection *connection = roundtrip->connection;
	if (roundtrip->error.kind != ERROR_NONE) {
		fail_opening(roundtrip);
	} else if (roundtrip->returned.connected == NULL) {
		fail_opening_by_server(roundtrip);
	} else if (connection_check_tls(connection, &roundtrip->error) < 0) {
		fail_opening(roundtrip);
	} else {
		connection_session_query(connection, roundtrip->session);
		roundtrip->step = STEP_SET_SESSION;
	}
}

static int start_query(struct roundtrip *roundtrip, const char *query)
{
	return mysql_real_query_start(&roundtrip->returned.failed, roundtrip->connection->mysql,
				      query, (unsigned long)strlen(query));
}

static int start_set_session(struct roundtrip *roundtrip)
{
	return start_query(roundtrip, roundtrip->session);
}

static int start_ask_variables(struct roundtrip *roundtrip)
{
	return start_query(roundtrip, connection_variables_query);
}

static int start_set_galera(struct roundtrip *roundtrip)
{
	return start_query(roundtrip, connection_galera_query);
}

static int start_own_query(struct roundtrip *roundtrip)
{
	return start_query(roundtrip, roundtrip->query);
}

static int resume_query(struct roundtrip *roundtrip, int ready)
{
	return mysql_real_query_cont(&roundtrip->returned.failed, roundtrip->connection->mysql,
				     ready);
}

static void finish_set_session(struct roundtrip *roundtrip)
{
	if (roundtrip->returned.failed != 0)
		fail_opening_by_server(roundtrip);
	else
		roundtrip->step = STEP_ASK_VARIABLES;
}

static void finish_ask_variables(struct roundtrip *roundtrip)
{
	if (roundtrip->returned.failed != 0)
		fail_opening_by_server(roundtrip);
	else
		roundtrip->step = STEP_TAKE_VARIABLES;
}

static int start_store_result(struct roundtrip *roundtrip)
{
	return mysql_store_result_start(&roundtrip->returned.stored, roundtrip->connection->mysql);
}

static int resume_store_result(struct roundtrip *roundtrip, int ready)
{
	return mysql_store_result_cont(&roundtrip->returned.stored, roundtrip->connection->mysql,
				       ready);
}

static void finish_open(struct roundtrip *roundtrip)
{
	connection_opened(roundtrip->connection);
	proceed(roundtrip);
}

static void finish_take_variables(struct roundtrip *roundtrip)
{
	MYSQL_RES *result = roundtrip->returned.stored;
	if (result == NULL) {
		fail_opening_by_server(roundtrip);
		return;
	}
	int taken = connection_take_variables(roundtrip->connection, result, &roundtrip->error);
	mysql_free_result(result);
	if (taken < 0)
		fail_opening(roundtrip);
	else if (roundtrip->connection->galera)
		roundtrip->step = STEP_SET_GALERA;
	else
		finish_open(roundtrip);
}

static void finish_set_galera(struct roundtrip *roundtrip)
{
	if (roundtrip->returned.failed != 0)
		fail_opening_by_server(roundtrip);
	else
		finish_open(roundtrip);
}

static int start_prepare(struct roundtrip *roundtrip)
{
	struct connection *connection = roundtrip->connection;
	const char *text = roundtrip->query;
	char filled[CONNECTION_TEXT_LENGTH];
	roundtrip->returned.failed = 1;
	*slot(roundtrip) = mysql_stmt_init(connection->mysql);
	if (*slot(roundtrip) == NULL)
		return 0;
	if (roundtrip->goal == ROUNDTRIP_STATEMENT) {
		connection_statement_text(connection, roundtrip->statement, filled);
		text = filled;
	}
	/* The text is copied into the packet before the call first waits. */
	return mysql_stmt_prepare_start(&roundtrip->returned.failed, *slot(roundtrip), text,
					(unsigned long)strlen(text));
}

static int resume_prepare(struct roundtrip *roundtrip, int ready)
{
	return mysql_stmt_prepare_cont(&roundtrip->returned.failed, *slot(roundtrip), ready);
}

static void finish_prepare(struct roundtrip *roundtrip)
{
	if (roundtrip->returned.failed == 0) {
		roundtrip->step = STEP_EXECUTE;
		return;
	}
	fail_statement(roundtrip, *slot(roundtrip), false);
	if (*slot(roundtrip) != NULL)
		mysql_stmt_close(*slot(roundtrip));
	*slot(roundtrip) = NULL;
}

static int start_execute(struct roundtrip *roundtrip)
{
	struct parameters *parameters = roundtrip->parameters;
	bool once = roundtrip->goal == ROUNDTRIP_ONCE;
	size_t count = once ? roundtrip->bind_count : parameters->count;
	size_t size = once ? roundtrip->bind_size : parameters->size;
	roundtrip->returned.failed = 1;
	uint64_t largest = connection_largest(roundtrip->connection);
	if (size > largest) {
		/* Sent, it would kill the connection without a hint why. */
		error_set(&roundtrip->error, ERROR_LIMIT,
			  "%s: %zu bytes are more than the %" PRIu64
			  " that the database's max_allowed_packet leaves",
			  once ? "values" : statements[roundtrip->statement].name, size, largest);
		return 0;
	}
	/* Connector/C reads as many as there are placeholders. */
	assert(count == mysql_stmt_param_count(*slot(roundtrip)));
	if (mysql_stmt_bind_param(*slot(roundtrip), once ? roundtrip->binds : parameters->binds) !=
	    0)
		return 0;
	return mysql_stmt_execute_start(&roundtrip->returned.failed, *slot(roundtrip));
}

static int resume_execute(struct roundtrip *roundtrip, int ready)
{
	return mysql_stmt_execute_cont(&roundtrip->returned.failed, *slot(roundtrip), ready);
}

static bool has_result(struct roundtrip *roundtrip)
{
	if (roundtrip->goal == ROUNDTRIP_ONCE)
		return mysql_stmt_field_count(roundtrip->once) > 0;
	return statements[roundtrip->statement].result != RESULT_NONE;
}

static void finish_execute(struct roundtrip *roundtrip)
{
	if (roundtrip->error.kind != ERROR_NONE)
		roundtrip->step = STEP_FAILED;
	else if (roundtrip->returned.failed != 0)
		fail_statement(roundtrip, *slot(roundtrip), true);
	else
		roundtrip->step = has_result(roundtrip) ? STEP_READ_TO_END : STEP_DONE;
}

static int start_read_to_end(struct roundtrip *roundtrip)
{
	return mysql_stmt_store_result_start(&roundtrip->returned.failed, *slot(roundtrip));
}

static int resume_read_to_end(struct roundtrip *roundtrip, int ready)
{
	return mysql_stmt_store_result_cont(&roundtrip->returned.failed, *slot(roundtrip), ready);
}

static void finish_read_to_end(struct roundtrip *roundtrip)
{
	roundtrip->step = STEP_DONE;
	if (roundtrip->returned.failed == 0)
		return;
	fail_statement(roundtrip, *slot(roundtrip), true);
	/* Without it the next execution of the statement hangs until its time-out. */
	if (roundtrip->connection->open)
		roundtrip->step = STEP_RESET;
}

static int start_reset(struct roundtrip *roundtrip)
{
	return mysql_stmt_reset_start(&roundtrip->returned.refused, *slot(roundtrip));
}

static int resume_reset(struct roundtrip *roundtrip, int ready)
{
	return mysql_stmt_reset_cont(&roundtrip->returned.refused, *slot(roundtrip), ready);
}

static void finish_reset(struct roundtrip *roundtrip)
{
	if (roundtrip->returned.refused)
		connection_drop(roundtrip->connection);
	roundtrip->step = STEP_FAILED; /* as it had; its error stands */
}

static void finish_query(struct roundtrip *roundtrip)
{
	if (roundtrip->returned.failed != 0)
		fail_statement(roundtrip, NULL, true);
	else
		roundtrip->step =
		    roundtrip->goal == ROUNDTRIP_STREAM ? STEP_DONE : STEP_STORE_RESULT;
}

static void finish_store_result(struct roundtrip *roundtrip)
{
	MYSQL *mysql = roundtrip->connection->mysql;
	roundtrip->step = STEP_DONE;
	roundtrip->result = roundtrip->returned.stored;
	if (roundtrip->result == NULL && mysql_errno(mysql) != 0)
		fail_statement(roundtrip, NULL, true);
}

static const struct step steps[] = {
    [STEP_CONNECT] = {start_connect, resume_connect, finish_connect},
    [STEP_SET_SESSION] = {start_set_session, resume_query, finish_set_session},
    [STEP_ASK_VARIABLES] = {start_ask_variables, resume_query, finish_ask_variables},
    [STEP_TAKE_VARIABLES] = {start_store_result, resume_store_result, finish_take_variables},
    [STEP_SET_GALERA] = {start_set_galera, resume_query, finish_set_galera},
    [STEP_PREPARE] = {start_prepare, resume_prepare, finish_prepare},
    [STEP_EXECUTE] = {start_execute, resume_execute, finish_execute},
    [STEP_READ_TO_END] = {start_read_to_end, resume_read_to_end, finish_read_to_end},
    [STEP_RESET] = {start_reset, resume_reset, finish_reset},
    [STEP_QUERY] = {start_own_query, resume_query, finish_query},
    [STEP_STORE_RESULT] = {start_store_result, resume_store_result, finish_store_result},
};

/* Run steps until one waits or there are none left. */
static enum roundtrip_state advance(struct roundtrip *roundtrip, int waiting)
{
	while (waiting == 0) {
		steps[roundtrip->step].finish(roundtrip);
		if (roundtrip->step == STEP_DONE)
			return ROUNDTRIP_DONE;
		if (roundtrip->step == STEP_FAILED)
			return ROUNDTRIP_FAILED;
		waiting = steps[roundtrip->step].start(roundtrip);
	}
	roundtrip->waiting = waiting;
	const struct connection *connection = roundtrip->connection;
	int64_t patience = connection->open ? connection_patience(connection)
					    : connection->config->connect_timeout;
	roundtrip->until = patience > 0 ? clock_now() + patience : CLOCK_NEVER;
	return ROUNDTRIP_PENDING;
}

enum roundtrip_state roundtrip_start(struct roundtrip *roundtrip)
{
	roundtrip->result = NULL;
	roundtrip->once = NULL;
	roundtrip->code = roundtrip->connection->code = 0;
	roundtrip->in_doubt = roundtrip->opening = roundtrip->interrupted = false;
	roundtrip->error.kind = ERROR_NONE;
	if (roundtrip->connection->open)
		proceed(roundtrip);
	else
		roundtrip->step = STEP_CONNECT;
	if (roundtrip->step == STEP_DONE)
		return ROUNDTRIP_DONE;
	return advance(roundtrip, steps[roundtrip->step].start(roundtrip));
}

void roundtrip_poll(const struct roundtrip *roundtrip, struct pollfd *fd, int64_t *until)
{
	int events = ((roundtrip->waiting & MYSQL_WAIT_READ) != 0 ? POLLIN : 0) |
		     ((roundtrip->waiting & MYSQL_WAIT_WRITE) != 0 ? POLLOUT : 0) |
		     ((roundtrip->waiting & MYSQL_WAIT_EXCEPT) != 0 ? POLLPRI : 0);
	*fd = (struct pollfd){.fd = mysql_get_socket(roundtrip->connection->mysql),
			      .events = (short)events};
	*until = roundtrip->until;
}

enum roundtrip_state roundtrip_step(struct roundtrip *roundtrip, short revents)
{
	const short broken = POLLHUP | POLLERR | POLLNVAL; /* the call finds out how */
	int ready = 0;
	if ((revents & (POLLIN | broken)) != 0)
		ready |= MYSQL_WAIT_READ;
	if ((revents & (POLLOUT | broken)) != 0)
		ready |= MYSQL_WAIT_WRITE;
	if ((revents & POLLPRI) != 0)
		ready |= MYSQL_WAIT_EXCEPT;
	ready &= roundtrip->waiting;
	if (revents == 0) {
		ready = MYSQL_WAIT_TIMEOUT;
		roundtrip->interrupted = true;
	}
	return advance(roundtrip, steps[roundtrip->step].resume(roundtrip, ready));
}

void roundtrip_cancel(struct roundtrip *roundtrip)
{
	/* Every wait ends in an error now, and no step after an error waits unconnected. */
	while (roundtrip_step(roundtrip, 0) == ROUNDTRIP_PENDING)
		;
	connection_drop(roundtrip->connection);
}

enum roundtrip_state roundtrip_run(struct roundtrip *roundtrip, int64_t deadline)
{
	enum roundtrip_state state = roundtrip_start(roundtrip);
	while (state == ROUNDTRIP_PENDING) {
		struct pollfd fd;
		int64_t until;
		roundtrip_poll(roundtrip, &fd, &until);
		until = until < deadline ? until : deadline;
		int ready = poll(&fd, 1, clock_wait(until));
		/* A signal is the business of whoever let it in. */
		if (ready < 0 && errno == EINTR)
			continue;
		state = roundtrip_step(roundtrip, ready > 0 ? fd.revents : 0);
	}
	return state;
}
