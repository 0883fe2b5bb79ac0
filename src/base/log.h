/* SPDX-License-Identifier: ISC */
/*
 * The log: one JSON object a line, on standard error, in the system's log or in the journal, built
 * in memory and written by one system call of at most PIPE_BUF bytes, so that no other process's
 * line ever splits it: a value too long is cut and ends in "...", a field without room is left out.
 * Hostile bytes are escaped. Logging never fails a request, nor holds one up for long: what cannot
 * be written is dropped, counted, and told of (base/sink.h).
 *
 * Field names are the same everywhere: event, route, tenant, key, record, attempt, verdict,
 * replayed, first_seen, status, elapsed_ms, handler_ms, store_ms, request_id, message. Never log a
 * secret or a raw key: keys go through log_field_key.
 */
#ifndef ONCEWRAP_BASE_LOG_H
#define ONCEWRAP_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARNING, LOG_LEVEL_ERROR };

enum log_target { LOG_TARGET_STDERR, LOG_TARGET_SYSLOG, LOG_TARGET_JOURNALD };

/* Choose target, its socket ("" or NULL: the usual one) and least level; may be called again
 * (reload). Until then: stderr, info. */
void log_open(enum log_target target, const char *socket, enum log_level least);

/* Have each line counted that is told; `level` is an enum log_level. NULL: nobody counts. */
void log_count_by(void (*count)(unsigned level));

/* The request in hand, whose id each line carries from here on: borrowed. NULL: none. */
void log_set_request(const char *id);

/* Would a line of this level be written? For what costs something to find out. */
bool log_wants(enum log_level level);

/* One line of ts, level, event and message. */
void log_message(enum log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * A line with fields: log_begin, any log_field_*, log_end. One line at a time in a process (the
 * line is built in a static buffer). A name is borrowed until log_end; a NULL string value leaves
 * the field out.
 */
void log_begin(enum log_level level, const char *event);
void log_field_text(const char *name, const char *value);
void log_field_bytes(const char *name, const void *value,
		     size_t length); /* escaped, bad UTF-8 as \ufffd */
void log_field_number(const char *name, int64_t value);
void log_field_bool(const char *name, bool value);
void log_field_time(const char *name, int64_t milliseconds); /* since the epoch, as RFC 3339 */
void log_field_hex(const char *name, const unsigned char *value, size_t length);
void log_field_key(const char *name, const void *key,
		   size_t length); /* "sha256:" and 12 hex digits */
void log_end(void);

#endif
