/* SPDX-License-Identifier: ISC */
/*
 * The statements of an SQL file, one by one, as the mariadb client would run it: a statement ends
 * where a line ends with the delimiter, which is `;` until a line says DELIMITER something else;
 * lines that begin with `--` between statements are comments.
 */
#ifndef ONCEWRAP_STORE_SQL_FILE_H
#define ONCEWRAP_STORE_SQL_FILE_H

#include "base/buffer.h"

struct sql_file {
	const char *place; /* where the rest begins; borrowed text */
	char delimiter[8];
};

void sql_file_init(struct sql_file *file, const char *text);

enum sql_file_result {
	SQL_FILE_STATEMENT, /* in *statement, without its delimiter */
	SQL_FILE_END,
	SQL_FILE_BROKEN, /* text behind the last delimiter, or no memory */
};
enum sql_file_result sql_file_next(struct sql_file *file, struct buffer *statement);

#endif
