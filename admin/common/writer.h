/* SPDX-License-Identifier: ISC */
/* Standard output, where what cannot be written ends the program: quietly when nobody reads any
 * more. */
#ifndef ONCEWRAP_ADMIN_WRITER_H
#define ONCEWRAP_ADMIN_WRITER_H

#include "admin/common/status.h"
#include "base/buffer.h"

/* Write all of `out` and empty it. GO_ON; 0 when the reader has closed the pipe; else the exit
 * status of what was told on standard error. Frees the buffer where it does not go on. */
int writer_write(const char *program, struct buffer *out) __attribute__((warn_unused_result));

/* The whole output: writes `out`, frees it, and returns the exit status. */
int writer_print(const char *program, struct buffer *out) __attribute__((warn_unused_result));

#endif
