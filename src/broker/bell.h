/* SPDX-License-Identifier: ISC */
/*
 * How a settlement wakes those of its host that wait for it: a small file under the run directory,
 * mapped by every oncewrap of the host, of wake words chosen by the record's id (docs/design.md
 * section 8). A word says nothing by itself: whoever is woken looks at the database. Two ids may
 * share a word, which costs a look too many and no more; a ringer that dies between changing a word
 * and waking its sleepers leaves a word that has changed.
 *
 * The file is trusted as far as its owner is (base/shared_file.h): whoever is he can do worse to us
 * than to cut it short under our mapping.
 */
#ifndef ONCEWRAP_BROKER_BELL_H
#define ONCEWRAP_BROKER_BELL_H

#include "base/digest.h"
#include "base/error.h"
#include "base/shared_file.h"

#include <stdint.h>

struct bell;

/* Map `directory`/bell. What is missing is made, the directory included (0755, the file 0600, both
 * the owner's); what is there and is no bell of that owner is replaced. NULL with *error where that
 * cannot be. To be called before privileges are dropped. */
struct bell *bell_open(const char *directory, const struct shared_owner *owner,
		       struct error *error);

/* A bell without a file, for this process and those that it forks. NULL when out of memory. */
struct bell *bell_new(void);

void bell_free(struct bell *bell); /* the mapping, never the file; NULL is fine */

/* All of these take NULL for no bell: nobody is woken then, and a wait is a pause. */

/* The word of this id, to be read before the look at the database that a wait follows. */
uint32_t bell_word(const struct bell *bell, const unsigned char id[DIGEST_LENGTH]);

/* Wake all who wait on the id. */
void bell_ring(struct bell *bell, const unsigned char id[DIGEST_LENGTH]);

/* Sleep until the word is no longer `seen`, or for `milliseconds`; returns at once where it has
 * changed already. */
void bell_wait(struct bell *bell, const unsigned char id[DIGEST_LENGTH], uint32_t seen,
	       int64_t milliseconds);

#endif
