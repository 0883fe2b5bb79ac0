/* SPDX-License-Identifier: ISC */
/* The status page as plain text: for a terminal, for curl, for a mail. */
#ifndef ONCEWRAP_STATUS_REPORT_TEXT_H
#define ONCEWRAP_STATUS_REPORT_TEXT_H

#include "cgi-bin/status/concerns.h"

/* out->failed: out of memory. */
void report_text(struct buffer *out, const struct snapshot *snapshot,
		 const struct concerns *concerns);

#endif
