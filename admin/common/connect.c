/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/connect.h"

#include <inttypes.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "admin/common/harmless.h"
#include "admin/common/hint.h"
#include "base/clock.h"
#include "config/load.h"
#include "store/roundtrip.h"

enum { DEFAULT_TIMEOUT = 10, MOST_TIMEOUT = 24 * 60 * 60 };

static int take_file(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct connect *)target)->file = argument;
	return 0;
}

static int take_verbose(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct connect *)target)->verbose = true;
	return 0;
}

static int take_timeout(void *target, const char *argument, struct error *error)
{
	return options_number(argument, 1, MOST_TIMEOUT, &((struct connect *)target)->timeout,
			      error);
}

static const struct option_entry entries[] = {
    {.letter = 'c',
     .name = "config",
     .argument = "FILE",
     .help = "configuration (" CONNECT_DEFAULT_FILE ")",
     .take = take_file,
     .file = true},
    {.name = "timeout",
     .argument = "SEC",
     .help = "give up when the database is silent for so long (10)",
     .take = take_timeout},
    {.letter = 'v',
     .name = "verbose",
     .help = "tell what was reached, and how long it took",
     .take = take_verbose},
};

void connect_init(struct connect *connect)
{
	*connect = (struct connect){.file = CONNECT_DEFAULT_FILE, .timeout = DEFAULT_TIMEOUT};
}

struct option_group connect_options(struct connect *connect)
{
	return (struct option_group)OPTION_GROUP(entries, connect);
}

struct option_group connect_file_options(struct connect *connect)
{
	return (struct option_group){.entries = entries, .count = 1, .target = connect};
}

int connect_failed(const struct connect *connect, const char *program, const struct error *error)
{
	unsigned code = connect->connection.code;
	struct buffer text = {0};
	hint_append(&text, error->message, connect->file);
	fprintf(stderr, "%s: %s%s\n", program, buffer_text(&text),
		code == ER_STATEMENT_TIMEOUT ? "; or give it more time by --timeout" : "");
	buffer_free(&text);
	return status_of_store(code);
}

/* No connection. What this side has against it is in the configuration or its files. */
static int refused(const struct connect *connect, const char *program, const struct error *error)
{
	int status = connect_failed(connect, program, error);
	return connect->connection.code == 0 && error->kind != ERROR_MEMORY ? EX_CONFIG : status;
}

int connect_load(struct connect *connect, enum connection_use use, const char *group)
{
	char *problems = NULL;
	connect->config = config_load(connect->file, &problems);
	if (connect->config == NULL) {
		fputs(problems != NULL ? problems : "out of memory\n", stderr);
		free(problems);
		return EX_CONFIG;
	}
	free(problems);
	/* The configured ones are for a request that a web server is waiting for. */
	struct config_store *store = &connect->config->store;
	store->connect_timeout = store->read_timeout = connect->timeout * 1000;
	connection_init(&connect->connection, store, use, group);
	return GO_ON;
}

void connect_hurry(void)
{
	(void)setenv("RES_OPTIONS", "timeout:1 attempts:1", 0);
}

static void append_harmless(struct buffer *out, const char *text)
{
	harmless_append(out, text, strlen(text), false);
}

/* What a sysadmin would ask first when an answer surprises: which server, as whom, in clear? */
static void tell_reached(const struct connect *connect, const char *program, int64_t began)
{
	const struct connection *connection = &connect->connection;
	const char *cipher = mysql_get_ssl_cipher(connection->mysql);
	int64_t spent = clock_now() - began;
	struct buffer text = {0};
	buffer_printf(&text, "%s: connected in %" PRId64 ".%03" PRId64 " s: ", program,
		      spent / 1000, spent % 1000);
	append_harmless(&text, mysql_get_host_info(connection->mysql));
	buffer_append_text(&text, ", server ");
	append_harmless(&text, mysql_get_server_info(connection->mysql));
	buffer_append_text(&text, ", database ");
	append_harmless(&text, connection->config->database);
	buffer_append_text(&text, ", account ");
	append_harmless(&text, connection->mysql->user);
	buffer_printf(&text, ", %s\n", cipher != NULL ? cipher : "no TLS");
	fputs(buffer_text(&text), stderr);
	buffer_free(&text);
}

int connect_open(struct connect *connect, const char *program, enum connection_use use,
		 const char *group)
{
	int status = connect_load(connect, use, group);
	if (status != GO_ON)
		return status;
	struct roundtrip roundtrip = {.connection = &connect->connection, .goal = ROUNDTRIP_OPEN};
	int64_t began = clock_now();
	if (roundtrip_run(&roundtrip, began + connect->timeout * 1000) != ROUNDTRIP_DONE)
		return refused(connect, program, &roundtrip.error);
	if (connect->verbose)
		tell_reached(connect, program, began);
	return GO_ON;
}

void connect_close(struct connect *connect)
{
	if (connect->config == NULL)
		return;
	connection_close(&connect->connection);
	config_free(connect->config);
	connect->config = NULL;
}
