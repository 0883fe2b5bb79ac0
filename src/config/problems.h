/* SPDX-License-Identifier: ISC */
/* All that is wrong with a configuration, collected in any order and told in the order of the
 * files. */
#ifndef ONCEWRAP_CONFIG_PROBLEMS_H
#define ONCEWRAP_CONFIG_PROBLEMS_H

#include <stdbool.h>
#include <stddef.h>

struct problem {
	unsigned order; /* of its file among those read */
	unsigned line;  /* 0: the file as a whole */
	char *text;     /* "FILE:LINE: MESSAGE", owned */
};

struct problems {
	struct problem *items; /* owned */
	size_t count;
	bool failed; /* out of memory: not all are here */
};

/* An empty collection is all zero. */
void problems_add(struct problems *problems, const char *file, unsigned order, unsigned line,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Each once, one a line, sorted; owned by the caller, NULL when out of memory. */
char *problems_text(struct problems *problems);

/* Keeps the struct usable, empty. */
void problems_free(struct problems *problems);

#endif
