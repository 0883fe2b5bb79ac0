/* SPDX-License-Identifier: ISC */
/* As whom handlers run: becomes the configured account when started as root, and never runs them as
 * root unasked. */
#ifndef ONCEWRAP_WRAP_ACCOUNT_H
#define ONCEWRAP_WRAP_ACCOUNT_H

#include "base/error.h"

#include <sys/types.h>

/* Started as anybody but root: nothing to do, `user` is not looked at. 0, or -1 with *error. */
int account_become(const char *user, struct error *error);

/* As whom account_become will have us run. 0, or -1 with *error. */
int account_ids(const char *user, uid_t *uid, gid_t *gid, struct error *error);

#endif
