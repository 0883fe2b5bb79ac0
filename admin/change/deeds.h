/* SPDX-License-Identifier: ISC */
/*
 * A changing program at work: record by record it looks, judges, does and tells. A record that
 * cannot be changed stops none of the others; a database that is not there does, and so does
 * Ctrl-C, between two records: what was done until then is told.
 */
#ifndef ONCEWRAP_ADMIN_CHANGE_DEEDS_H
#define ONCEWRAP_ADMIN_CHANGE_DEEDS_H

#include "admin/change/deed.h"
#include "admin/common/confirm.h"
#include "admin/common/connect.h"
#include "admin/common/output.h"

enum { DEEDS_SOME_SKIPPED = 1, DEEDS_INTERRUPTED = 130 };

struct deeds {
	const char *program;
	const char *words[DEED_FAILED + 1]; /* for the results */
	struct connect *connect;
	struct output *output;
	const struct confirm *confirm;
	bool quiet; /* --quiet: what was done is not told, what was not is */
	void *context;
	/* Skip it (deed_skip), or say how it will be and what the next retry will get. */
	void (*judge)(void *context, const struct inspection *seen, struct deed *deed);
	enum change_result (*change)(void *context, const struct change_seen *seen,
				     struct change_now *now, int64_t deadline, struct error *error);
	/* private */
	bool begun; /* a row was handed to the output */
	size_t skipped, busy;
	int output_status;
};

/* --quiet. */
struct option_group deeds_options(bool *quiet);

/* Each of `ids`; of what was named some were not found before (`missing`). The exit status. */
int deeds_run(struct deeds *deeds, unsigned char (*ids)[DIGEST_LENGTH], size_t count,
	      size_t missing);

#endif
