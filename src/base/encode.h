/* SPDX-License-Identifier: ISC */
/* Encodings of bytes as text: hex, JSON strings, UTF-8 checks, percent-decoding. */
#ifndef ONCEWRAP_BASE_ENCODE_H
#define ONCEWRAP_BASE_ENCODE_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lower-case hex of `length` bytes and a NUL into `text`, which holds 2 * length + 1. */
void encode_hex(char *text, const unsigned char *data, size_t length);

/* The reverse: exactly 2 * length hex digits, either case. 0, or -1 when `text` is not that. */
int decode_hex(unsigned char *data, size_t length, const char *text);

/* Append `data` as the inside of a JSON string (no quotes): RFC 8259 section 7 escapes; what could
 * play with a terminal or a line (DEL, C1 controls, line separators, changes of writing direction)
 * as \uXXXX; each byte that is not valid UTF-8 as \ufffd. When it returns -1 (see buffer.failed) a
 * part may have been added. */
int encode_json(struct buffer *out, const void *data, size_t length);

/* The length in bytes (1 to 4) of the UTF-8 character at `data`, 0 when there is none: overlong
 * forms, surrogates and values above U+10FFFF are refused (RFC 3629 section 3). *code gets the code
 * point. */
size_t utf8_next(const unsigned char *data, size_t length, uint32_t *code);

/* Replace %XX escapes in place once (a NUL is never made: %00 is an error). New length, or -1 when
 * an escape is malformed. */
int percent_decode(char *text);

#endif
