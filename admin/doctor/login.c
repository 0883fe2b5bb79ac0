/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/doctor/login.h"

#include <errmsg.h>
#include <mysqld_error.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin/doctor/systemd.h"
#include "store/option_file.h"
#include "store/rights.h"
#include "store/trouble.h"

bool login_is_local(const struct config_store *store)
{
	return *store->socket != '\0' || strcmp(store->host, "localhost") == 0 ||
	       strncmp(store->host, "127.", 4) == 0 || strcmp(store->host, "::1") == 0;
}

/* The user of that group of the option file; NULL: none. Owned by the caller. */
static char *user_of_group(const struct config_store *store, const char *group)
{
	struct credentials credentials = {0};
	struct error ignored;
	bool found = false;
	if (group == NULL || *store->option_file == '\0' ||
	    option_file_read(store->option_file, group, &credentials, &found, &ignored) < 0)
		return NULL;
	char *user = credentials.user;
	credentials.user = NULL;
	credentials_free(&credentials);
	return user;
}

/* Who the socket's own authentication sees. */
static const char *process_account(const struct examination *examination, const struct login *login)
{
	const struct passwd *account = getpwuid(geteuid());
	if (login == &examination->wrapper)
		return examination->host.service.name;
	return account != NULL ? account->pw_name : "";
}

/* Who would have logged in (connection.c has the order), as a person names an account to the
 * server. */
static void append_account(struct buffer *out, const struct examination *examination,
			   const struct login *login)
{
	const struct config_store *store = &examination->config->store;
	char *own = user_of_group(store, login->group);
	char *standard = user_of_group(store, store->option_group);
	const char *user = own != NULL            ? own
			   : *store->user != '\0' ? store->user
			   : standard != NULL     ? standard
						  : process_account(examination, login);
	rights_quote(out, user, '\'');
	buffer_append_text(out, *store->socket != '\0' ? "@'localhost'" : "@'%'");
	free(own);
	free(standard);
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

/* It runs already, perhaps, and is looked for in the wrong place. */
static void cure_absence(struct examination *examination)
{
	if (!login_is_local(&examination->config->store))
		return; /* what to type on the other host is not known here */
	if (systemd_is_active("mariadb"))
		findings_cure_file(&examination->findings, examination->file, "${EDITOR:-vi}");
	else
		findings_cure(&examination->findings, "%s",
			      systemd_runs() ? "systemctl start mariadb" : "service mariadb start");
}

/* Without an option file it is the socket that tells who somebody is. */
static void cure_denial(struct examination *examination, const struct login *login)
{
	const struct config_store *store = &examination->config->store;
	struct findings *findings = &examination->findings;
	if (*store->option_file != '\0') {
		findings_cure_file(findings, store->option_file, "${EDITOR:-vi}");
		return;
	}
	struct buffer account = {0};
	append_account(&account, examination, login);
	examination_cure_sql(examination, false,
			     "CREATE USER IF NOT EXISTS %s; ALTER USER %s"
			     " IDENTIFIED VIA unix_socket",
			     buffer_text(&account), buffer_text(&account));
	buffer_free(&account);
}

static void cure_refusal(struct examination *examination, const struct login *login)
{
	const struct config_store *store = &examination->config->store;
	struct buffer text = {0};
	switch (login->code) {
	case CR_CONNECTION_ERROR:
	case CR_CONN_HOST_ERROR:
		cure_absence(examination);
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
		cure_denial(examination, login);
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

static void check_account(struct examination *examination, struct login *login, const char *who)
{
	if (examination_try_login(examination, login))
		return;
	struct buffer text = {0};
	buffer_printf(&text, "%s: %s", who, login->refusal.message);
	examination_add_message(examination, FINDING_FAIL, buffer_text(&text));
	buffer_free(&text);
	cure_refusal(examination, login);
}

void login_check(struct examination *examination)
{
	check_account(examination, &examination->wrapper, "the wrapper");
	/* A server that is away is away for both. */
	if (examination->wrapper.open || trouble_of(examination->wrapper.code) != TROUBLE_GONE)
		check_account(examination, &examination->admin, "the once-* programs");
}
