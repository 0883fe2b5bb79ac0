/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/doctor/examination.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "admin/common/hint.h"
#include "base/clock.h"
#include "base/shell.h"
#include "config/load.h"
#include "store/roundtrip.h"

/* Where the mariadb client looks by itself. */
static const char client_socket[] = "/run/mysqld/mysqld.sock";

const struct store_check store_checks[] = {
    {"connection", "both accounts can log in", login_check},
    {"tls", "nobody on the way can read along", tls_check},
    {"version", "the server is one that oncewrap knows", server_check_version},
    {"session", "a session is set up as the protocol needs it", server_check_session},
    {"clock", "this host and the database agree on the time", server_check_clock},
    {"read_only", "the server takes writes", variables_check_read_only},
    {"packet", "the largest answer fits", variables_check_packet},
    {"connections", "there are connections enough for all workers", variables_check_connections},
    {"durability", "what is committed survives a power failure", variables_check_durability},
    {"binlog", "the binary log's format goes with the isolation level", variables_check_binlog},
    {"galera", "no Galera node, or one that may be used", server_check_galera},
    {"grants", "the accounts may do what they must, and no more", rights_check},
    {"schema", "the schema is that of this build", layout_check_schema},
    {"tables", "tables, columns and indexes are as the migrations make them", layout_check_tables},
    {"stale", "no request hangs by a lease that is over", records_check_stale},
    {"unknown", "no outcome is unknown", records_check_unknown},
    {"purge", "expired records are cleared away", purge_check},
};
const size_t store_check_count = sizeof(store_checks) / sizeof(store_checks[0]);

void examination_run(struct examination *examination, const struct store_check *check)
{
	size_t before = examination->findings.count;
	findings_begin(&examination->findings, check->name);
	check->run(examination);
	if (examination->findings.count == before)
		findings_add(&examination->findings, FINDING_OK, "%s", check->about);
}

void examination_free(struct examination *examination)
{
	if (examination->wrapper.tried)
		connection_close(&examination->wrapper.connection);
	if (examination->admin.tried)
		connection_close(&examination->admin.connection);
	config_free(examination->config);
	buffer_free(&examination->options_text);
	buffer_free(&examination->client_text);
	findings_free(&examination->findings);
}

static void open_login(struct examination *examination, struct login *login)
{
	struct config_store *store = &examination->config->store;
	login->tried = true;
	/* The configured ones are for a request that a web server is waiting for. */
	store->connect_timeout = store->read_timeout = examination->timeout;
	connection_init(&login->connection, store, CONNECTION_ADMIN, login->group);
	/* With the eyes of the service: its file, and what the socket says who it is. */
	bool as_service = login == &examination->wrapper;
	if (as_service && service_enter(&examination->host.service, &login->refusal) < 0)
		return;
	struct roundtrip roundtrip = {.connection = &login->connection, .goal = ROUNDTRIP_OPEN};
	login->open =
	    roundtrip_run(&roundtrip, clock_now() + examination->timeout) == ROUNDTRIP_DONE;
	login->refusal = roundtrip.error;
	login->code = roundtrip.code;
	if (as_service)
		service_leave(&examination->host.service);
}

bool examination_try_login(struct examination *examination, struct login *login)
{
	if (!login->tried)
		open_login(examination, login);
	return login->open;
}

bool examination_login(struct examination *examination, struct login *login)
{
	if (!examination_try_login(examination, login))
		findings_add(&examination->findings, FINDING_SKIP, "no connection to the database");
	return login->open;
}

void examination_add_message(struct examination *examination, enum finding_level level,
			     const char *message)
{
	struct buffer text = {0};
	hint_append(&text, message, examination->file);
	findings_add_message(&examination->findings, level, buffer_text(&text));
	buffer_free(&text);
}

