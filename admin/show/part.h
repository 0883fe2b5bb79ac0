/* SPDX-License-Identifier: ISC */
/* The parts of a fingerprint by name: what a scheme says went in, beside the short digest of each.
 */
#ifndef ONCEWRAP_ADMIN_SHOW_PART_H
#define ONCEWRAP_ADMIN_SHOW_PART_H

#include "idem/fingerprint.h"

#include <stddef.h>

struct part {
	const char *name; /* as the scheme spells it: "body:json"; not terminated */
	size_t name_length;
	const unsigned char *digest; /* FINGERPRINT_PART_LENGTH */
};

/* All of them, borrowed from scheme and digests; their number. 0 where names and digests are not as
 * many as each other: then neither says anything. */
size_t part_list(const char *scheme, const unsigned char *digests, size_t length,
		 struct part parts[FINGERPRINT_MOST_PARTS]);

#endif
