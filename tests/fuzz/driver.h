/* SPDX-License-Identifier: ISC */
/* What a fuzz target offers: libFuzzer's entry point, and where its corpus lies. */
#ifndef ONCEWRAP_TESTS_FUZZ_DRIVER_H
#define ONCEWRAP_TESTS_FUZZ_DRIVER_H

#include <stddef.h>
#include <stdint.h>

/* The folder below tests/fuzz/corpus. */
extern const char fuzz_corpus[];

/* Feed one input; aborts where something is wrong. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
