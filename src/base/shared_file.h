/* SPDX-License-Identifier: ISC */
/*
 * A small file that every process of a host maps: made so that all who start at once end with one
 * file, and never one that somebody else has put there. It appears under its name whole, with its
 * first bytes in place and all its blocks there.
 *
 * The file is trusted as far as its owner is: only he can write to it, and he can cut it short
 * under a mapping (SIGBUS).
 */
#ifndef ONCEWRAP_BASE_SHARED_FILE_H
#define ONCEWRAP_BASE_SHARED_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

struct shared_file {
	const char *name; /* in its directory */
	size_t size;
	mode_t mode;        /* its permissions; one with more of them is not ours */
	const void *head;   /* what a new one begins with; NULL: zeros, as the rest */
	size_t head_length; /* bytes of it */
	size_t head_fixed;  /* how many of them every one begins with */
};

struct shared_owner {
	uid_t user;
	gid_t group;
};

enum shared_found {
	SHARED_OPENED,   /* it was there, or was missing and has been made */
	SHARED_REPLACED, /* something else stood under the name; *error says what */
	SHARED_FAILED,   /* *error says why */
};

/* Open it for reading and writing as *fd, -1 for SHARED_FAILED. A missing directory is made, 0755;
 * both are given to the owner where we are root. What is there and is no such file of that owner is
 * replaced, never written to. */
enum shared_found shared_file_open(const struct shared_file *file, const char *directory,
				   const struct shared_owner *owner, int *fd, struct error *error);

#endif
