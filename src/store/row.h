/* SPDX-License-Identifier: ISC */
/*
 * What a statement sends back: how a row's columns become a record. The columns are those of
 * statements.c, in its order. Blobs are fetched at their true length, once that is known.
 */
#ifndef ONCEWRAP_STORE_ROW_H
#define ONCEWRAP_STORE_ROW_H

#include "base/error.h"
#include "store/store.h"

#include <mysql.h>

enum row_result { ROW_FETCHED, ROW_NONE, ROW_FAILED };

/*
 * The one row of a stored result, which is then freed: of RESULT_RECORD (*record must be
 * initialised; what it held is freed), of RESULT_GLANCE, of RESULT_LEASE, and of RESULT_HOLDER
 * (filled in anew).
 */
enum row_result row_fetch_record(MYSQL_STMT *statement, struct record *record, struct error *error);
enum row_result row_fetch_glance(MYSQL_STMT *statement, struct store_glance *glance,
				 struct error *error);
enum row_result row_fetch_lease(MYSQL_STMT *statement, bool *closed, struct error *error);
enum row_result row_fetch_holder(MYSQL_STMT *statement, struct store_natural_holder *holder,
				 struct error *error);

#endif
