/* SPDX-License-Identifier: ISC */
/*
 * A pair: the two durable single-row steps of one guarded request, done in one of two ways: by the
 * store room (claim and settle), or by the barest client (INSERT and UPDATE by primary key).
 */
#ifndef ONCEWRAP_BENCH_PAIR_H
#define ONCEWRAP_BENCH_PAIR_H

#include <stdint.h>

struct pair_database {
	char *socket;
	char *name;
	char *option_file; /* "": none */
};

struct pair_way {
	const char *name;
	/* Once, before any connection: an empty table, where the way needs one of its own. */
	int (*prepare)(const struct pair_database *database);
	/* One connection with its statements; NULL after a word on standard error. */
	void *(*open)(const struct pair_database *database);
	/* One pair under a number never used before; -1 after a word on standard error. */
	int (*run)(void *connection, uint64_t number);
	void (*close)(void *connection);
};

extern const struct pair_way pair_raw;
extern const struct pair_way pair_store;

#endif
