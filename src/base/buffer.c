/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/buffer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

void buffer_init(struct buffer *buffer, size_t limit)
{
	*buffer = (struct buffer){.limit = limit};
}

/* A byte is always kept free behind the content, so that buffer_text cannot fail. */
static int make_room(struct buffer *buffer, size_t length)
{
	if (buffer->failed)
		return -1;
	size_t most = buffer->limit != 0 ? buffer->limit : SIZE_MAX - 1;
	if (buffer->length > most || length > most - buffer->length)
		goto fail;
	size_t needed = buffer->length + length + 1;
	if (needed <= buffer->capacity)
		return 0;
	size_t capacity = buffer->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : buffer->capacity;
	while (capacity < needed)
		capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
	unsigned char *data = realloc(buffer->data, capacity);
	if (data == NULL)
		goto fail;
	buffer->data = data;
	buffer->capacity = capacity;
	return 0;
fail:
	buffer->failed = true;
	return -1;
}

int buffer_append(struct buffer *buffer, const void *data, size_t length)
{
	if (make_room(buffer, length) < 0)
		return -1;
	if (length > 0)
		memcpy(buffer->data + buffer->length, data, length);
	buffer->length += length;
	return 0;
}

int buffer_append_text(struct buffer *buffer, const char *text)
{
	return buffer_append(buffer, text, strlen(text));
}

int buffer_append_byte(struct buffer *buffer, unsigned char byte)
{
	return buffer_append(buffer, &byte, 1);
}

int buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int result = buffer_vprintf(buffer, format, arguments);
	va_end(arguments);
	return result;
}

int buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
{
	va_list measured;
	va_copy(measured, arguments);
	int length = vsnprintf(NULL, 0, format, measured);
	va_end(measured);
	if (length < 0) {
		buffer->failed = true;
		return -1;
	}
	if (make_room(buffer, (size_t)length) < 0)
		return -1;
	vsnprintf((char *)buffer->data + buffer->length, (size_t)length + 1, format, arguments);
	buffer->length += (size_t)length;
	return 0;
}

unsigned char *buffer_reserve(struct buffer *buffer, size_t length)
{
	return make_room(buffer, length) == 0 ? buffer->data + buffer->length : NULL;
}

const char *buffer_text(struct buffer *buffer)
{
	if (buffer->data == NULL)
		return "";
	buffer->data[buffer->length] = '\0';
	return (const char *)buffer->data;
}

void buffer_clear(struct buffer *buffer)
{
	buffer->length = 0;
	buffer->failed = false;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	buffer_init(buffer, buffer->limit);
}
