/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "pair.h"

#include <mysql.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "base/digest.h"

enum step { STEP_INSERT, STEP_UPDATE, STEPS };

/* What a statement's `?` stand for. */
enum part { PART_NONE, PART_NUMBER, PART_ID, PART_TOKEN, PART_HEADERS, PART_BODY };
enum { PARTS_MOST = 8 };

struct plain {
	const char *table; /* NULL: it is there */
	bool keyed;        /* by a digest, with a token */
	struct plain_step {
		const char *text;
		enum part parts[PARTS_MOST]; /* ended by PART_NONE */
	} steps[STEPS];
};

struct plain_connection {
	MYSQL *client;
	MYSQL_STMT *statements[STEPS];
	const struct plain *plain;
	/* Bound to both statements. */
	uint64_t number;
	unsigned char id[DIGEST_LENGTH]; /* of the number: as evenly spread as a record's */
	unsigned char token[16];
};

#define NARROW_COLUMNS                                                                             \
	"id BINARY(32) PRIMARY KEY, state TINYINT NOT NULL, attempt INT NOT NULL,"                 \
	" token BINARY(16) NOT NULL, fingerprint BINARY(32) NOT NULL,"                             \
	" created_at DATETIME(6) NOT NULL, settled_at DATETIME(6), expires_at DATETIME(6) NOT "    \
	"NULL"
#define NARROW_INSERT(table)                                                                       \
	"INSERT INTO " table " (id, state, attempt, token, fingerprint, created_at, expires_at)"   \
	" VALUES (?, 0, 1, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY)"

static const struct plain raw = {
    .table = "bench_raw (id BIGINT UNSIGNED PRIMARY KEY, state TINYINT NOT NULL)",
    .steps =
	{
	    {"INSERT INTO bench_raw (id, state) VALUES (?, 0)", {PART_NUMBER}},
	    {"UPDATE bench_raw SET state = 1 WHERE id = ?", {PART_NUMBER}},
	},
};

static const struct plain narrow_bare = {
    .table = "bench_narrow_bare (" NARROW_COLUMNS ", KEY (expires_at))",
    .keyed = true,
    .steps =
	{
	    {NARROW_INSERT("bench_narrow_bare"), {PART_ID, PART_TOKEN, PART_ID}},
	    {"UPDATE bench_narrow_bare SET state = 1, settled_at = UTC_TIMESTAMP(6)"
	     " WHERE id = ? AND token = ?",
	     {PART_ID, PART_TOKEN}},
	},
};

static const struct plain narrow = {
    .table = "bench_narrow (" NARROW_COLUMNS ", headers MEDIUMBLOB, body LONGBLOB,"
	     " KEY (expires_at))",
    .keyed = true,
    .steps =
	{
	    {NARROW_INSERT("bench_narrow"), {PART_ID, PART_TOKEN, PART_ID}},
	    {"UPDATE bench_narrow SET state = 1, headers = ?, body = ?,"
	     " settled_at = UTC_TIMESTAMP(6) WHERE id = ? AND token = ?",
	     {PART_HEADERS, PART_BODY, PART_ID, PART_TOKEN}},
	},
};

