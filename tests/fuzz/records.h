/* SPDX-License-Identifier: ISC */
/*
 * FastCGI records read a second time, by the specification alone: what the fuzz target for requests
 * holds the library and us to.
 */
#ifndef ONCEWRAP_TESTS_FUZZ_RECORDS_H
#define ONCEWRAP_TESTS_FUZZ_RECORDS_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

struct records {
	const unsigned char *at;
	size_t left;
};

struct record {
	unsigned type;
	unsigned id;
	const unsigned char *content;
	size_t length;
	size_t have; /* less than `length` where the record is cut off */
	size_t padding;
};

/* The next record, which may be cut off behind its header. False where no header of version 1
 * follows, with what is there left. */
bool records_next(struct records *records, struct record *record);

enum pair_step {
	PAIR_WHOLE,
	PAIR_CUT,
	PAIR_HUGE, /* longer than any input: only the allocation would be tested */
};

struct pair {
	const unsigned char *name;
	size_t name_length;
	const unsigned char *value;
	size_t value_length;
};

/* The next name and value of `*at`, which ends before `end`. */
enum pair_step pair_next(const unsigned char **at, const unsigned char *end, struct pair *pair);

enum expected_end {
	EXPECTED_CUT_IN_PARAMS,
	EXPECTED_CUT_IN_BODY,
	EXPECTED_WHOLE,
};

struct expected {
	unsigned id;
	struct buffer params;
	struct buffer body;
	enum expected_end end;
	size_t length; /* of what is fit to be said */
};

/*
 * What the request says that begins here. Fit to be said is what stands before the first record
 * that libfcgi is known to take wrongly: a management record (wrap/fcgi.c tells), an empty record
 * of another request (it drops the next one's content), a second beginning of this request, and
 * padding behind the first record or the last of the parameters (it reads that as a header). False
 * when none of it is.
 */
bool expected_read(struct expected *expected, const unsigned char *data, size_t size);

void expected_free(struct expected *expected);

#endif
