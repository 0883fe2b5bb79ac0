/* SPDX-License-Identifier: ISC */
/* SHA-256 by OpenSSL (fetched once: implicit fetches are slow in 3.0), and random bytes. */
#ifndef ONCEWRAP_BASE_DIGEST_H
#define ONCEWRAP_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_LENGTH 32

struct digest; /* a hash being computed */

/* Start over, or make one; NULL when out of memory. Owned by the caller. */
struct digest *digest_new(void);
void digest_start(struct digest *digest);
void digest_add(struct digest *digest, const void *data, size_t length);
/* As digest_add, with the length as eight bytes (big-endian) before the data, so that no two lists
 * of fields give the same bytes. */
void digest_add_field(struct digest *digest, const void *data, size_t length);
void digest_finish(struct digest *digest, unsigned char out[DIGEST_LENGTH]);
void digest_free(struct digest *digest);

/* All in one. */
void digest_of(const void *data, size_t length, unsigned char out[DIGEST_LENGTH]);

/* Fill with unguessable bytes; 0, or -1 when the system has none. */
int random_bytes(void *data, size_t length);

#endif
