/* SPDX-License-Identifier: ISC */
/* The themes of the store's tests, a file each. */
#ifndef ONCEWRAP_TESTS_STORE_THEMES_H
#define ONCEWRAP_TESTS_STORE_THEMES_H

#include <check.h>

TCase *change_tests(void);
TCase *claim_tests(void);
TCase *takeover_tests(void);
TCase *settle_tests(void);
TCase *glance_tests(void);
TCase *natural_tests(void);
TCase *purge_tests(void);
TCase *query_tests(void);
TCase *renewal_tests(void);
TCase *lost_tests(void);
TCase *refused_tests(void);
TCase *race_tests(void);
TCase *table_tests(void);
TCase *schema_tests(void);

#endif
