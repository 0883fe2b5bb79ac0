/* SPDX-License-Identifier: ISC */
/* What is wrong, if anything, in the order in which it matters: the page's headline. */
#ifndef ONCEWRAP_STATUS_CONCERNS_H
#define ONCEWRAP_STATUS_CONCERNS_H

#include "base/buffer.h"
#include "cgi-bin/status/snapshot.h"

#include <stddef.h>

enum concern_level {
	CONCERN_NONE,
	CONCERN_ATTENTION, /* somebody should look; requests are served */
	CONCERN_TROUBLE,   /* guarded requests are not served */
};

struct concern {
	const char *code; /* one word, for programs */
	enum concern_level level;
	struct buffer words;   /* "2 stale leases"; owned */
	struct buffer detail;  /* a sentence, with bytes from elsewhere in it; owned */
	struct buffer command; /* to be typed as it stands; may be empty; owned */
};

#define CONCERNS_MOST 10

struct concerns {
	struct concern items[CONCERNS_MOST]; /* trouble first */
	size_t count;
	enum concern_level worst;
};

void concerns_find(struct concerns *concerns, const struct snapshot *snapshot);
void concerns_free(struct concerns *concerns);

/* All in a line: "OK", "Store unreachable", "2 stale leases, 1 unknown outcome". */
void concerns_headline(const struct concerns *concerns, struct buffer *out);

/* "ok", "attention", "trouble" */
const char *concern_level_name(enum concern_level level);

#endif
