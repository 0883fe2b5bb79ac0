/* SPDX-License-Identifier: ISC */
/* What store.c, settle.c, natural.c and renewal.c share: the store itself, and how a statement is
 * issued until it is done. */
#ifndef ONCEWRAP_STORE_HANDLE_H
#define ONCEWRAP_STORE_HANDLE_H

#include "store/roundtrip.h"
#include "store/row.h"
#include "store/store.h"

struct store {
	struct connection connection;
	/* The claim whose lease was renewed, or may have been: its row of once_lease goes when it
	 * is settled. */
	bool renewed;
	unsigned char renewed_token[TOKEN_LENGTH];
};

/* A statement being issued, as often as it takes. */
struct issue {
	enum statement_name statement;
	struct parameters parameters;
	bool in_doubt;   /* an earlier issue may have been done, unseen: 0 rows now prove nothing */
	uint64_t rows;   /* changed, or returned */
	uint64_t number; /* LAST_INSERT_ID */
};

/* STORE_DONE: the result is there, read to its end. STORE_BUSY, STORE_UNCERTAIN and STORE_DOWN as
 * in store.h. */
enum store_result store_issue(struct store *store, struct issue *issue, int64_t deadline,
			      struct error *error);

/* The record's row that an issue has brought; STORE_NO_ROW when none came. */
enum store_result store_take_record(struct store *store, const struct issue *issue,
				    struct record *record, struct error *error);

/* Give back what a large packet has made the connection keep: by a new connection, when one is
 * needed. */
void store_shed(struct store *store, uint64_t packet);

#endif
