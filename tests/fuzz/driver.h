/* SPDX-License-Identifier: ISC */
/* What a fuzz target offers: libFuzzer's entry point, and where its corpus lies; and how it says
 * that a promise was broken. */
#ifndef ONCEWRAP_TESTS_FUZZ_DRIVER_H
#define ONCEWRAP_TESTS_FUZZ_DRIVER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The folder below tests/fuzz/corpus. */
extern const char fuzz_corpus[];

/* Feed one input; aborts where something is wrong. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A stack alone does not tell: the compiler joins all calls of abort in a function. */
#define require(promise) ((promise) ? (void)0 : require_failed(__FILE__, __LINE__, #promise))

static inline _Noreturn void require_failed(const char *file, int line, const char *promise)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, promise);
	abort();
}

#endif
