/* SPDX-License-Identifier: ISC */
/*
 * What a request asks, as a digest: two requests with one key must ask the same. The scheme is the
 * text that says which parts went in and how ("1 method path header:x-unit body:json"), so that a
 * record made under another configuration is compared by the scheme it was made with.
 */
#ifndef ONCEWRAP_IDEM_FINGERPRINT_H
#define ONCEWRAP_IDEM_FINGERPRINT_H

#include "base/digest.h"
#include "base/params.h"
#include "config/route.h"
#include "idem/document.h"

#include <stdbool.h>
#include <stddef.h>

#define FINGERPRINT_PART_LENGTH 8 /* bytes of a part's short digest */

struct fingerprint_source {
	const char *method;
	const char *path;
	const char *query;                /* "" when absent */
	const char *content_type;         /* "" when absent */
	const unsigned char *body_digest; /* SHA-256 of the raw body */
	const struct params *params;      /* for parts that are request headers */
	struct document *document;        /* for other forms of the body than raw */
};

/* As many as the column of part digests holds. */
#define FINGERPRINT_MOST_PARTS (FINGERPRINT_PARTS + FINGERPRINT_MOST_HEADERS)

struct fingerprint {
	unsigned char digest[DIGEST_LENGTH];
	char scheme[FINGERPRINT_SCHEME_LENGTH];
	unsigned char
	    parts[FINGERPRINT_MOST_PARTS * FINGERPRINT_PART_LENGTH]; /* in the scheme's order */
	size_t parts_length;
};

/* 0; or -1 when out of memory, or where the names of headers make a scheme that does not fit: 56
 * bytes in all always do. */
int fingerprint_make(const struct route *route, const struct fingerprint_source *source,
		     struct fingerprint *out);

/* By the scheme of an old record; -1 also when this build does not know the scheme: the caller must
 * then treat the request as different, never as equal. */
int fingerprint_by_scheme(const char *scheme, const struct fingerprint_source *source,
			  struct fingerprint *out);

/* Name the parts in which two fingerprints of one scheme differ, as "query, body", into text; for
 * the log and for the admin programs. Returns how many differ; 0 also where there is nothing to
 * compare: another scheme, or a record without part digests. */
size_t fingerprint_difference(const struct fingerprint *ours, const char *scheme,
			      const unsigned char *parts, size_t parts_length, char *text,
			      size_t size);

#endif
