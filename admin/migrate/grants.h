/* SPDX-License-Identifier: ISC */
/* The rights of sql/grants.sql as SQL for the accounts of this installation: those whose groups
 * stand in the option file, by the names that they have there; without such a file the wrapper's,
 * which is known by the socket, for people are let in as themselves. Needs no database. */
#ifndef ONCEWRAP_ADMIN_MIGRATE_GRANTS_H
#define ONCEWRAP_ADMIN_MIGRATE_GRANTS_H

#include "base/buffer.h"
#include "base/error.h"
#include "config/config.h"

/* `host`: of the accounts; NULL: as the store is reached. Passwords are not told. 0, or -1 with
 * *error. */
int grants_write(struct buffer *out, const struct config *config, const char *host,
		 struct error *error);

#endif
