/* SPDX-License-Identifier: ISC */
/* The statements of the protocol (docs/design.md section 4), one const table: text and what is to
 * be known of it. */
#ifndef ONCEWRAP_STORE_STATEMENTS_H
#define ONCEWRAP_STORE_STATEMENTS_H

#include "metrics/series.h"
#include "store/record.h"

#include <stdbool.h>

enum statement_name {
	STATEMENT_CLAIM,
	STATEMENT_READ,
	STATEMENT_GLANCE,
	STATEMENT_RECLAIM,
	STATEMENT_CLOSE_LEASE,
	STATEMENT_TAKE_OVER,
	STATEMENT_LAPSE,
	STATEMENT_RENEW,
	STATEMENT_STORE,
	STATEMENT_STORE_NATURAL, /* ..._NATURAL: the same, of a claim that has a natural key */
	STATEMENT_RELEASE,
	STATEMENT_RELEASE_NATURAL,
	STATEMENT_RELEASE_KEPT, /* the record holds a checkpoint: kept as released */
	STATEMENT_RELEASE_KEPT_NATURAL,
	STATEMENT_MARK_UNKNOWN,
	STATEMENT_HOLD_NATURAL,
	STATEMENT_TAKE_NATURAL,
	STATEMENT_SETTLE_NATURAL, /* where the record was completed by its handler */
	STATEMENT_FORGET_LEASE,
};
#define STATEMENT_COUNT (STATEMENT_FORGET_LEASE + 1)

/* The rows that come back: none, or the columns that store/row knows under that name. */
enum statement_result { RESULT_NONE, RESULT_RECORD, RESULT_GLANCE, RESULT_LEASE, RESULT_HOLDER };

struct statement {
	const char *name; /* for messages */
	const char *text;
	enum record_move move;
	enum statement_result result;
	enum metrics_op op; /* as which its time is counted */
	bool reads;         /* changes nothing, so that issuing it again leaves no doubt */
	bool waits;         /* waits for a locked row; the others get 1205 at once */
	bool patient; /* is tried until its deadline, however long the database has been away */
};

extern const struct statement statements[STATEMENT_COUNT];

#endif
