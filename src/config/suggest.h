/* SPDX-License-Identifier: ISC */
/* What somebody may have meant by a name that is no setting's. */
#ifndef ONCEWRAP_CONFIG_SUGGEST_H
#define ONCEWRAP_CONFIG_SUGGEST_H

#include "config/settings.h"

#define SUGGESTION_SIZE 160

/* What would be right, for a name (`path`, dotted) that stands where settings of `table` are
 * expected. */
void suggest_setting(const struct setting_table *table, const char *path,
		     char text[SUGGESTION_SIZE]);

#endif
