/* SPDX-License-Identifier: ISC */
/*
 * Text from strangers, made so that it can play neither with a terminal nor with a line: what would
 * be is written as \xNN, byte by byte, and a backslash as \\, so that nothing is lost.
 */
#ifndef ONCEWRAP_ADMIN_HARMLESS_H
#define ONCEWRAP_ADMIN_HARMLESS_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* `utf8` tells whether the reader takes characters beyond ASCII; without it they are escaped too.
 */
void harmless_append(struct buffer *out, const void *text, size_t length, bool utf8);

/* How many bytes the first `most` characters take; a byte that is no UTF-8 counts as a character.
 */
size_t harmless_prefix(const void *text, size_t length, size_t most);

bool harmless_is_utf8(const void *text, size_t length);

#endif
