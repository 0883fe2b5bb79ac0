/* SPDX-License-Identifier: ISC */
/* What the accounts may do, held against sql/grants.sql by each account itself: everybody sees the
 * rights of its own. */
#include <config.h>

#include "admin/doctor/examination.h"

#include <stdlib.h>
#include <string.h>

#include "store/rights.h"

/* The account that was logged in as, and its roles, as information_schema names them. */
#define GRANTEES                                                                                   \
	"(SELECT CONCAT('\\'', REPLACE(CURRENT_USER(), '@', '\\'@\\''), '\\'') UNION"              \
	" SELECT CONCAT('\\'', ROLE_NAME, '\\'@\\'\\'') FROM information_schema.ENABLED_ROLES"     \
	" WHERE ROLE_NAME IS NOT NULL UNION"                                                       \
	" SELECT ROLE_NAME FROM information_schema.ENABLED_ROLES WHERE ROLE_NAME IS NOT NULL)"

static const char has_text[] =
    "SELECT EXISTS (SELECT 1 FROM information_schema.USER_PRIVILEGES"
    " WHERE PRIVILEGE_TYPE = ? AND GRANTEE IN " GRANTEES ")"
    " OR EXISTS (SELECT 1 FROM information_schema.SCHEMA_PRIVILEGES"
    " WHERE PRIVILEGE_TYPE = ? AND DATABASE() LIKE TABLE_SCHEMA AND GRANTEE IN " GRANTEES ")"
    " OR EXISTS (SELECT 1 FROM information_schema.TABLE_PRIVILEGES"
    " WHERE PRIVILEGE_TYPE = ? AND TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?"
    " AND GRANTEE IN " GRANTEES ")";

#define GRANTEE "CONCAT('\\'', REPLACE(CURRENT_USER(), '@', '\\'@\\''), '\\'')"

/* Of the whole server anything, of the database what changes its tables or hands rights on. The
 * names of databases are patterns, and a REVOKE has to use the one that was granted on. */
static const char more_text[] =
    "SELECT '', PRIVILEGE_TYPE, IS_GRANTABLE = 'YES', CURRENT_USER()"
    " FROM information_schema.USER_PRIVILEGES"
    " WHERE PRIVILEGE_TYPE <> 'USAGE' AND GRANTEE = " GRANTEE " UNION ALL "
    "SELECT TABLE_SCHEMA, PRIVILEGE_TYPE, IS_GRANTABLE = 'YES', CURRENT_USER()"
    " FROM information_schema.SCHEMA_PRIVILEGES"
    " WHERE DATABASE() LIKE TABLE_SCHEMA AND GRANTEE = " GRANTEE
    " AND (IS_GRANTABLE = 'YES' OR PRIVILEGE_TYPE NOT IN ('SELECT', 'INSERT', 'UPDATE',"
    " 'DELETE', 'CREATE TEMPORARY TABLES'))";

/* -1: could not be asked, which was told. */
static int has(struct examination *examination, struct login *login, const char *privilege,
	       const char *table)
{
	struct query query;
	int found = -1;
	query_init(&query, &login->connection);
	buffer_append_text(&query.text, has_text);
	for (int i = 0; i < 3; i++)
		query_add_text(&query, privilege);
	query_add_text(&query, table);
	if (examination_ask(examination, login, &query) && examination_next(examination, &query))
		found = query_number(&query, 0) != 0;
	query_free(&query);
	return found;
}

static void add_missing(struct buffer *missing, const char *privilege, const char *table)
{
	buffer_printf(missing, "%s%s on %s", missing->length > 0 ? ", " : "", privilege,
		      strcmp(table, "*") == 0 ? "all tables" : table);
}

