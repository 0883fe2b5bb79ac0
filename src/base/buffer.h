/* SPDX-License-Identifier: ISC */
/*
 * A growing run of bytes with a hard limit. Failure is sticky: after an append that met the limit
 * or ran out of memory nothing more is added and `failed` stays set, so a writer may check once at
 * the end.
 */
#ifndef ONCEWRAP_BASE_BUFFER_H
#define ONCEWRAP_BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buffer {
	unsigned char *data; /* owned; NULL while nothing was added */
	size_t length;       /* bytes in use */
	size_t capacity;     /* bytes allocated */
	size_t limit;        /* most bytes it may hold; 0: no limit */
	bool failed;         /* an append did not happen */
};

/* An empty buffer of at most `limit` bytes (0: no limit). Also written `{ .limit = N }`. */
void buffer_init(struct buffer *buffer, size_t limit);

/* Each adds bytes at the end; 0, or -1 with `failed` set and nothing added. */
int buffer_append(struct buffer *buffer, const void *data, size_t length);
int buffer_append_text(struct buffer *buffer, const char *text);
int buffer_append_byte(struct buffer *buffer, unsigned char byte);
int buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Make room for `length` more bytes behind the end and return where they start, for a read(2)
 * straight into the buffer; the caller then adds what it wrote to `length`. NULL as above. */
unsigned char *buffer_reserve(struct buffer *buffer, size_t length);

/* The content with a NUL behind it (not counted in length), owned by the buffer and valid until the
 * next call; "" when empty. Never fails. */
const char *buffer_text(struct buffer *buffer);

/* Forget the content and the failure, keep the memory. */
void buffer_clear(struct buffer *buffer);

/* Give back the memory; the buffer is empty and usable again, with its limit kept. */
void buffer_free(struct buffer *buffer);

#endif
