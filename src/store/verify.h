/* SPDX-License-Identifier: ISC */
/*
 * Is the schema what the migrations make? They are applied to temporary tables, which hide the real
 * ones from this session alone; so it is the server itself that says what each table should be, in
 * its own words, and the two are compared. Nothing that stays is written. The account needs
 * CREATE TEMPORARY TABLES on the database.
 */
#ifndef ONCEWRAP_STORE_VERIFY_H
#define ONCEWRAP_STORE_VERIFY_H

#include "store/connection.h"

struct difference {
	const char *table;
	const char *what; /* "KEY `once_record_expiry` is missing" */
	const char *cure; /* a statement; NULL: none that could be told */
};

/*
 * Against the migrations up to `version`. Each difference that matters to oncewrap to `found`: what
 * a site has added and what harms nobody (an index, a column that need not be filled) is left out.
 * 0, or -1 with *error. Leaves no temporary table behind.
 */
int verify_schema(struct connection *connection, unsigned version,
		  void (*found)(void *context, const struct difference *difference), void *context,
		  int64_t deadline, struct error *error) __attribute__((warn_unused_result));

#endif
