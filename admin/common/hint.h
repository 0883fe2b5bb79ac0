/* SPDX-License-Identifier: ISC */
/* Commands that a message ends with: they are to be typed as they stand, where this program was
 * given another configuration, too. */
#ifndef ONCEWRAP_ADMIN_HINT_H
#define ONCEWRAP_ADMIN_HINT_H

#include "base/buffer.h"

/* " --config=FILE", as the once-* programs need it; nothing for the standard one. */
void hint_append_config(struct buffer *out, const char *file);

/* The message; behind a "run: once-PROGRAM" in it come those options. */
void hint_append(struct buffer *out, const char *message, const char *file);

#endif
