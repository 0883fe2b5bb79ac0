/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/pressure.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/roundtrip.h"

static MYSQL_RES *ask(struct connection *connection, const char *query, struct error *error)
{
	struct roundtrip roundtrip = {
	    .connection = connection, .goal = ROUNDTRIP_QUERY, .query = query};
	if (roundtrip_run(&roundtrip, CLOCK_NEVER) != ROUNDTRIP_DONE)
		*error = roundtrip.error;
	return roundtrip.result;
}

/* Where the server has put it: the columns grow with its versions. -1: nowhere. */
static int find_column(MYSQL_RES *rows, const char *name)
{
	unsigned count = mysql_num_fields(rows);
	const MYSQL_FIELD *fields = mysql_fetch_fields(rows);
	for (unsigned i = 0; i < count; i++)
		if (strcasecmp(fields[i].name, name) == 0)
			return (int)i;
	return -1;
}

int pressure_lag(struct connection *connection, int64_t *lag, struct error *error)
{
	MYSQL_RES *rows = ask(connection, "SHOW ALL SLAVES STATUS", error);
	if (rows == NULL)
		return -1;
	int column = find_column(rows, "Seconds_Behind_Master");
	int result = -1;
	*lag = 0;
	for (MYSQL_ROW row; column >= 0 && (row = mysql_fetch_row(rows)) != NULL; result = 0) {
		int64_t behind = row[column] != NULL ? strtoll(row[column], NULL, 10) * 1000 : -1;
		if (*lag >= 0 && (behind < 0 || behind > *lag))
			*lag = behind;
	}
	mysql_free_result(rows);
	if (result < 0)
		error_set(error, ERROR_STORE, "the server is no replica of any other");
	return result;
}

int pressure_flow_control(struct connection *connection, int64_t *stopped, struct error *error)
{
	MYSQL_RES *rows =
	    ask(connection, "SHOW GLOBAL STATUS LIKE 'wsrep_flow_control_paused_ns'", error);
	if (rows == NULL)
		return -1;
	MYSQL_ROW row = mysql_fetch_row(rows);
	if (row != NULL && row[1] != NULL)
		*stopped = strtoll(row[1], NULL, 10);
	else
		error_set(error, ERROR_STORE, "the database is no node of a Galera cluster");
	int result = row != NULL && row[1] != NULL ? 0 : -1;
	mysql_free_result(rows);
	return result;
}
