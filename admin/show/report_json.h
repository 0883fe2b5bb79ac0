/* SPDX-License-Identifier: ISC */
/* The JSON of report.h: members are only ever added. */
#ifndef ONCEWRAP_ADMIN_SHOW_REPORT_JSON_H
#define ONCEWRAP_ADMIN_SHOW_REPORT_JSON_H

#include "admin/show/report.h"

/* One line, into output->text. */
void report_json_append(struct output *output, const struct report *report,
			const struct cell *cells);

#endif
