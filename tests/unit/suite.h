/* SPDX-License-Identifier: ISC */
/* What every unit test's main does: run one Check suite and say how it went, as TAP under `make check`. */
#ifndef ONCEWRAP_TESTS_UNIT_SUITE_H
#define ONCEWRAP_TESTS_UNIT_SUITE_H

#include <check.h>

/* Run and free the suite; the exit status for main. */
int suite_run(Suite *suite);

#endif
