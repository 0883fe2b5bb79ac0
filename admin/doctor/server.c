/* SPDX-License-Identifier: ISC */
/* How the database is reached, and what it is. */
#include <config.h>

#include "admin/doctor/examination.h"

#include <errmsg.h>
#include <inttypes.h>
#include <mysqld_error.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/rights.h"
#include "store/trouble.h"

/* In milliseconds: nothing goes by the clock of a web host (case C10), but its log does. */
enum { MOST_SKEW = 2000 };

/* Who would have logged in, as a person names an account to the server. */
static void append_account(struct buffer *out, const struct examination *examination,
			   const struct login *login)
{
	const struct config_store *store = &examination->config->store;
	const char *groups[] = {login->group, store->option_group};
	struct credentials credentials = {0};
	struct error ignored;
	bool found = false;
	for (size_t i = 0; i < 2 && !found; i++)
		if (groups[i] != NULL && *store->option_file != '\0')
			(void)option_file_read(store->option_file, groups[i], &credentials, &found,
					       &ignored);
	const char *user = credentials.user != NULL ? credentials.user : store->user;
	rights_quote(out, user, '\'');
	buffer_append_text(out, *store->socket != '\0' ? "@'localhost'" : "@'%'");
	credentials_free(&credentials);
}

/* The password that it has, once more: nothing else takes back what PASSWORD EXPIRE has set, and no
 * secret is told. `account` is as SQL names it. */
static void cure_expired_password(struct examination *examination, const char *account)
{
	examination_cure_sql(
	    examination, false,
	    "SELECT CONCAT('SET PASSWORD FOR ', QUOTE(User), '@', QUOTE(Host), ' = ',"
	    " QUOTE(authentication_string)) INTO @again FROM mysql.user"
	    " WHERE CONCAT(QUOTE(User), '@', QUOTE(Host)) = \"%s\";"
	    " EXECUTE IMMEDIATE @again; ALTER USER %s PASSWORD EXPIRE NEVER",
	    account, account);
}

static void cure_refusal(struct examination *examination, const struct login *login)
{
	const struct config_store *store = &examination->config->store;
	struct buffer text = {0};
	switch (login->code) {
	case CR_CONNECTION_ERROR:
	case CR_CONN_HOST_ERROR:
		findings_cure(&examination->findings, "systemctl start mariadb");
		break;
	case ER_BAD_DB_ERROR:
		rights_quote(&text, store->database, '`');
		examination_cure_sql(examination, false, "CREATE DATABASE %s", buffer_text(&text));
		break;
	case ER_ACCOUNT_HAS_BEEN_LOCKED:
		append_account(&text, examination, login);
		examination_cure_sql(examination, false, "ALTER USER %s ACCOUNT UNLOCK",
				     buffer_text(&text));
		break;
	case ER_MUST_CHANGE_PASSWORD:
	case ER_MUST_CHANGE_PASSWORD_LOGIN:
		append_account(&text, examination, login);
		cure_expired_password(examination, buffer_text(&text));
		break;
	case ER_ACCESS_DENIED_ERROR:
	case ER_ACCESS_DENIED_NO_PASSWORD_ERROR:
		findings_cure_file(&examination->findings, store->option_file, "${EDITOR:-vi}");
		break;
	case ER_DBACCESS_DENIED_ERROR:
		/* So it is before there are tables to have rights on. */
		examination_cure_grants(examination, true);
		break;
	default:
		break;
	}
	buffer_free(&text);
}

static void check_login(struct examination *examination, struct login *login, const char *who)
{
	size_t before = examination->findings.count;
	if (examination_login(examination, login))
		return;
	/* Here, and only here, it is told what is wrong. */
	if (examination->findings.count > before) {
		struct finding *skipped =
		    &examination->findings.items[--examination->findings.count];
		free(skipped->reason);
		free(skipped->cure);
	}
	struct buffer text = {0};
	buffer_printf(&text, "%s: %s", who, login->refusal.message);
	findings_add_message(&examination->findings, FINDING_FAIL, buffer_text(&text));
	buffer_free(&text);
	cure_refusal(examination, login);
}

void server_check_connection(struct examination *examination)
{
	check_login(examination, &examination->wrapper, "the wrapper");
	/* A server that is away is away for both. */
	if (examination->wrapper.open || trouble_of(examination->wrapper.code) != TROUBLE_GONE)
		check_login(examination, &examination->admin, "the once-* programs");
}

static bool is_local(const struct config_store *store)
{
	return *store->socket != '\0' || strcmp(store->host, "localhost") == 0 ||
	       strncmp(store->host, "127.", 4) == 0 || strcmp(store->host, "::1") == 0;
}

void server_check_tls(struct examination *examination)
{
	const struct config_store *store = &examination->config->store;
	struct findings *findings = &examination->findings;
	if (store->tls == CONFIG_TLS_OFF) {
		if (is_local(store))
			return;
		findings_add(findings, FINDING_WARN,
			     "store.tls is \"off\": answers travel to %s in clear", store->host);
		findings_cure_file(findings, examination->file, "${EDITOR:-vi}");
		return;
	}
	struct login *login = &examination->wrapper;
	if (login->tried && !login->open && login->code == CR_SSL_CONNECTION_ERROR) {
		findings_add(findings, FINDING_FAIL, "%s", login->refusal.message);
		/* Tells what the server has loaded; after a new certificate: FLUSH SSL. */
		examination_cure_sql(examination, false, "FLUSH SSL");
		return;
	}
	if (!examination_login(examination, login))
		return;
	const char *cipher = mysql_get_ssl_cipher(login->connection.mysql);
	if (cipher == NULL)
		findings_add(findings, FINDING_FAIL,
			     "the live session is not encrypted although store.tls asks for it");
	else
		findings_add(findings, FINDING_OK, "verified, %s", cipher);
}

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

/* A proxy between us and the server may drop what was set. */
void server_check_session(struct examination *examination)
{
	static const struct {
		const char *name, *expected;
	} settings[] = {
	    {"tx_isolation", "READ-COMMITTED"},
	    {"time_zone", "+00:00"},
	    {"sql_mode", "STRICT_ALL_TABLES"},
	    {"autocommit", "1"},
	};
	struct login *login = &examination->wrapper;
	if (!examination_login(examination, login))
		return;
	struct query query;
	query_init(&query, &login->connection);
	buffer_append_text(&query.text, "SELECT @@SESSION.tx_isolation, @@SESSION.time_zone,"
					" @@SESSION.sql_mode, @@SESSION.autocommit");
	if (examination_ask(examination, login, &query) && examination_next(examination, &query))
		for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
			const char *value = query_cell(&query, i).data;
			if (value != NULL && strcmp(value, settings[i].expected) == 0)
				continue;
			findings_add(&examination->findings, FINDING_FAIL,
				     "%s is %s in a session that has set it to %s: does a proxy "
				     "stand between?",
				     settings[i].name, value != NULL ? value : "NULL",
				     settings[i].expected);
		}
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
