/* SPDX-License-Identifier: ISC */
/* Can anybody on the way to the database read along? */
#include <config.h>

#include "admin/doctor/login.h"

#include <errmsg.h>
#include <string.h>
#include <unistd.h>

#include "admin/doctor/systemd.h"

/* Where a distribution has the server's own settings; NULL: it does not run on this host. */
static const char *server_file(const struct config_store *store)
{
	static const char *const files[] = {
	    "/etc/mysql/mariadb.conf.d/50-server.cnf",
	    "/etc/my.cnf.d/mariadb-server.cnf",
	    "/etc/my.cnf.d/server.cnf",
	    "/etc/mysql/my.cnf",
	    "/etc/my.cnf",
	};
	for (size_t i = 0; login_is_local(store) && i < sizeof(files) / sizeof(files[0]); i++)
		if (access(files[i], F_OK) == 0)
			return files[i];
	return NULL;
}

static void cure_server_without(struct examination *examination)
{
	const char *file = server_file(&examination->config->store);
	if (file != NULL)
		findings_cure(&examination->findings, "${EDITOR:-vi} %s && %s", file,
			      systemd_runs() ? "systemctl restart mariadb"
					     : "service mariadb restart");
}

/* As Connector/C and the TLS library below it say it. */
static void tell_refusal(struct examination *examination, const char *message)
{
	const struct config_store *store = &examination->config->store;
	struct findings *findings = &examination->findings;
	if (strstr(message, "does not support it") != NULL) {
		findings_add(findings, FINDING_FAIL,
			     "store.tls is \"verify\", and the server offers no TLS: it needs"
			     " ssl_cert and ssl_key");
		cure_server_without(examination);
	} else if (strstr(message, "expired") != NULL ||
		   strstr(message, "server certificate failed") != NULL) {
		findings_add(
		    findings, FINDING_FAIL,
		    "%s: the server needs a certificate for %s that is valid; once its file"
		    " is a new one, the server loads it by the cure",
		    message, *store->socket != '\0' ? "localhost" : store->host);
		examination_cure_sql(examination, false, "FLUSH SSL");
	} else {
		findings_add(findings, FINDING_FAIL, "%s: store.tls_ca must have signed it",
			     message);
		findings_cure_file(findings, examination->file, "${EDITOR:-vi}");
	}
}

static void check_session(struct examination *examination, const struct login *login)
{
	struct findings *findings = &examination->findings;
	const char *cipher = mysql_get_ssl_cipher(login->connection.mysql);
	if (cipher == NULL)
		findings_add(findings, FINDING_FAIL,
			     "the live session is not encrypted although store.tls asks for it");
	else
		findings_add(findings, FINDING_OK, "verified, %s", cipher);
}

void tls_check(struct examination *examination)
{
	const struct config_store *store = &examination->config->store;
	struct findings *findings = &examination->findings;
	struct login *login = &examination->wrapper;
	if (store->tls == CONFIG_TLS_OFF && !login_is_local(store)) {
		findings_add(findings, FINDING_WARN,
			     "store.tls is \"off\": answers travel to %s in clear", store->host);
		findings_cure_file(findings, examination->file, "${EDITOR:-vi}");
	} else if (store->tls != CONFIG_TLS_OFF) {
		if (!examination_try_login(examination, login) &&
		    login->code == CR_SSL_CONNECTION_ERROR)
			tell_refusal(examination, login->refusal.message);
		else if (examination_login(examination, login))
			check_session(examination, login);
	}
}
