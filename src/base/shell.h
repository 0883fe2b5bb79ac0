/* SPDX-License-Identifier: ISC */
/* Commands that a person is told to type. */
#ifndef ONCEWRAP_BASE_SHELL_H
#define ONCEWRAP_BASE_SHELL_H

#include "base/buffer.h"

/* A word as it is typed at a shell (bash; dash for what has no control bytes), and harmless to the
 * terminal that shows it. */
void shell_append(struct buffer *out, const char *word);

#endif
