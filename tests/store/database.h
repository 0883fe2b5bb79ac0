/* SPDX-License-Identifier: ISC */
/* What the store's tests share: the private MariaDB that tests/store/store started for them, a
 * second session beside the store's to look and to interfere with, and claims to make. */
#ifndef ONCEWRAP_TESTS_STORE_DATABASE_H
#define ONCEWRAP_TESTS_STORE_DATABASE_H

#include "config/config.h"
#include "store/store.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ms; more than any step takes on a busy machine */
#define PATIENCE 60000

/* Settings of a store in that database, under the wrapper's own account and rights. */
struct config_store database_config(void);

/* As administrator, over one connection a process: run SQL; its first value, as text ("" for NULL
 * and no row, valid until the next call) or number. Fails the test when the server does not take
 * it. */
const char *database_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
int64_t database_number(const char *format, ...) __attribute__((format(printf, 1, 2)));
void database_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The column of that number in every row, a blank between. */
const char *database_column(unsigned column, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The error number with which the server refuses it; 0: it does not. */
unsigned database_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Forget the connection (after a restart, in a forked child). */
void database_leave(void);

/* A process that holds the claim's row in a transaction of its own until somebody waits for it;
 * then it runs `then` (NULL: nothing), and commits. database_end waits for that process, which must
 * have succeeded. */
pid_t database_hold_until_waited_for(const struct store_claim *claim, const char *then);
void database_end(pid_t process);

/* mariadb.sh's VERB on that server: kill9, restart, freeze, thaw. */
void database_server(const char *verb);

/* How far this process's wall clock is off, in seconds (case C10). The test program's calls of
 * clock_gettime, time and gettimeofday go through here. */
extern int64_t database_clock_error;

/* A claim for a fresh key by a new token: lease and retention long. */
struct store_claim claim_new(void);
/* Another request's claim for the same key. */
struct store_claim claim_again(const struct store_claim *claim);
/* "id = x'...'" for an SQL condition; a new static text at each call, for a few calls. */
const char *where(const struct store_claim *claim);
const char *hex(const unsigned char *data, size_t length);

/* A natural key of its own, for an hour. */
struct store_natural natural_new(void);
/* The claim gets it. */
void hold_first(struct store *store, const struct store_claim *claim,
		const struct store_natural *natural);

bool is_mine(const struct record *record, const struct store_claim *claim);

/* Fail with the error's text unless result is as expected. */
#define expect(call, expected)                                                                     \
	do {                                                                                       \
		struct error *expect_error = test_error();                                         \
		enum store_result expect_result = (call);                                          \
		ck_assert_msg(expect_result == (expected), "%s: %s, not %s: %s", #call,            \
			      result_name(expect_result), result_name(expected),                   \
			      expect_error->message);                                              \
	} while (0)
struct error *test_error(void);
const char *result_name(enum store_result result);

/* The usual steps, expected to succeed. */
void claim_first(struct store *store, const struct store_claim *claim);
/* ... with a first lease that is over at once, waited for. */
void claim_lapsed(struct store *store, struct store_claim *claim);
void settle_with(struct store *store, const struct store_claim *claim, int status,
		 const char *body);
/* The claim's record is past its retention now. */
void expire(const struct store_claim *claim);

#endif
