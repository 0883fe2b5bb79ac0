/* SPDX-License-Identifier: ISC */
/*
 * What checks find: each finding belongs to a check, has a level, a reason for people, and where
 * there is one the command that cures it, to be typed as it stands.
 */
#ifndef ONCEWRAP_DOCTOR_FINDINGS_H
#define ONCEWRAP_DOCTOR_FINDINGS_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum finding_level {
	FINDING_OK,
	FINDING_SKIP, /* could not be looked at */
	FINDING_WARN, /* works, but not as well or as safely as it should */
	FINDING_FAIL, /* does not work, or guards nobody */
};

struct finding {
	const char *check; /* borrowed */
	enum finding_level level;
	char *reason; /* owned; may hold bytes from strangers */
	char *cure;   /* owned; NULL: there is no command for it */
};

struct findings {
	struct finding *items; /* owned */
	size_t count;
	const char *check; /* whose findings are added now; borrowed for as long as they stay */
	bool failed;       /* out of memory: not all are here */
};

/* "ok", "skip", "warn", "fail" */
const char *finding_level_name(enum finding_level level);

/* Those added from here on are this check's. An empty collection is all zero. */
void findings_begin(struct findings *findings, const char *check);

void findings_add(struct findings *findings, enum finding_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The message of an error, whose "; run: COMMAND" is the cure. */
void findings_add_message(struct findings *findings, enum finding_level level, const char *message);

/* The cure of the one added last; a later call replaces it. */
void findings_cure(struct findings *findings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, with the name of a file behind it, quoted where a shell needs that. */
void findings_cure_file(struct findings *findings, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The worst level from the `first` finding on; FINDING_OK when there is none. */
enum finding_level findings_worst(const struct findings *findings, size_t first);

void findings_free(struct findings *findings); /* empty and usable afterwards */

#endif
