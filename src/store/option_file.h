/* SPDX-License-Identifier: ISC */
/*
 * Credentials from a client option file in the format of my.cnf. Read here and not by Connector/C,
 * which takes a missing, broken or world-writable file in silence, follows !include, and lets what
 * it finds beat settings made before. The file is looked at after it was opened, so that nobody can
 * swap it in between.
 */
#ifndef ONCEWRAP_STORE_OPTION_FILE_H
#define ONCEWRAP_STORE_OPTION_FILE_H

#include "base/error.h"

#include <stdbool.h>

struct credentials {
	char *user;     /* owned; NULL: not given */
	char *password; /* owned; NULL: not given */
};

/*
 * `user` and `password` of [group] in the file at that absolute path; *found tells whether the
 * group is there. Quotes and backslash escapes are read as the MariaDB clients read them. Refused,
 * with the cure in *error: a file that is no regular file, that others may write or everybody may
 * read, that belongs to neither root nor this account; an !include; any other option in the group.
 * 0 or -1.
 */
int option_file_read(const char *path, const char *group, struct credentials *credentials,
		     bool *found, struct error *error);

/* Wipes the password. */
void credentials_free(struct credentials *credentials);

#endif
