/* SPDX-License-Identifier: ISC */
/* The store against a real MariaDB; started by tests/store/store, which makes the server. */
#include <config.h>

#include "tests/store/themes.h"

#include "tests/unit/suite.h"

int main(void)
{
	TCase *(*const themes[])(void) = {
	    claim_tests,   takeover_tests, settle_tests,  glance_tests, natural_tests,
	    renewal_tests, lost_tests,     refused_tests, race_tests,   table_tests,
	    schema_tests,  change_tests,   query_tests,   purge_tests,
	};
	Suite *suite = suite_create("store");
	for (size_t i = 0; i < sizeof(themes) / sizeof(themes[0]); i++) {
		TCase *theme = themes[i]();
		tcase_set_timeout(theme, 300);
		suite_add_tcase(suite, theme);
	}
	return suite_run(suite);
}
