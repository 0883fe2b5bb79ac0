/* SPDX-License-Identifier: ISC */
/* A number of JSON (RFC 8259 section 6) in one spelling for each value, by its digits and never as
 * a double: 1.10, 1.1 and 11e-1 are one number, 9007199254740993 and 9007199254740992 are two. */
#ifndef ONCEWRAP_IDEM_DECIMAL_H
#define ONCEWRAP_IDEM_DECIMAL_H

#include "base/buffer.h"

/*
 * Take the number that begins at *next, move *next behind it, and append its one spelling: "0",
 * "-1.1", "100"; with more than thirty zeros before or behind its digits "1e40", "12e-50". That
 * spelling is a number of JSON again, and is its own. NULL; or a rule that the text breaks, *next
 * then at the place. out->failed tells that there was no memory.
 */
const char *decimal_take(const unsigned char **next, const unsigned char *end, struct buffer *out);

#endif
