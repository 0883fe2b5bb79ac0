/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "pair.h"

#include "answer.h"
#include "base/clock.h"
#include "base/digest.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_TIMEOUT 10000 /* ms */

struct pair_connection {
	struct config_store config;
	struct store *store;
	struct store_owner owner;
	struct record record;
};

static int no_preparation(const struct pair_way *way, const struct pair_database *database)
{
	(void)way;
	(void)database;
	return 0;
}

static void pair_store_close(void *connection)
{
	struct pair_connection *pair = connection;
	record_free(&pair->record);
	if (pair->store != NULL)
		store_free(pair->store);
	free(pair);
}

static void configure(struct config_store *config, const struct pair_database *database)
{
	static char group[] = "oncewrap", none[] = "";
	*config = (struct config_store){
	    .socket = database->socket,
	    .database = database->name,
	    .option_file = database->option_file,
	    .option_group = group,
	    .host = none,
	    .user = none,
	    .tls_ca = none,
	    .tls = CONFIG_TLS_OFF,
	    .connect_timeout = 2000,
	    .read_timeout = 5000,
	    .settle_timeout = STEP_TIMEOUT,
	};
}

static void *pair_store_open(const struct pair_way *way, const struct pair_database *database)
{
	(void)way;
	struct error error = {.message = "out of memory"};
	struct pair_connection *pair = calloc(1, sizeof(*pair));
	if (pair == NULL)
		goto fail;
	record_init(&pair->record);
	configure(&pair->config, database);
	if (store_owner_self(&pair->owner, &error) != 0)
		goto fail;
	pair->store = store_new(&pair->config);
	if (pair->store == NULL ||
	    store_connect(pair->store, clock_now() + STEP_TIMEOUT, &error) != STORE_DONE)
		goto fail;
	return pair;
fail:
	fprintf(stderr, "pairs: %s\n", error.message);
	if (pair != NULL)
		pair_store_close(pair);
	return NULL;
}

static int claim(struct pair_connection *pair, struct store_claim *claim, struct error *error)
{
	enum store_result result =
	    store_claim(pair->store, claim, &pair->record, clock_now() + STEP_TIMEOUT, error);
	if (result != STORE_DONE)
		return -1;
	if (memcmp(pair->record.token, claim->token, TOKEN_LENGTH) != 0) {
		error_set(error, ERROR_STORE, "a new key was not won");
		return -1;
	}
	return 0;
}

static int settle(struct pair_connection *pair, const struct store_claim *claim,
		  struct error *error)
{
	static const char headers[] = "Status: 200 OK\r\n" ANSWER_HEADERS;
	const struct store_answer answer = {
	    .status = 200,
	    .headers = headers,
	    .headers_length = sizeof(headers) - 1,
	    .body = ANSWER_BODY,
	    .body_length = sizeof(ANSWER_BODY) - 1,
	    .retention = 24 * 60 * 60 * INT64_C(1000),
	};
	enum store_result result = store_settle(pair->store, claim->id, claim->token, &answer,
						clock_now() + STEP_TIMEOUT, error);
	return result == STORE_DONE ? 0 : -1;
}

static int pair_store_run(void *connection, uint64_t number)
{
	struct pair_connection *pair = connection;
	struct error error = {.message = "refused"};
	unsigned char fingerprint[DIGEST_LENGTH], parts[40] = {0};
	char key[32];
	int length = snprintf(key, sizeof(key), "bench-%016llx", (unsigned long long)number);
	struct store_claim request = {
	    .tenant = "",
	    .route = "bench",
	    .key = key,
	    .key_length = (size_t)length,
	    .fingerprint = fingerprint,
	    .scheme = "1 method path query content-type body",
	    .parts = parts,
	    .parts_length = sizeof(parts),
	    .lease = 30 * INT64_C(1000),
	    .retention = 24 * 60 * 60 * INT64_C(1000),
	    .owner = &pair->owner,
	};
	digest_of(key, (size_t)length, request.id);
	digest_of(request.id, sizeof(request.id), fingerprint);
	if (random_bytes(request.token, sizeof(request.token)) != 0 ||
	    claim(pair, &request, &error) != 0 || settle(pair, &request, &error) != 0) {
		fprintf(stderr, "pairs: %s: %s\n", key, error.message);
		return -1;
	}
	return 0;
}

const struct pair_way pair_store = {
    .name = "store",
    .prepare = no_preparation,
    .open = pair_store_open,
    .run = pair_store_run,
    .close = pair_store_close,
};