static void check_enough(struct examination *examination, struct login *login, const char *account)
{
	struct rights rights;
	struct right right;
	struct buffer missing = {0};
	int found = 1;
	rights_begin(&rights);
	while (found >= 0 && rights_next(&rights, &right)) {
		if (strcmp(right.account, account) != 0)
			continue;
		char *rest = right.privileges;
		for (const char *privilege;
		     found >= 0 && (privilege = rights_privilege(&rest)) != NULL;) {
			found = has(examination, login, privilege, right.table);
			if (found == 0)
				add_missing(&missing, privilege, right.table);
		}
	}
	rights_end(&rights);
	if (missing.length > 0) {
		findings_add(&examination->findings, FINDING_FAIL,
			     "the account of [%s] may not: %s", account, buffer_text(&missing));
		examination_cure_grants(examination, false);
	}
	buffer_free(&missing);
}

/* Rights on one level that are too many. */
struct more {
	struct buffer place;      /* "*.*", "`oncewrap`.*" */
	struct buffer privileges; /* "CREATE, DROP" */
	struct buffer account;    /* as SQL names it */
	bool on_server;
	bool handed_on; /* WITH GRANT OPTION */
};

static void add_more(struct more *more, const struct query *query)
{
	const char *schema = query_cell(query, 0).data;
	if (more->privileges.length == 0) {
		if (*schema == '\0') {
			buffer_append_text(&more->place, "*.*");
		} else {
			rights_quote(&more->place, schema, '`');
			buffer_append_text(&more->place, ".*");
		}
		rights_quote_account(&more->account, query_cell(query, 3).data);
	}
	buffer_printf(&more->privileges, "%s%s", more->privileges.length > 0 ? ", " : "",
		      query_cell(query, 1).data);
	more->handed_on = more->handed_on || query_number(query, 2) != 0;
}

/* What is needed is given where it is needed before it is taken away from above. */
static void tell_more(struct examination *examination, struct more *more, const char *account)
{
	struct findings *findings = &examination->findings;
	if (more->privileges.length == 0)
		return;
	const char *place = buffer_text(&more->place), *who = buffer_text(&more->account);
	findings_add(findings, FINDING_WARN,
		     "the account of [%s] may do more than it must: %s on %s", account,
		     buffer_text(&more->privileges), place);
	struct finding *finding = &findings->items[findings->count - 1];
	examination_cure_grants(examination, false);
	char *grants = finding->cure;
	finding->cure = NULL;
	struct buffer option = {0};
	if (more->handed_on)
		buffer_printf(&option, "; REVOKE GRANT OPTION ON %s FROM %s", place, who);
	examination_cure_sql(examination, false, "REVOKE %s ON %s FROM %s%s",
			     more->on_server ? "ALL PRIVILEGES" : buffer_text(&more->privileges),
			     place, who, buffer_text(&option));
	char *revoke = finding->cure;
	finding->cure = NULL;
	if (grants != NULL && revoke != NULL)
		findings_cure(findings, "%s && %s", grants, revoke);
	free(grants);
	free(revoke);
	buffer_free(&option);
}

static void check_more(struct examination *examination, struct login *login, const char *account)
{
	struct more levels[2] = {{.on_server = true}, {.on_server = false}};
	struct query query;
	query_init(&query, &login->connection);
	buffer_append_text(&query.text, more_text);
	if (examination_ask(examination, login, &query))
		while (examination_next(examination, &query))
			add_more(&levels[*query_cell(&query, 0).data == '\0' ? 0 : 1], &query);
	query_free(&query);
	for (size_t i = 0; i < 2; i++) {
		tell_more(examination, &levels[i], account);
		buffer_free(&levels[i].place);
		buffer_free(&levels[i].privileges);
		buffer_free(&levels[i].account);
	}
}

void rights_check(struct examination *examination)
{
	struct login *wrapper = &examination->wrapper, *admin = &examination->admin;
	if (examination_login(examination, wrapper)) {
		check_enough(examination, wrapper, "oncewrap");
		check_more(examination, wrapper, "oncewrap");
	}
	/* Without a group of its own the programs use the wrapper's account, and cannot do all. */
	if (examination_login(examination, admin)) {
		check_enough(examination, admin, "oncewrap-admin");
		if (admin->connection.group_found)
			check_more(examination, admin, "oncewrap-admin");
	}
}
