/* SPDX-License-Identifier: ISC */
/*
 * Time within one host: milliseconds of CLOCK_BOOTTIME, which goes on while the host is suspended,
 * for deadlines; and the wall clock for log lines only. Times in records are the database's alone.
 */
#ifndef ONCEWRAP_BASE_CLOCK_H
#define ONCEWRAP_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define CLOCK_NEVER INT64_MAX

/* Milliseconds since boot, suspension counted. */
int64_t clock_now(void);

/* Milliseconds from now to `when` as poll(2) takes them: 0 when past, -1 for CLOCK_NEVER, rounded
 * so that the wait never ends early; capped at INT_MAX. */
int clock_wait(int64_t when);

/* Sleep `milliseconds` plus up to half as much at random (retry loops; never in a test). */
void clock_pause(int64_t milliseconds);

/* RFC 3339 in UTC, "2026-01-02T03:04:05.678Z": of milliseconds since the epoch, and of now. */
#define CLOCK_STAMP_LENGTH 25
void clock_format(char text[CLOCK_STAMP_LENGTH], int64_t milliseconds);
void clock_stamp(char text[CLOCK_STAMP_LENGTH]);

#endif
