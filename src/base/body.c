/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/body.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 4096 };

enum body_place {
	PLACE_MEMORY, /* in `memory`; `descriptor`, if any, is a copy for a reader */
	PLACE_FILE,   /* in the file behind `descriptor` */
};

struct body {
	struct body_limits limits;
	enum body_place place;
	enum body_result result; /* the first that was not BODY_OK stays: a body has no holes */
	uint64_t length;
	unsigned char *memory; /* owned */
	size_t capacity;
	int descriptor;        /* owned; -1: none */
	unsigned char *map;    /* the file as body_view gave it out; NULL: none */
	struct digest *digest; /* owned; NULL: not hashed */
};

struct body *body_new(const struct body_limits *limits, bool hashed)
{
	struct body *body = calloc(1, sizeof(*body));
	if (body == NULL)
		return NULL;
	body->limits = *limits;
	body->descriptor = -1;
	if (hashed) {
		body->digest = digest_new();
		if (body->digest == NULL) {
			body_free(body);
			return NULL;
		}
	}
	return body;
}

/* A file without a name in `directory`, so that no crash leaves it behind; -1 with errno. */
static int unnamed_file(const char *directory)
{
	int descriptor = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return descriptor;
	/* a file system without O_TMPFILE (NFS, overlayfs of old kernels) */
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/oncewrap-XXXXXX", directory);
	if (length < 0 || (size_t)length >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	descriptor = mkostemp(path, O_CLOEXEC);
	if (descriptor >= 0)
		unlink(path);
	return descriptor;
}

static int write_at(int descriptor, const unsigned char *data, size_t length, uint64_t offset)
{
	while (length > 0) {
		ssize_t written = pwrite(descriptor, data, length, (off_t)offset);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -1;
		data += written;
		length -= (size_t)written;
		offset += (uint64_t)written;
	}
	return 0;
}

/* What readers were given no longer tells the whole body. */
static void forget_readers(struct body *body)
{
	if (body->map != NULL)
		munmap(body->map, (size_t)body->length);
	body->map = NULL;
	if (body->place == PLACE_MEMORY && body->descriptor >= 0) {
		close(body->descriptor);
		body->descriptor = -1;
	}
}

static int keep_in_memory(struct body *body, const void *data, size_t length, struct error *error)
{
	size_t used = (size_t)body->length;
	if (used + length > body->capacity) {
		size_t capacity = body->capacity == 0 ? FIRST_CAPACITY : body->capacity;
		while (capacity < used + length)
			capacity = capacity > SIZE_MAX / 2 ? used + length : capacity * 2;
		if (capacity > body->limits.memory)
			capacity = body->limits.memory;
		unsigned char *memory = realloc(body->memory, capacity);
		if (memory == NULL) {
			error_set(error, ERROR_MEMORY, "out of memory for a body of %zu bytes",
				  used + length);
			return -1;
		}
		body->memory = memory;
		body->capacity = capacity;
	}
	memcpy(body->memory + used, data, length);
	return 0;
}

static int move_to_file(struct body *body, struct error *error)
{
	const char *directory = body->limits.directory;
	int descriptor = unnamed_file(directory);
	if (descriptor < 0) {
		error_set_errno(error, errno, "%s: cannot make a file for a body", directory);
		return -1;
	}
	if (write_at(descriptor, body->memory, (size_t)body->length, 0) < 0) {
		error_set_errno(error, errno, "%s: cannot write a body", directory);
		close(descriptor);
		return -1;
	}
	free(body->memory);
	body->memory = NULL;
	body->capacity = 0;
	body->descriptor = descriptor;
	body->place = PLACE_FILE;
	return 0;
}

static int keep(struct body *body, const void *data, size_t length, struct error *error)
{
	forget_readers(body);
	bool fits =
	    body->length <= body->limits.memory && length <= body->limits.memory - body->length;
	if (body->place == PLACE_MEMORY && fits)
		return keep_in_memory(body, data, length, error);
	if (body->place == PLACE_MEMORY && move_to_file(body, error) < 0)
		return -1;
	if (write_at(body->descriptor, data, length, body->length) < 0) {
		error_set_errno(error, errno, "%s: cannot write a body", body->limits.directory);
		return -1;
	}
	return 0;
}

enum body_result body_append(struct body *body, const void *data, size_t length,
			     struct error *error)
{
	if (body->result == BODY_FAILED)
		error_set(error, ERROR_SYSTEM, "an earlier part of this body could not be kept");
	if (body->result != BODY_OK || length == 0)
		return body->result;
	if (body->limits.total != 0 && length > body->limits.total - body->length) {
		error_set(error, ERROR_LIMIT, "the body is longer than %llu bytes",
			  (unsigned long long)body->limits.total);
		return body->result = BODY_TOO_LARGE;
	}
	if (keep(body, data, length, error) < 0)
		return body->result = BODY_FAILED;
	if (body->digest != NULL)
		digest_add(body->digest, data, length);
	body->length += length;
	return BODY_OK;
}

uint64_t body_length(const struct body *body)
{
	return body->length;
}

void body_digest(struct body *body, unsigned char out[DIGEST_LENGTH])
{
	digest_finish(body->digest, out);
}

static int open_copy(struct body *body, struct error *error)
{
	if (body->length == 0) {
		body->descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (body->descriptor < 0)
			error_set_errno(error, errno, "/dev/null");
		return body->descriptor;
	}
	int descriptor = memfd_create("oncewrap-body", MFD_CLOEXEC);
	if (descriptor < 0 || write_at(descriptor, body->memory, (size_t)body->length, 0) < 0) {
		error_set_errno(error, errno, "cannot make a memory file for a body");
		if (descriptor >= 0)
			close(descriptor);
		return -1;
	}
	return body->descriptor = descriptor;
}

int body_descriptor(struct body *body, struct error *error)
{
	if (body->descriptor < 0)
		return open_copy(body, error); /* written by pwrite: its offset is still 0 */
	if (lseek(body->descriptor, 0, SEEK_SET) < 0) {
		error_set_errno(error, errno, "cannot rewind a body");
		return -1;
	}
	return body->descriptor;
}

int body_view(struct body *body, const unsigned char **data, size_t *length, struct error *error)
{
	*length = (size_t)body->length;
	if (body->place == PLACE_MEMORY) {
		*data = body->length > 0 ? body->memory : (const unsigned char *)"";
		return 0;
	}
	if (body->map == NULL) {
		void *map = mmap(NULL, *length, PROT_READ, MAP_PRIVATE, body->descriptor, 0);
		if (map == MAP_FAILED) {
			error_set_errno(error, errno, "cannot map a body of %zu bytes", *length);
			return -1;
		}
		body->map = map;
	}
	*data = body->map;
	return 0;
}

void body_free(struct body *body)
{
	if (body == NULL)
		return;
	forget_readers(body);
	if (body->descriptor >= 0)
		close(body->descriptor);
	free(body->memory);
	digest_free(body->digest);
	free(body);
}
