/* SPDX-License-Identifier: ISC */
/* The status page for programs: one JSON object, in ASCII. Its members are in once-status(8). */
#ifndef ONCEWRAP_STATUS_REPORT_JSON_H
#define ONCEWRAP_STATUS_REPORT_JSON_H

#include "cgi-bin/status/concerns.h"

/* out->failed: out of memory. */
void report_json(struct buffer *out, const struct snapshot *snapshot,
		 const struct concerns *concerns);

#endif
