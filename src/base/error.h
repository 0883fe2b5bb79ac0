/* SPDX-License-Identifier: ISC */
/*
 * Errors as values: what went wrong, told for people, and of which kind, for code.
 *
 * A function that can fail takes a `struct error *` (never NULL), returns -1 (or an outcome of its
 * own) and fills it; the caller decides whether to log, answer or go on. A message names the thing,
 * what is wrong and what would be right, without a final full stop or newline.
 */
#ifndef ONCEWRAP_BASE_ERROR_H
#define ONCEWRAP_BASE_ERROR_H

enum error_kind {
	ERROR_NONE,
	ERROR_SYSTEM, /* a system call or a library failed; errno text is in the message */
	ERROR_INPUT,  /* somebody's input is not what it must be */
	ERROR_LIMIT,  /* a configured bound was met */
	ERROR_MEMORY, /* out of memory */
	ERROR_STORE,  /* the database could not do it */
};

struct error {
	enum error_kind kind;
	char message[512];
};

/* Set kind and message (cut at the array's end). */
void error_set(struct error *error, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As error_set with ERROR_SYSTEM and ": " plus the text of `number` (an errno) behind it. */
void error_set_errno(struct error *error, int number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "PREFIX: " in front of the message already there; the kind stays. */
void error_prefix(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
