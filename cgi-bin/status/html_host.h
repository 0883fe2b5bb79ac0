/* SPDX-License-Identifier: ISC */
/* The part of the page that tells of this host: its routes, workers and spool. */
#ifndef ONCEWRAP_STATUS_HTML_HOST_H
#define ONCEWRAP_STATUS_HTML_HOST_H

#include "cgi-bin/status/html.h"
#include "cgi-bin/status/snapshot.h"

void html_host(struct html *html, const struct snapshot *snapshot);

#endif
