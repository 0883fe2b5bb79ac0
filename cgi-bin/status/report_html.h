/* SPDX-License-Identifier: ISC */
/* The status page for people: one HTML document without scripts and without anything from
 * elsewhere. */
#ifndef ONCEWRAP_STATUS_REPORT_HTML_H
#define ONCEWRAP_STATUS_REPORT_HTML_H

#include "cgi-bin/status/concerns.h"

/* out->failed: out of memory. */
void report_html(struct buffer *out, const struct snapshot *snapshot,
		 const struct concerns *concerns);

/* The style sheet that stands in it, of page.css. */
extern const char style_text[];

#endif
