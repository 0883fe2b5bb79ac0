/* SPDX-License-Identifier: ISC */
/* What a changing program did to one record, or why it did not: the row that it prints. */
#ifndef ONCEWRAP_ADMIN_CHANGE_DEED_H
#define ONCEWRAP_ADMIN_CHANGE_DEED_H

#include "admin/common/column.h"
#include "store/change.h"
#include "store/inspect.h"

#include <stdbool.h>

enum deed_result {
	DEED_DONE,
	DEED_PLANNED, /* --dry-run: it would be done */
	DEED_SKIPPED, /* why, and it is as it was */
	DEED_FAILED,  /* why; whether it is as it was is told there where it is not known */
};

struct deed {
	unsigned char id[DIGEST_LENGTH];
	enum deed_result result;
	const char *word; /* for the result */
	bool was_there;   /* as it was found: */
	enum record_state before;
	bool is_there; /* as it is now, or would be: */
	enum record_state after;
	char next[160]; /* what the next retry gets; "": as before */
	char why[640];
	char route[256];
};

extern const struct column deed_columns[];
extern const size_t deed_column_count;

/* A record as it was found, nothing done yet. */
void deed_begin(struct deed *deed, const struct inspection *seen);

/* It is not done, for this reason. */
void deed_skip(struct deed *deed, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What is against moving a record in this state, in the words of the shell's next command: true,
 * and the deed is skipped. Nothing is against an unknown outcome, and a lease that is over. */
bool deed_refuse_state(struct deed *deed, const struct inspection *seen);

/* What the next retry gets of a key that is free. */
void deed_tell_free(struct deed *deed, const struct inspection *seen);

/* What became of it. */
void deed_end(struct deed *deed, enum change_result result, const struct change_now *now,
	      const struct error *error);

#endif
