/* SPDX-License-Identifier: ISC */
/* Numbers, times and spans as people read them. */
#ifndef ONCEWRAP_STATUS_WORDS_H
#define ONCEWRAP_STATUS_WORDS_H

#include "base/buffer.h"

#include <stdint.h>

/* "1204", "18 349 201" */
void words_count(struct buffer *out, uint64_t count);
/* "1 stale lease", "2 stale leases" */
void words_counted(struct buffer *out, uint64_t count, const char *one, const char *several);
/* How long something took: "0.4 ms", "12 ms", "1.3 s", "2m05s"; below 0: "-". */
void words_duration(struct buffer *out, int64_t microseconds);
/* How long ago something was: "3h12m". */
void words_span(struct buffer *out, int64_t milliseconds);
/* "12.3 MiB" */
void words_bytes(struct buffer *out, uint64_t bytes);
/* "2026-01-02 03:04:05 UTC" */
void words_time(struct buffer *out, int64_t milliseconds);
/* "03:04" of that day in UTC */
void words_minute(struct buffer *out, int64_t minute);

#endif
