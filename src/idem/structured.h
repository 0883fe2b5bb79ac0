/* SPDX-License-Identifier: ISC */
/* A String item of RFC 8941, the form in which the idempotency key draft wants keys sent. */
#ifndef ONCEWRAP_IDEM_STRUCTURED_H
#define ONCEWRAP_IDEM_STRUCTURED_H

#include "base/buffer.h"
#include "base/error.h"

#include <stddef.h>

/*
 * Append the String that `value` is, without quotes and escapes, to *out. Parameters behind it must
 * be well formed and are ignored. -1 with *why (a rule, none of the bytes) when the value is
 * anything else, as a list of Strings; *out may then hold a part.
 */
int structured_string(const char *value, size_t length, struct buffer *out, struct error *why);

#endif
