/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "pair.h"

#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum step { STEP_INSERT, STEP_UPDATE, STEPS };

static const char *const statements[STEPS] = {
    [STEP_INSERT] = "INSERT INTO bench_raw (id, state) VALUES (?, 0)",
    [STEP_UPDATE] = "UPDATE bench_raw SET state = 1 WHERE id = ?",
};

struct raw {
	MYSQL *client;
	MYSQL_STMT *steps[STEPS];
	uint64_t number; /* bound to both statements */
};

static MYSQL *connect_to(const struct pair_database *database)
{
	MYSQL *client = mysql_init(NULL);
	if (client == NULL) {
		fputs("pairs: out of memory\n", stderr);
		return NULL;
	}
	if (database->option_file[0] != '\0') {
		mysql_optionsv(client, MYSQL_READ_DEFAULT_FILE, database->option_file);
		mysql_optionsv(client, MYSQL_READ_DEFAULT_GROUP, "oncewrap");
	}
	if (mysql_real_connect(client, NULL, NULL, NULL, database->name, 0, database->socket, 0) ==
	    NULL) {
		fprintf(stderr, "pairs: %s\n", mysql_error(client));
		mysql_close(client);
		return NULL;
	}
	return client;
}

static int raw_prepare(const struct pair_database *database)
{
	MYSQL *client = connect_to(database);
	if (client == NULL)
		return -1;
	int result = mysql_query(client, "CREATE OR REPLACE TABLE bench_raw (id BIGINT UNSIGNED "
					 "PRIMARY KEY, state TINYINT NOT NULL) ENGINE=InnoDB");
	if (result != 0)
		fprintf(stderr, "pairs: %s\n", mysql_error(client));
	mysql_close(client);
	return result == 0 ? 0 : -1;
}

static void raw_close(void *connection)
{
	struct raw *raw = connection;
	for (int i = 0; i < STEPS; i++)
		if (raw->steps[i] != NULL)
			mysql_stmt_close(raw->steps[i]);
	if (raw->client != NULL)
		mysql_close(raw->client);
	free(raw);
}

static int prepare_step(struct raw *raw, enum step step)
{
	MYSQL_BIND id = {
	    .buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &raw->number, .is_unsigned = 1};
	MYSQL_STMT *statement = mysql_stmt_init(raw->client);
	raw->steps[step] = statement;
	if (statement == NULL ||
	    mysql_stmt_prepare(statement, statements[step], strlen(statements[step])) != 0 ||
	    mysql_stmt_bind_param(statement, &id) != 0) {
		fprintf(stderr, "pairs: %s: %s\n", statements[step], mysql_error(raw->client));
		return -1;
	}
	return 0;
}

static void *raw_open(const struct pair_database *database)
{
	struct raw *raw = calloc(1, sizeof(*raw));
	if (raw == NULL) {
		fputs("pairs: out of memory\n", stderr);
		return NULL;
	}
	raw->client = connect_to(database);
	if (raw->client == NULL)
		goto fail;
	for (int i = 0; i < STEPS; i++)
		if (prepare_step(raw, (enum step)i) != 0)
			goto fail;
	return raw;
fail:
	raw_close(raw);
	return NULL;
}

static int raw_run(void *connection, uint64_t number)
{
	struct raw *raw = connection;
	raw->number = number;
	for (int i = 0; i < STEPS; i++) {
		MYSQL_STMT *statement = raw->steps[i];
		if (mysql_stmt_execute(statement) != 0 ||
		    mysql_stmt_affected_rows(statement) != 1) {
			fprintf(stderr, "pairs: %s: %s\n", statements[i],
				mysql_stmt_error(statement));
			return -1;
		}
	}
	return 0;
}

const struct pair_way pair_raw = {
    .name = "raw",
    .prepare = raw_prepare,
    .open = raw_open,
    .run = raw_run,
    .close = raw_close,
};
