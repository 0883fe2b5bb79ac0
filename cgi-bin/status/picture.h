/* SPDX-License-Identifier: ISC */
/* A route's last hour as a small picture: a bar a minute, of answers from the store, of other ones,
 * and of errors. What it shows is also said in words, to those who do not see it. */
#ifndef ONCEWRAP_STATUS_PICTURE_H
#define ONCEWRAP_STATUS_PICTURE_H

#include "cgi-bin/status/html.h"
#include "cgi-bin/status/tally.h"

/* Of an hour with requests. */
void picture_write(struct html *html, const struct reading_route *route, const struct tally *tally);

/* "1204 requests, 310 replayed, 4 errors; most in one minute: 52 at 14:03 UTC" */
void picture_tell(struct buffer *out, const struct tally *tally);

#endif
