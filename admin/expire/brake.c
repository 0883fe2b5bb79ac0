/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/expire/brake.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/pressure.h"

enum { LOOK_AFTER = 1000 };

/* The host taken from before a port, and from its brackets; an IPv6 address without those has no
 * port. *rest is what comes behind. */
static char *take_host(const char *argument, const char **rest)
{
	size_t length = strcspn(argument, ":");
	if (*argument == '/' || strchr(argument, ':') != strrchr(argument, ':'))
		length = strlen(argument);
	if (*argument == '[') {
		argument++;
		length = strcspn(argument, "]");
		*rest = argument + length + (argument[length] == ']');
	} else {
		*rest = argument + length;
	}
	return strndup(argument, length);
}

int brake_take_replica(struct brake *brake, const char *argument, struct error *error)
{
	const char *rest;
	free(brake->place);
	brake->replica = argument;
	brake->port = 0;
	brake->place = take_host(argument, &rest);
	if (brake->place == NULL) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return -1;
	}
	if (*brake->place == '\0' || (*argument == '[' && rest[-1] != ']') ||
	    (*rest != '\0' && *rest != ':')) {
		error_set(error, ERROR_INPUT, "\"%s\" is no HOST, HOST:PORT or [HOST]:PORT",
			  argument);
		return -1;
	}
	return *rest == '\0' ? 0 : options_number(rest + 1, 1, 65535, &brake->port, error);
}

static int open_replica(struct brake *brake, const struct config_store *store, const char *group,
			struct error *error)
{
	static char none[] = "";
	bool local = *brake->place == '/';
	brake->store = *store;
	brake->store.socket = local ? brake->place : none;
	brake->store.host = local ? none : brake->place;
	brake->store.port = brake->port > 0 ? brake->port : store->port;
	connection_init(&brake->behind, &brake->store, CONNECTION_ADMIN, group);
	int64_t found;
	return pressure_lag(&brake->behind, &found, error);
}

int brake_open(struct brake *brake, struct connect *connect, const char *group, struct error *error)
{
	brake->connection = &connect->connection;
	brake->looked = clock_now() - LOOK_AFTER; /* it lags, or not, before the first batch */
	if (brake->replica != NULL &&
	    open_replica(brake, &connect->config->store, group, error) < 0) {
		error_prefix(error, "replica %s", brake->replica);
		return -1;
	}
	return brake->most_stopped > 0
		   ? pressure_flow_control(brake->connection, &brake->stopped, error)
		   : 0;
}

unsigned brake_code(const struct brake *brake)
{
	return brake->behind.code != 0 ? brake->behind.code : brake->connection->code;
}

void brake_close(struct brake *brake)
{
	connection_close(&brake->behind);
	free(brake->place);
	brake->place = NULL;
}

static enum brake_state look_at_lag(struct brake *brake, struct error *error)
{
	int64_t found;
	if (pressure_lag(&brake->behind, &found, error) < 0) {
		error_prefix(error, "replica %s", brake->replica);
		return BRAKE_FAILED;
	}
	return found < 0 || found > brake->most_lag ? BRAKE_LAG : BRAKE_OFF;
}

/* The server's own figure is the mean since it was started; what counts is the time since the last
 * look. */
static enum brake_state look_at_flow_control(struct brake *brake, int64_t elapsed,
					     struct error *error)
{
	int64_t stopped;
	if (pressure_flow_control(brake->connection, &stopped, error) < 0)
		return BRAKE_FAILED;
	double part = (double)(stopped - brake->stopped) / (1e6 * (double)elapsed);
	brake->stopped = stopped;
	return part > brake->most_stopped ? BRAKE_FLOW_CONTROL : BRAKE_OFF;
}

enum brake_state brake_check(struct brake *brake, struct error *error)
{
	int64_t elapsed = clock_now() - brake->looked;
	if (elapsed < LOOK_AFTER)
		return brake->found;
	brake->looked += elapsed;
	brake->found = brake->replica != NULL ? look_at_lag(brake, error) : BRAKE_OFF;
	if (brake->found == BRAKE_OFF && brake->most_stopped > 0)
		brake->found = look_at_flow_control(brake, elapsed, error);
	return brake->found;
}
