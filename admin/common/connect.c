/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/connect.h"

#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include "base/clock.h"
#include "config/load.h"
#include "store/roundtrip.h"

#define DEFAULT_FILE SYSCONFDIR "/oncewrap/oncewrap.conf"

enum { DEFAULT_TIMEOUT = 10, MOST_TIMEOUT = 24 * 60 * 60 };

static int take_file(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct connect *)target)->file = argument;
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
     .help = "configuration (" DEFAULT_FILE ")",
     .take = take_file},
    {.name = "timeout",
     .argument = "SEC",
     .help = "give up when the database does not answer in time (10)",
     .take = take_timeout},
};

void connect_init(struct connect *connect)
{
	*connect = (struct connect){.file = DEFAULT_FILE, .timeout = DEFAULT_TIMEOUT};
}

struct option_group connect_options(struct connect *connect)
{
	return (struct option_group)OPTION_GROUP(entries, connect);
}

int connect_failed(const struct connect *connect, const char *program, const struct error *error)
{
	unsigned code = connect->connection.code;
	fprintf(stderr, "%s: %s%s\n", program, error->message,
		code == ER_STATEMENT_TIMEOUT ? "; or give it more time by --timeout" : "");
	return status_of_store(code);
}

/* No connection. What this side has against it is in the configuration or its files. */
static int refused(const struct connect *connect, const char *program, const struct error *error)
{
	int status = connect_failed(connect, program, error);
	return connect->connection.code == 0 && error->kind != ERROR_MEMORY ? EX_CONFIG : status;
}

int connect_open(struct connect *connect, const char *program, enum connection_use use,
		 const char *group)
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
	struct roundtrip roundtrip = {.connection = &connect->connection, .goal = ROUNDTRIP_OPEN};
	if (roundtrip_run(&roundtrip, clock_now() + connect->timeout * 1000) != ROUNDTRIP_DONE)
		return refused(connect, program, &roundtrip.error);
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
