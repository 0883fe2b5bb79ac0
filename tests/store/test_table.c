/* SPDX-License-Identifier: ISC */
/* What the schema itself refuses and promises (docs/design.md section 3, case C7). */
#include <config.h>

#include "tests/store/themes.h"

#include <stdio.h>
#include <string.h>

#include "store/statements.h"
#include "tests/store/database.h"

static struct config_store config;
static struct store *store;
static struct store_claim claim;

static void set_up(void)
{
	config = database_config();
	store = store_new(&config);
	ck_assert_ptr_nonnull(store);
	claim = claim_new();
	claim_first(store, &claim);
}

static void tear_down(void)
{
	store_free(store);
	database_leave();
}

/* What an UPDATE may not make of a record, and an INSERT not make a record of. */
static const char *const impossible[] = {
    "expires_at = NULL",
    "expires_at = '0000-00-00'",
    "lease_until = NULL",
    "lease_until = '0000-00-00'",
    "lease_until = 'soon'",
    "created_at = NULL",
    "created_at = '0000-00-00'",
    "state = ''",
    "state = 'done'",
    "state = 'complete', status = NULL, settled_at = UTC_TIMESTAMP(6)",
    "state = 'complete', status = 200, settled_at = NULL",
    "attempt = 0",
};

static const char *const modes[] = {"", "STRICT_ALL_TABLES"};

#define IMPOSSIBLE ((int)(sizeof(impossible) / sizeof(impossible[0])))

START_TEST(a_record_without_a_deadline_or_state_is_impossible)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		database_run("SET sql_mode = '%s'", modes[i]);
		ck_assert_msg(database_error("UPDATE once_record SET %s WHERE %s", impossible[_i],
					     where(&claim)) != 0,
			      "%s, sql_mode '%s'", impossible[_i], modes[i]);
	}
}
END_TEST

static const char *const deadlines[] = {"lease_until", "created_at", "expires_at"};

START_TEST(a_record_cannot_be_made_without_a_deadline)
{
	struct store_claim other = claim_new();
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		database_run("SET sql_mode = '%s'", modes[i]);
		database_run("CREATE OR REPLACE TEMPORARY TABLE made AS SELECT * FROM once_record"
			     " WHERE %s",
			     where(&claim));
		database_run("UPDATE made SET id = x'%s'", hex(other.id, DIGEST_LENGTH));
		database_run("ALTER TABLE made DROP COLUMN %s", deadlines[_i]);
		const char *columns = database_text(
		    "SELECT GROUP_CONCAT(COLUMN_NAME) FROM information_schema.COLUMNS WHERE"
		    " TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'once_record'"
		    " AND COLUMN_NAME <> '%s'",
		    deadlines[_i]);
		char list[1024];
		snprintf(list, sizeof(list), "%s", columns);
		ck_assert_msg(database_error("INSERT INTO once_record (%s) SELECT %s FROM made",
					     list, list) != 0,
			      "%s, sql_mode '%s'", deadlines[_i], modes[i]);
	}
}
END_TEST

START_TEST(a_lease_cannot_be_without_its_end)
{
	database_run("SET sql_mode = ''");
	ck_assert_uint_ne(database_error("INSERT INTO once_lease (token) VALUES (REPEAT('a', 16))"),
			  0);
	ck_assert_uint_ne(database_error("INSERT INTO once_lease VALUES (REPEAT('a', 16), NULL)"),
			  0);
	ck_assert_uint_ne(
	    database_error("INSERT INTO once_lease VALUES (REPEAT('a', 16), '0000-00-00')"), 0);
}
END_TEST

/* The primary key is the clustered one; secondary indexes cost on every claim, so there are these
 * and no more. */
static const struct {
	const char *table;
	const char *indexes;
} tables[] = {
    {"once_record", "PRIMARY(id) once_record_expiry(state,expires_at,id,route) "
		    "once_record_key(key_text) once_record_tenant(tenant,created_at)"},
    {"once_lease", "PRIMARY(token)"},
    {"once_natural_key", "PRIMARY(natural_id) once_natural_key_record(record_id) "
			 "once_natural_key_window(window_until)"},
    {"once_audit", "PRIMARY(entry) once_audit_record(record_id,done_at)"},
    {"once_maintenance", "PRIMARY(task)"},
    {"once_schema", "PRIMARY(version)"},
};

START_TEST(a_table_is_clustered_and_indexed_as_the_design_says)
{
	ck_assert_str_eq(
	    database_text(
		"SELECT GROUP_CONCAT(CONCAT(name, '(', columns, ')') ORDER BY name <> 'PRIMARY', "
		"name"
		" SEPARATOR ' ') FROM (SELECT INDEX_NAME AS name, GROUP_CONCAT(COLUMN_NAME"
		" ORDER BY SEQ_IN_INDEX) AS columns FROM information_schema.STATISTICS"
		" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '%s'"
		" GROUP BY INDEX_NAME) AS i",
		tables[_i].table),
	    tables[_i].indexes);
	ck_assert_str_eq(database_text("SELECT CONCAT(ENGINE, ' ', ROW_FORMAT) FROM"
				       " information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"
				       " AND TABLE_NAME = '%s'",
				       tables[_i].table),
			 "InnoDB Dynamic");
}
END_TEST

START_TEST(no_collation_decides_about_what_people_sent)
{
	ck_assert_str_eq(
	    database_text("SELECT GROUP_CONCAT(COLUMN_NAME) FROM"
			  " information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"
			  " AND TABLE_NAME = 'once_record' AND COLLATION_NAME IS NOT NULL"),
	    "state");
}
END_TEST

