/* SPDX-License-Identifier: ISC */
/* A file that others read at any moment: it has the old content or all of the new. */
#ifndef ONCEWRAP_ADMIN_METRICS_TEXTFILE_H
#define ONCEWRAP_ADMIN_METRICS_TEXTFILE_H

#include "base/buffer.h"
#include "base/error.h"

/* Put a file of that content, readable by all, in the place of `path`. 0, or -1 with *error, and
 * `path` as it was. */
int textfile_replace(const char *path, const struct buffer *content, struct error *error)
    __attribute__((warn_unused_result));

#endif
