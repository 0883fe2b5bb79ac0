/* SPDX-License-Identifier: ISC */
/* What the database is. */
#include <config.h>

#include "admin/doctor/examination.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* In milliseconds: nothing goes by the clock of a web host (case C10), but its log does. */
enum { MOST_SKEW = 2000 };

void server_check_version(struct examination *examination)
{
	if (!examination_login(examination, &examination->wrapper))
		return;
	const char *version = mysql_get_server_info(examination->wrapper.connection.mysql);
	unsigned long number = mysql_get_server_version(examination->wrapper.connection.mysql);
	struct findings *findings = &examination->findings;
	if (strstr(version, "MariaDB") == NULL)
		findings_add(findings, FINDING_FAIL,
			     "%s is no MariaDB, and INSERT ... RETURNING is needed", version);
	else if (number < 100500)
		findings_add(findings, FINDING_FAIL,
			     "%s is too old: INSERT ... RETURNING came with 10.5", version);
	else if (number < 101100)
		findings_add(findings, FINDING_WARN,
			     "%s is older than 10.11, which oncewrap is tested with", version);
	else
		findings_add(findings, FINDING_OK, "%s", version);
	if (findings_worst(findings, findings->count - 1) != FINDING_OK)
		findings_cure(findings, "apt-get install mariadb-server");
}

static void compare_setting(struct examination *examination, const char *name, const char *expected,
			    const char *value)
{
	if (value != NULL && strcmp(value, expected) == 0)
		return;
	findings_add(&examination->findings, FINDING_FAIL,
		     "%s is %s in a session that has set it to %s: does a proxy stand between?",
		     name, value != NULL ? value : "NULL", expected);
}

/* A proxy between us and the server may drop what was set. */
void server_check_session(struct examination *examination)
{
	struct login *login = &examination->wrapper;
	char lock_wait[32];
	const struct {
		const char *name, *expected;
	} settings[] = {
	    {"tx_isolation", "READ-COMMITTED"},      {"time_zone", "+00:00"},
	    {"sql_mode", "STRICT_ALL_TABLES"},       {"autocommit", "1"},
	    {"innodb_lock_wait_timeout", lock_wait},
	};
	if (!examination_login(examination, login))
		return;
	struct query query;
	query_init(&query, &login->connection);
	snprintf(lock_wait, sizeof(lock_wait), "%" PRId64,
		 connection_lock_wait(&login->connection));
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		buffer_printf(&query.text, "%s@@SESSION.%s", i == 0 ? "SELECT " : ", ",
			      settings[i].name);
	if (examination_ask(examination, login, &query) && examination_next(examination, &query))
		for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
			compare_setting(examination, settings[i].name, settings[i].expected,
					query_cell(&query, i).data);
	query_free(&query);
}

static int64_t wall_clock(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool has_chrony(void)
{
	return access("/usr/bin/chronyc", X_OK) == 0;
}

void server_check_clock(struct examination *examination)
{
	struct login *login = &examination->wrapper;
	if (!examination_login(examination, login))
		return;
	struct query query;
	query_init(&query, &login->connection);
	buffer_append_text(&query.text, "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01',"
					" UTC_TIMESTAMP(6)) DIV 1000");
	int64_t before = wall_clock();
	bool asked = examination_ask(examination, login, &query);
	int64_t after = wall_clock();
	if (asked && examination_next(examination, &query)) {
		int64_t database = query_number(&query, 0);
		int64_t ahead = database > after    ? database - after
				: database < before ? database - before
						    : 0;
		if (llabs(ahead) > MOST_SKEW) {
			char span[SPAN_LENGTH];
			span_format(llabs(ahead) / 1000, span);
			findings_add(
			    &examination->findings, FINDING_WARN,
			    "this host's clock is %s %s the database's: the log's times do "
			    "not fit the records'",
			    span, ahead > 0 ? "behind" : "ahead of");
			findings_cure(&examination->findings, has_chrony()
								  ? "chronyc makestep"
								  : "timedatectl set-ntp true");
		}
	}
	query_free(&query);
}

void server_check_galera(struct examination *examination)
{
	struct login *login = &examination->wrapper;
	if (!examination_login(examination, login) || !login->connection.galera)
		return;
	struct query query;
	query_init(&query, &login->connection);
	buffer_append_text(
	    &query.text,
	    "SELECT (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
	    " WHERE VARIABLE_NAME = 'wsrep_ready'),"
	    " (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
	    " WHERE VARIABLE_NAME = 'wsrep_cluster_status'), @@SESSION.wsrep_sync_wait");
	if (examination_ask(examination, login, &query) && examination_next(examination, &query)) {
		const char *ready = query_cell(&query, 0).data;
		const char *status = query_cell(&query, 1).data;
		if (ready == NULL || strcmp(ready, "ON") != 0 || status == NULL ||
		    strcmp(status, "Primary") != 0)
			findings_add(&examination->findings, FINDING_FAIL,
				     "this Galera node is not part of the primary component "
				     "(wsrep_ready %s, wsrep_cluster_status %s)",
				     ready != NULL ? ready : "unknown",
				     status != NULL ? status : "unknown");
		if (query_number(&query, 2) != 3)
			findings_add(&examination->findings, FINDING_FAIL,
				     "wsrep_sync_wait is %" PRId64 " in a session that has set it "
				     "to 3: does a proxy stand between?",
				     query_number(&query, 2));
	}
	query_free(&query);
}