/* A connection that is gone stays so: the checks that follow need not find out each for itself. */
static void tell_skipped(struct examination *examination, struct login *login,
			 const struct error *error)
{
	examination_add_message(examination, FINDING_SKIP, error->message);
	login->open = login->connection.open;
}

bool examination_ask(struct examination *examination, struct login *login, struct query *query)
{
	struct error error;
	if (query_run(query, clock_now() + examination->timeout, &error) == 0)
		return true;
	tell_skipped(examination, login, &error);
	return false;
}

bool examination_next(struct examination *examination, struct query *query)
{
	struct error error;
	if (query_next(query, &error))
		return true;
	if (error.kind != ERROR_NONE)
		examination_add_message(examination, FINDING_SKIP, error.message);
	return false;
}

static const char *client(struct examination *examination)
{
	const struct config_store *store = &examination->config->store;
	struct buffer *text = &examination->client_text;
	if (text->length > 0)
		return buffer_text(text);
	buffer_append_text(text, "mariadb");
	if (*store->socket != '\0' && strcmp(store->socket, client_socket) != 0) {
		buffer_append_text(text, " --socket=");
		shell_append(text, store->socket);
	} else if (*store->socket == '\0') {
		buffer_append_text(text, " --host=");
		shell_append(text, store->host);
		buffer_printf(text, " --port=%" PRId64, store->port);
	}
	return buffer_text(text);
}

void examination_cure_sql(struct examination *examination, bool in_database, const char *format,
			  ...)
{
	struct buffer sql = {0}, word = {0}, database = {0};
	va_list arguments;
	va_start(arguments, format);
	buffer_vprintf(&sql, format, arguments);
	va_end(arguments);
	shell_append(&word, buffer_text(&sql));
	if (in_database) {
		buffer_append_byte(&database, ' ');
		shell_append(&database, examination->config->store.database);
	}
	findings_cure(&examination->findings, "%s%s -e %s", client(examination),
		      buffer_text(&database), buffer_text(&word));
	buffer_free(&sql);
	buffer_free(&word);
	buffer_free(&database);
}

static const char *program_options(struct examination *examination)
{
	struct buffer *text = &examination->options_text;
	if (text->length == 0)
		hint_append_config(text, examination->file);
	return buffer_text(text);
}

void examination_write_options(struct examination *examination, struct buffer *out)
{
	buffer_append_text(out, program_options(examination));
}

void examination_cure_program(struct examination *examination, const char *program,
			      const char *format, ...)
{
	struct buffer rest = {0};
	va_list arguments;
	va_start(arguments, format);
	buffer_vprintf(&rest, format, arguments);
	va_end(arguments);
	findings_cure(&examination->findings, "%s%s%s%s", program, program_options(examination),
		      rest.length > 0 ? " " : "", buffer_text(&rest));
	buffer_free(&rest);
}

void examination_cure_grants(struct examination *examination, bool tables)
{
	const char *options = program_options(examination);
	struct buffer first = {0};
	if (tables)
		buffer_printf(&first, "once-migrate%s up && ", options);
	findings_cure(&examination->findings, "%sonce-migrate%s grants | %s", buffer_text(&first),
		      options, client(examination));
	buffer_free(&first);
}

void span_format(int64_t seconds, char text[SPAN_LENGTH])
{
	enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR };
	if (seconds >= DAY)
		snprintf(text, SPAN_LENGTH, "%" PRId64 "d%" PRId64 "h", seconds / DAY,
			 seconds % DAY / HOUR);
	else if (seconds >= HOUR)
		snprintf(text, SPAN_LENGTH, "%" PRId64 "h%" PRId64 "m", seconds / HOUR,
			 seconds % HOUR / MINUTE);
	else if (seconds >= MINUTE)
		snprintf(text, SPAN_LENGTH, "%" PRId64 "m%" PRId64 "s", seconds / MINUTE,
			 seconds % MINUTE);
	else
		snprintf(text, SPAN_LENGTH, "%" PRId64 "s", seconds);
}
