/* SPDX-License-Identifier: ISC */
/* How far something long has come, told on standard error: a bar where that is a terminal, else a
 * line each so many rows. */
#ifndef ONCEWRAP_ADMIN_PROGRESS_H
#define ONCEWRAP_ADMIN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *program;
	const char *noun; /* "records" */
	uint64_t every;   /* a line each so many; 0: no lines */
	bool bar;
	bool shown;      /* a bar stands on the line */
	uint64_t next;   /* when the next line is due */
	int64_t began;   /* clock_now ... */
	int64_t redrawn; /* ... when the bar was last drawn */
};

/* A bar, where standard error is a terminal and it is not to be `quiet`. */
void progress_begin(struct progress *progress, const char *program, const char *noun,
		    uint64_t every, bool quiet);

/* `fraction` of the whole, below 0 where that is not known. */
void progress_show(struct progress *progress, uint64_t count, double fraction);

/* Take the bar away: before anything else is said. */
void progress_hide(struct progress *progress);

#endif
