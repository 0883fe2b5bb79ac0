/* SPDX-License-Identifier: ISC */
/* once-metrics as a CGI program (RFC 3875): what a scrape asks for, and the answer to it. */
#ifndef ONCEWRAP_ADMIN_METRICS_SCRAPE_H
#define ONCEWRAP_ADMIN_METRICS_SCRAPE_H

#include "base/buffer.h"
#include "base/error.h"
#include "metrics/exposition.h"

/* What a scrape asks for in its method, its query (scope=local, scope=store) and its Accept field.
 * `scopes` are those that may be asked for, and become those that are. The HTTP status to refuse it
 * with, and *error; 200: none. */
int scrape_read(unsigned *scopes, enum exposition_format *format, struct error *error);

/* The whole answer into `out`; for HEAD without its body. */
void scrape_answer(struct buffer *out, enum exposition_format format, const struct buffer *body);
void scrape_refuse(struct buffer *out, int status, const char *message);

#endif
