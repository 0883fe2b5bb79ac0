/* SPDX-License-Identifier: ISC */
/* What the admin rooms' functions return that may end the program: an exit status (sysexits.h), or
 * that it goes on. */
#ifndef ONCEWRAP_ADMIN_STATUS_H
#define ONCEWRAP_ADMIN_STATUS_H

enum { GO_ON = -1 };

/* The exit status for what went wrong at an open connection. `code` is the database's error number;
 * 0: it came from this side, so it is a mistake of ours. */
int status_of_store(unsigned code);

#endif
