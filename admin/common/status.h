/* SPDX-License-Identifier: ISC */
/* What the admin rooms' functions return that may end the program: an exit status (sysexits.h), or
 * that it goes on. */
#ifndef ONCEWRAP_ADMIN_STATUS_H
#define ONCEWRAP_ADMIN_STATUS_H

#include "base/error.h"

enum { GO_ON = -1 };

/* The exit status for what went wrong at the database. `code` is its error number; 0: it came from
 * this side. */
int status_of_store(const struct error *error, unsigned code);

#endif
