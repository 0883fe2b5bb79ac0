/* SPDX-License-Identifier: ISC */
/*
 * A record as once-show prints it: its fields, and then what does not fit into one: digests part by
 * part, stored headers and body, the audit trail, how a saved request compares, and what can be
 * done. As lines for eyes, or as members of one JSON object.
 */
#ifndef ONCEWRAP_ADMIN_SHOW_REPORT_H
#define ONCEWRAP_ADMIN_SHOW_REPORT_H

#include "admin/common/connect.h"
#include "admin/common/output.h"
#include "admin/show/explain.h"
#include "admin/show/history.h"
#include "admin/show/sublist.h"
#include "store/inspect.h"

struct report {
	const struct inspection *seen;
	const struct history *history;         /* NULL: not asked for */
	const struct sublist *naturals;        /* natural keys; empty where not looked for */
	const struct explanation *explanation; /* NULL: not asked for */
	const struct connect *connect;
	bool gone;          /* of `seen` only the id is there */
	bool headers, body; /* were asked for */
	bool quiet;         /* what can be done is not to be told */
};

/* GO_ON, or the exit status to end with. */
int report_print(struct output *output, const struct report *report)
    __attribute__((warn_unused_result));

/* Is the stored answer there to be shown? */
bool report_has_answer(const struct inspection *seen);

#endif
