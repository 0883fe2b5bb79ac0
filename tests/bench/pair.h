/* SPDX-License-Identifier: ISC */
/*
 * A pair: the two durable single-row steps of one guarded request. The store room does them as a
 * worker has them done (claim and settle); the plain ways are one prepared INSERT and one UPDATE by
 * primary key each, over a table that holds less and less (docs/performance.md).
 */
#ifndef ONCEWRAP_BENCH_PAIR_H
#define ONCEWRAP_BENCH_PAIR_H

#include <stdint.h>

struct pair_database {
	char *socket;
	char *name;
	char *option_file; /* "": none */
};

struct plain; /* the table and statements of a plain way: pair_plain.c */

struct pair_way {
	const char *name;
	const struct plain *plain; /* NULL for the store room */
	/* Once, before any connection: the way's own table, where there is none yet. */
	int (*prepare)(const struct pair_way *way, const struct pair_database *database);
	/* One connection with its statements; NULL after a word on standard error. */
	void *(*open)(const struct pair_way *way, const struct pair_database *database);
	/* One pair under a number never used before; -1 after a word on standard error. */
	int (*run)(void *connection, uint64_t number);
	void (*close)(void *connection);
};

extern const struct pair_way pair_raw;         /* two columns: the yardstick */
extern const struct pair_way pair_narrow_bare; /* what any store of keys must hold, no answer */
extern const struct pair_way pair_narrow;      /* the same and the answer */
extern const struct pair_way pair_wide;        /* once_record with all that a claim writes to it */
extern const struct pair_way pair_store;

#endif