START_TEST(the_wrappers_account_can_do_its_work_and_no_more)
{
	ck_assert_int_eq(
	    database_number("SELECT COUNT(*) FROM mysql.tables_priv WHERE User = 'oncewrap'"
			    " AND (FIND_IN_SET('Drop', Table_priv) OR"
			    " FIND_IN_SET('Alter', Table_priv) OR"
			    " FIND_IN_SET('Grant', Table_priv))"),
	    0);
	ck_assert_int_eq(database_number("SELECT COUNT(*) FROM mysql.db WHERE User = 'oncewrap'"),
			 0);
}
END_TEST

/* A statement with values in the place of its placeholders, such that it finds what `claim` and its
 * natural key have written. */
static const char *with_values(const char *text, const struct store_natural *natural)
{
	static char filled[4096];
	const struct {
		const char *before;
		const unsigned char *value;
		size_t length;
	} values[] = {
	    {"natural_id = ", natural->id, DIGEST_LENGTH},
	    {"id = ", claim.id, DIGEST_LENGTH},
	    {"token = ", claim.token, TOKEN_LENGTH},
	};
	size_t length = 0;
	for (; *text != '\0'; text++) {
		if (*text != '?') {
			filled[length++] = *text;
			continue;
		}
		filled[length] = '\0';
		const char *value = "1";
		char quoted[2 * DIGEST_LENGTH + 4];
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			size_t before = strlen(values[i].before);
			if (length < before ||
			    strcmp(filled + length - before, values[i].before) != 0)
				continue;
			snprintf(quoted, sizeof(quoted), "x'%s'",
				 hex(values[i].value, values[i].length));
			value = quoted;
			break;
		}
		length += (size_t)sprintf(filled + length, "%s", value);
	}
	filled[length] = '\0';
	return filled;
}

/* As on a busy day: many answers, and `claim` the only record in flight. */
static void fill_table(void)
{
	if (database_number("SELECT COUNT(*) FROM once_record WHERE id = UNHEX(SHA2(1, 256))") == 0)
		database_run(
		    "INSERT INTO once_record (id, tenant, route, key_text, state, token,"
		    " attempt, fingerprint, fingerprint_scheme, part_digests, lease_until,"
		    " created_at, settled_at, expires_at, owner_host, owner_boot, owner_pidns,"
		    " owner_pid, owner_start, status)"
		    " SELECT UNHEX(SHA2(seq, 256)), '', '', '', 'complete', UNHEX(MD5(seq)), 1,"
		    " UNHEX(SHA2(seq, 256)), '', '', UTC_TIMESTAMP(6) - INTERVAL seq SECOND,"
		    " UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL seq SECOND,"
		    " '', '', 1, 1, 1, 200 FROM seq_1_to_5000");
	database_run("UPDATE once_record SET state = 'complete', status = 200,"
		     " settled_at = created_at WHERE NOT %s",
		     where(&claim));
	/* until the server has swept what it still takes for records in flight */
	while (strcmp(database_column(8, "EXPLAIN SELECT token FROM once_record"
					 " FORCE INDEX (once_record_expiry)"
					 " WHERE state = 'in_flight'"),
		      "1") != 0)
		;
}

/* By the index on states a statement would lock other records too, and it is the shorter way where
 * few are in flight. An INSERT has no plan, it goes by its primary key. */
START_TEST(a_statement_finds_its_rows_by_primary_keys_alone)
{
	struct store_natural natural = natural_new();
	hold_first(store, &claim, &natural);
	database_run("INSERT INTO once_lease VALUES (x'%s', '1970-01-01')",
		     hex(claim.token, TOKEN_LENGTH));
	fill_table();
	for (size_t i = 0; i < STATEMENT_COUNT; i++) {
		const char *text = statements[i].text;
		if (strncmp(text, "INSERT", 6) == 0)
			continue;
		bool kept = strstr(text, "checkpoint IS NOT NULL") != NULL;
		database_run("UPDATE once_record SET checkpoint = %s WHERE %s",
			     kept ? "'half'" : "NULL", where(&claim));
		int count = (strstr(text, "once_record") != NULL) +
			    (strstr(text, "once_lease") != NULL) +
			    (strstr(text, "once_natural_key") != NULL);
		const char *keys = database_column(5, "EXPLAIN %s", with_values(text, &natural));
		ck_assert_msg(strcmp(keys, count == 2 ? "PRIMARY PRIMARY" : "PRIMARY") == 0,
			      "%s: %s", keys, text);
	}
}
END_TEST

TCase *table_tests(void)
{
	TCase *tests = tcase_create("table");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, a_record_without_a_deadline_or_state_is_impossible, 0,
			    IMPOSSIBLE);
	tcase_add_loop_test(tests, a_record_cannot_be_made_without_a_deadline, 0,
			    (int)(sizeof(deadlines) / sizeof(deadlines[0])));
	tcase_add_test(tests, a_lease_cannot_be_without_its_end);
	tcase_add_loop_test(tests, a_table_is_clustered_and_indexed_as_the_design_says, 0,
			    (int)(sizeof(tables) / sizeof(tables[0])));
	tcase_add_test(tests, no_collation_decides_about_what_people_sent);
	tcase_add_test(tests, a_statement_finds_its_rows_by_primary_keys_alone);
	tcase_add_test(tests, the_wrappers_account_can_do_its_work_and_no_more);
	return tests;
}