static const struct plain wide = {
    .keyed = true,
    .steps =
	{
	    {"INSERT INTO once_record (id, tenant, route, key_text, state, token, attempt,"
	     " fingerprint, fingerprint_scheme, part_digests, lease_until, created_at, expires_at,"
	     " owner_host, owner_boot, owner_pidns, owner_pid, owner_start)"
	     " VALUES (?, '', 'bench', 'bench-0123456789abcdef', 'in_flight', ?, 1,"
	     " ?, '1 method path query content-type body', REPEAT('-', 40),"
	     " UTC_TIMESTAMP(6) + INTERVAL 30 SECOND, UTC_TIMESTAMP(6),"
	     " UTC_TIMESTAMP(6) + INTERVAL 1 DAY,"
	     " 'bench', '01234567-89ab-cdef-0123-456789abcdef', 4026531836, 4711, 1234567)",
	     {PART_ID, PART_TOKEN, PART_ID}},
	    {"UPDATE once_record SET state = 'complete', status = 200, headers = ?, body = ?,"
	     " settled_at = UTC_TIMESTAMP(6) WHERE id = ? AND token = ?",
	     {PART_HEADERS, PART_BODY, PART_ID, PART_TOKEN}},
	},
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

static int plain_prepare(const struct pair_way *way, const struct pair_database *database)
{
	char text[512];
	if (way->plain->table == NULL)
		return 0;
	MYSQL *client = connect_to(database);
	if (client == NULL)
		return -1;
	snprintf(text, sizeof(text), "CREATE TABLE IF NOT EXISTS %s ENGINE=InnoDB",
		 way->plain->table);
	int result = mysql_query(client, text);
	if (result != 0)
		fprintf(stderr, "pairs: %s\n", mysql_error(client));
	mysql_close(client);
	return result == 0 ? 0 : -1;
}

static void plain_close(void *connection)
{
	struct plain_connection *pair = connection;
	for (int i = 0; i < STEPS; i++)
		if (pair->statements[i] != NULL)
			mysql_stmt_close(pair->statements[i]);
	if (pair->client != NULL)
		mysql_close(pair->client);
	free(pair);
}

static MYSQL_BIND bytes(const void *data, unsigned long length)
{
	return (MYSQL_BIND){.buffer_type = MYSQL_TYPE_BLOB,
			    .buffer = (void *)(uintptr_t)data,
			    .buffer_length = length};
}

static MYSQL_BIND bind_part(struct plain_connection *pair, enum part part)
{
	switch (part) {
	case PART_NUMBER:
		return (MYSQL_BIND){
		    .buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &pair->number, .is_unsigned = 1};
	case PART_ID:
		return bytes(pair->id, sizeof(pair->id));
	case PART_TOKEN:
		return bytes(pair->token, sizeof(pair->token));
	case PART_HEADERS:
		return bytes(ANSWER_HEADERS, sizeof(ANSWER_HEADERS) - 1);
	case PART_BODY:
		return bytes(ANSWER_BODY, sizeof(ANSWER_BODY) - 1);
	case PART_NONE:
		break;
	}
	return (MYSQL_BIND){.buffer_type = MYSQL_TYPE_NULL};
}

static int prepare_step(struct plain_connection *pair, enum step step)
{
	const struct plain_step *plain = &pair->plain->steps[step];
	MYSQL_BIND binds[PARTS_MOST];
	for (int i = 0; i < PARTS_MOST; i++)
		binds[i] = bind_part(pair, plain->parts[i]);
	MYSQL_STMT *statement = mysql_stmt_init(pair->client);
	pair->statements[step] = statement;
	if (statement == NULL ||
	    mysql_stmt_prepare(statement, plain->text, strlen(plain->text)) != 0 ||
	    mysql_stmt_bind_param(statement, binds) != 0) {
		fprintf(stderr, "pairs: %s: %s\n", plain->text, mysql_error(pair->client));
		return -1;
	}
	return 0;
}

static void *plain_open(const struct pair_way *way, const struct pair_database *database)
{
	struct plain_connection *pair = calloc(1, sizeof(*pair));
	if (pair == NULL) {
		fputs("pairs: out of memory\n", stderr);
		return NULL;
	}
	pair->plain = way->plain;
	pair->client = connect_to(database);
	if (pair->client == NULL)
		goto fail;
	for (int i = 0; i < STEPS; i++)
		if (prepare_step(pair, (enum step)i) != 0)
			goto fail;
	return pair;
fail:
	plain_close(pair);
	return NULL;
}

static int make_key(struct plain_connection *pair)
{
	digest_of(&pair->number, sizeof(pair->number), pair->id);
	if (random_bytes(pair->token, sizeof(pair->token)) == 0)
		return 0;
	fputs("pairs: no random bytes\n", stderr);
	return -1;
}

static int plain_run(void *connection, uint64_t number)
{
	struct plain_connection *pair = connection;
	pair->number = number;
	if (pair->plain->keyed && make_key(pair) != 0)
		return -1;
	for (int i = 0; i < STEPS; i++) {
		MYSQL_STMT *statement = pair->statements[i];
		if (mysql_stmt_execute(statement) != 0 ||
		    mysql_stmt_affected_rows(statement) != 1) {
			fprintf(stderr, "pairs: %s: %s\n", pair->plain->steps[i].text,
				mysql_stmt_error(statement));
			return -1;
		}
	}
	return 0;
}

#define PLAIN_WAY(words, table_and_steps)                                                          \
	{                                                                                          \
		.name = (words), .plain = &(table_and_steps), .prepare = plain_prepare,            \
		.open = plain_open, .run = plain_run, .close = plain_close,                        \
	}

const struct pair_way pair_raw = PLAIN_WAY("raw", raw);
const struct pair_way pair_narrow_bare = PLAIN_WAY("narrow-bare", narrow_bare);
const struct pair_way pair_narrow = PLAIN_WAY("narrow", narrow);
const struct pair_way pair_wide = PLAIN_WAY("wide", wide);
