/* SPDX-License-Identifier: ISC */
/*
 * The purge: what nobody needs any more leaves the tables, batch by batch (docs/design.md section
 * 4, case C24). Ids are picked by a plain SELECT that walks an index from a cursor, then deleted by
 * their ids under the same conditions once more, so that a key that was claimed anew in between
 * stays. No statement waits for a row that somebody else holds: such a row is left for later.
 *
 * Answers past their retention are deleted, or become tombstones where their route has those;
 * tombstones are deleted at their end. In-flight records past their retention go once their lease
 * is closed; those that must not run twice become unknown, as where a retry finds them, and those
 * with a checkpoint stay for it. Leases of records that are over, and natural keys past their
 * window, go too. A record that is unknown or released is never touched (case C9).
 */
#ifndef ONCEWRAP_STORE_PURGE_H
#define ONCEWRAP_STORE_PURGE_H

#include "base/digest.h"
#include "store/connection.h"
#include "store/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PURGE_MOST_BATCH 10000

/* Which records. All that is said must hold. */
struct purge_selection {
	bool expired; /* past their retention; else answers of any age, but no in-flight ones */
	const char *route;  /* NULL: any */
	const char *tenant; /* NULL: any */
	int64_t older;      /* made more than so many ms ago; 0: at any time */
};

struct purge_settings {
	struct purge_selection selection;
	size_t batch;  /* rows a statement, 1 to PURGE_MOST_BATCH */
	uint64_t most; /* records changed, then no more; 0: no such bound */
	bool dry_run;  /* change nothing, count what would be */
	/* For how many ms past its retention a record of that route is told "expired". */
	int64_t (*tombstone)(void *context, const char *route, size_t length);
	void *context;
};

struct purge_counts {
	uint64_t deleted;    /* records */
	uint64_t tombstoned; /* records that are tombstones now */
	uint64_t unknown;    /* records in flight of which nobody will know what came of them */
	uint64_t expired;    /* keys whose retention was over: of both, but no tombstone's end */
	uint64_t busy;       /* times that somebody else was at work on a record: left for later */
	uint64_t leases;     /* rows of once_lease */
	uint64_t natural_keys; /* rows of once_natural_key */
	uint64_t batches;
};

/* What statements of one kind have taken. */
enum purge_work {
	PURGE_SELECT,
	PURGE_DELETE,
	PURGE_TOMBSTONE,
	PURGE_CLOSE_LEASE,
	PURGE_MARK_UNKNOWN,
};
#define PURGE_WORKS (PURGE_MARK_UNKNOWN + 1)
struct purge_figures {
	uint64_t calls;
	uint64_t rows;
	int64_t time; /* ms */
};
extern const char *const purge_work_names[PURGE_WORKS];

enum purge_result { PURGE_MORE, PURGE_DONE, PURGE_FAILED };

struct purge {
	struct purge_counts counts;
	struct purge_figures figures[PURGE_WORKS];
	/* private from here */
	struct connection *connection;
	struct purge_settings settings;
	unsigned walk;       /* which table by which index */
	uint64_t pass_began; /* rows changed when the walk last started over */
	char place[32];      /* where the page before ended, in the words of the database ... */
	unsigned char last[DIGEST_LENGTH]; /* ... and by id among equals */
	size_t last_length;
	struct purge_row *rows; /* of the page; owned */
	size_t row_count;
	uint64_t looked;   /* records looked at */
	uint64_t expected; /* records to be looked at; 0: not known */
};

/* 0, or -1 when out of memory. purge_free in any case. */
int purge_init(struct purge *purge, struct connection *connection,
	       const struct purge_settings *settings) __attribute__((warn_unused_result));
void purge_free(struct purge *purge);

/*
 * One batch: what a page of the index holds. PURGE_DONE: nothing is left, but for what expired a
 * moment ago, or the bound is reached. After PURGE_FAILED, with *error, what was done before stays
 * done.
 */
enum purge_result purge_step(struct purge *purge, struct error *error)
    __attribute__((warn_unused_result));

/* Records changed so far; and rows of any table. */
uint64_t purge_changed(const struct purge *purge);
uint64_t purge_touched(const struct purge *purge);

/* Count beforehand what there is to look at, for purge_fraction; where that takes too long there is
 * none. */
void purge_expect(struct purge *purge);
/* How much of it has been looked at, 0 to 1; below 0: not known. */
double purge_fraction(const struct purge *purge);

#endif
