/* SPDX-License-Identifier: ISC */
/*
 * What once-doctor has at hand while it looks: the configuration, the database as the wrapper and
 * as an administrator see it, and the words in which cures are told.
 */
#ifndef ONCEWRAP_ADMIN_DOCTOR_EXAMINATION_H
#define ONCEWRAP_ADMIN_DOCTOR_EXAMINATION_H

#include "config/config.h"
#include "doctor/findings.h"
#include "doctor/host.h"
#include "store/connection.h"
#include "store/query.h"

#include <stdbool.h>
#include <stdint.h>

/* One account at the database. */
struct login {
	struct connection connection;
	const char *group; /* of the option file; NULL: the configured one */
	bool tried, open;
	struct error refusal; /* why it is not open */
	unsigned code;        /* its number */
};

struct examination {
	const char *file;           /* --config */
	const char *standard_file;  /* its default */
	int64_t timeout;            /* ms, for each answer */
	struct config *config;      /* owned; NULL: it is wrong */
	struct buffer options_text; /* " --config=FILE" for the once-* programs; "": the default */
	struct buffer client_text;  /* "mariadb --socket=PATH" */
	struct host host;
	struct login wrapper; /* as the wrapper logs in */
	struct login admin;   /* as the once-* programs do */
	struct findings findings;
};

struct store_check {
	const char *name;
	const char *about; /* what is fine about it when nothing is found */
	void (*run)(struct examination *examination);
};
extern const struct store_check store_checks[];
extern const size_t store_check_count;

/* One check; FINDING_OK is added where it found nothing. */
void examination_run(struct examination *examination, const struct store_check *check);

void examination_free(struct examination *examination);

/* The message of an error, whose "; run: COMMAND" is the cure. */
void examination_add_message(struct examination *examination, enum finding_level level,
			     const char *message);

/* Log in, once. False: login->refusal says why not. */
bool examination_try_login(struct examination *examination, struct login *login);
/* The same. False: told as FINDING_SKIP of the check under way, since the check "connection"
 * tells why. */
bool examination_login(struct examination *examination, struct login *login);

/* Run the query's text at the login. False: told as FINDING_SKIP. */
bool examination_ask(struct examination *examination, struct login *login, struct query *query);
/* The next row; false at the end, and where it cannot be read, which is told as FINDING_SKIP. */
bool examination_next(struct examination *examination, struct query *query);

/* The cure of the finding added last: this SQL by the mariadb client, in the database or in none.
 */
void examination_cure_sql(struct examination *examination, bool in_database, const char *format,
			  ...) __attribute__((format(printf, 3, 4)));

/* The same: one of the once-* programs, with the --config that this one was given. */
void examination_cure_program(struct examination *examination, const char *program,
			      const char *format, ...) __attribute__((format(printf, 3, 4)));

/* " --config=FILE", as the once-* programs in a cure need it; nothing for the default. */
void examination_write_options(struct examination *examination, struct buffer *out);

/* The same: all rights that are needed, given once more; `tables`: where these may be missing too.
 */
void examination_cure_grants(struct examination *examination, bool tables);

/* "3m10s" of seconds, in one or two units. */
#define SPAN_LENGTH 32
void span_format(int64_t seconds, char text[SPAN_LENGTH]);

/* The checks of the database, each file its own. */
void login_check(struct examination *examination);
void tls_check(struct examination *examination);
void server_check_version(struct examination *examination);
void server_check_session(struct examination *examination);
void server_check_clock(struct examination *examination);
void server_check_galera(struct examination *examination);
void variables_check_read_only(struct examination *examination);
void variables_check_packet(struct examination *examination);
void variables_check_connections(struct examination *examination);
void variables_check_durability(struct examination *examination);
void variables_check_binlog(struct examination *examination);
void rights_check(struct examination *examination);
void layout_check_schema(struct examination *examination);
void layout_check_tables(struct examination *examination);
void records_check_stale(struct examination *examination);
void records_check_unknown(struct examination *examination);
void purge_check(struct examination *examination);

#endif
