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

/* Of the whole server anything; of the database, or a table of it, what changes its tables or hands
 * rights on. The names of databases are patterns, and a REVOKE has to use the one that was granted
 * on. A privilege that is not in excess is there for being handed on. */
static const char more_text[] =
    "SELECT '' AS place, '' AS name, PRIVILEGE_TYPE, TRUE AS excess, IS_GRANTABLE = 'YES',"
    " CURRENT_USER() FROM information_schema.USER_PRIVILEGES"
    " WHERE PRIVILEGE_TYPE <> 'USAGE' AND GRANTEE = " GRANTEE " UNION ALL "
    "SELECT TABLE_SCHEMA, '', PRIVILEGE_TYPE, TRUE, IS_GRANTABLE = 'YES', CURRENT_USER()"
    " FROM information_schema.SCHEMA_PRIVILEGES"
    " WHERE DATABASE() LIKE TABLE_SCHEMA AND GRANTEE = " GRANTEE
    " AND (IS_GRANTABLE = 'YES' OR PRIVILEGE_TYPE NOT IN ('SELECT', 'INSERT', 'UPDATE',"
    " 'DELETE', 'CREATE TEMPORARY TABLES')) UNION ALL "
    "SELECT TABLE_SCHEMA, TABLE_NAME, PRIVILEGE_TYPE,"
    " PRIVILEGE_TYPE NOT IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE') AS excess,"
    " IS_GRANTABLE = 'YES' AS handed_on, CURRENT_USER() FROM information_schema.TABLE_PRIVILEGES"
    " WHERE TABLE_SCHEMA = DATABASE() AND GRANTEE = " GRANTEE
    " HAVING excess OR handed_on ORDER BY place, name, PRIVILEGE_TYPE";

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

/* Rights on one place that are too many. */
struct more {
	struct buffer place;      /* "*.*", "`oncewrap`.*", "`oncewrap`.`once_record`"; "": none */
	struct buffer privileges; /* "CREATE, DROP" */
	struct buffer account;    /* as SQL names it */
	bool on_server;
	bool handed_on; /* WITH GRANT OPTION */
};

static void append_privilege(struct buffer *list, const char *privilege)
{
	buffer_printf(list, "%s%s", list->length > 0 ? ", " : "", privilege);
}

/* What is needed is given where it is needed before it is taken away from above. */
static void cure_more(struct examination *examination, struct more *more)
{
	struct findings *findings = &examination->findings;
	const char *place = buffer_text(&more->place), *who = buffer_text(&more->account);
	struct buffer sql = {0};
	if (more->privileges.length > 0)
		buffer_printf(&sql, "REVOKE %s ON %s FROM %s; ",
			      more->on_server ? "ALL PRIVILEGES" : buffer_text(&more->privileges),
			      place, who);
	if (more->handed_on)
		buffer_printf(&sql, "REVOKE GRANT OPTION ON %s FROM %s; ", place, who);
	struct finding *finding = &findings->items[findings->count - 1];
	examination_cure_grants(examination, false);
	char *grants = finding->cure;
	finding->cure = NULL;
	examination_cure_sql(examination, false, "%s", buffer_text(&sql));
	char *revoke = finding->cure;
	finding->cure = NULL;
	if (grants != NULL && revoke != NULL)
		findings_cure(findings, "%s && %s", grants, revoke);
	free(grants);
	free(revoke);
	buffer_free(&sql);
}

/* Tell of one place, and forget it. */
static void tell_more(struct examination *examination, struct more *more, const char *account)
{
	struct buffer list = {0};
	if (more->place.length > 0) {
		buffer_append_text(&list, buffer_text(&more->privileges));
		if (more->handed_on)
			append_privilege(&list, "GRANT OPTION");
		findings_add(&examination->findings, FINDING_WARN,
			     "the account of [%s] may do more than it must: %s on %s", account,
			     buffer_text(&list), buffer_text(&more->place));
		cure_more(examination, more);
	}
	buffer_free(&list);
	buffer_free(&more->place);
	buffer_free(&more->privileges);
	buffer_free(&more->account);
	*more = (struct more){0};
}

static void write_place(struct buffer *place, const char *schema, const char *table)
{
	if (*schema == '\0') {
		buffer_append_text(place, "*.*");
		return;
	}
	rights_quote(place, schema, '`');
	buffer_append_byte(place, '.');
	if (*table == '\0')
		buffer_append_byte(place, '*');
	else
		rights_quote(place, table, '`');
}

static void add_more(struct examination *examination, struct more *more, const char *account,
		     const struct query *query)
{
	struct buffer place = {0};
	write_place(&place, query_cell(query, 0).data, query_cell(query, 1).data);
	if (strcmp(buffer_text(&place), buffer_text(&more->place)) != 0) {
		tell_more(examination, more, account);
		more->place = place;
		more->on_server = *query_cell(query, 0).data == '\0';
		rights_quote_account(&more->account, query_cell(query, 5).data);
	} else {
		buffer_free(&place);
	}
	if (query_number(query, 3) != 0)
		append_privilege(&more->privileges, query_cell(query, 2).data);
	more->handed_on = more->handed_on || query_number(query, 4) != 0;
}

static void check_more(struct examination *examination, struct login *login, const char *account)
{
	struct more more = {0};
	struct query query;
	query_init(&query, &login->connection);
	buffer_append_text(&query.text, more_text);
	if (examination_ask(examination, login, &query))
		while (examination_next(examination, &query))
			add_more(examination, &more, account, &query);
	query_free(&query);
	tell_more(examination, &more, account);
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
