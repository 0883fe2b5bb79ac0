/* SPDX-License-Identifier: ISC */
/* Which records there are, by their ids alone: what a person names is held against it. */
#ifndef ONCEWRAP_STORE_LOOKUP_H
#define ONCEWRAP_STORE_LOOKUP_H

#include "base/digest.h"
#include "base/error.h"
#include "store/connection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lookup_where {
	LOOKUP_RECORDS,
	LOOKUP_EVER, /* also those that have gone, and of which once_audit still tells */
};

/* The ids from `first` to `last`, in order: no more than `most` of them into `ids`. Their number,
 * or -1 with *error. */
int lookup_range(struct connection *connection, enum lookup_where where,
		 const unsigned char first[DIGEST_LENGTH], const unsigned char last[DIGEST_LENGTH],
		 unsigned char (*ids)[DIGEST_LENGTH], size_t most, int64_t deadline,
		 struct error *error);

/* As many ids as one statement asks for. */
#define LOOKUP_MOST_IDS 256

/* Which of these ids are there: found[i] for ids[i]. 0, or -1 with *error. */
int lookup_ids(struct connection *connection, enum lookup_where where,
	       const unsigned char (*ids)[DIGEST_LENGTH], size_t count, bool *found,
	       int64_t deadline, struct error *error);

#endif
