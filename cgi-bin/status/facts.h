/* SPDX-License-Identifier: ISC */
/* What is to be said of the database, line by line: a name, and in words how it stands. */
#ifndef ONCEWRAP_STATUS_FACTS_H
#define ONCEWRAP_STATUS_FACTS_H

#include "base/buffer.h"
#include "cgi-bin/status/snapshot.h"

#include <stdbool.h>
#include <stddef.h>

struct fact {
	const char *name;
	struct buffer words; /* owned; may hold bytes from elsewhere */
};

#define FACTS_MOST 16

struct facts {
	struct fact items[FACTS_MOST];
	size_t count;
};

/* What is not known is left out. */
void facts_find(struct facts *facts, const struct snapshot *snapshot);
void facts_free(struct facts *facts);

#endif
