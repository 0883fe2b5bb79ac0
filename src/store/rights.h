/* SPDX-License-Identifier: ISC */
/*
 * What each account of an installation may do in the database: sql/grants.sql, which travels inside
 * the library, read statement by statement. It names the accounts as the groups of the option file
 * are named, and the database oncewrap.
 */
#ifndef ONCEWRAP_STORE_RIGHTS_H
#define ONCEWRAP_STORE_RIGHTS_H

#include "base/buffer.h"
#include "store/sql_file.h"

#include <stdbool.h>

extern const char rights_text[];

#define RIGHT_LENGTH 256

struct right {
	char account[RIGHT_LENGTH];    /* "oncewrap-admin" */
	char table[RIGHT_LENGTH];      /* "*": all of the database's */
	char privileges[RIGHT_LENGTH]; /* "SELECT, INSERT", "SELECT (id, state)" */
};

struct rights {
	struct sql_file file;
	struct buffer statement;
};

void rights_begin(struct rights *rights);
/* The next GRANT; false after the last. */
bool rights_next(struct rights *rights, struct right *right);
void rights_end(struct rights *rights);

/* Cut the next privilege off the list; NULL after the last. Begins with *rest = the list, which is
 * written into. */
char *rights_privilege(char **rest);

/* A name as SQL writes it within `quote` (' or `), doubled where it holds that. */
void rights_quote(struct buffer *out, const char *name, char quote);

/* "'oncewrap'@'localhost'" of "oncewrap@localhost", as CURRENT_USER() has it. */
void rights_quote_account(struct buffer *out, const char *account);

#endif
