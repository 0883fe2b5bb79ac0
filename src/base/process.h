/* SPDX-License-Identifier: ISC */
/* Processes by number, told apart from a later one of the same number by when they started. */
#ifndef ONCEWRAP_BASE_PROCESS_H
#define ONCEWRAP_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* When it started, in clock ticks since boot. 0, or -1 with errno: it has gone, or cannot be seen.
 */
int process_start(pid_t pid, uint64_t *start) __attribute__((warn_unused_result));

/* Is the process that started then still there? One that is there but cannot be looked at is taken
 * for that one. */
bool process_lives(pid_t pid, uint64_t start);

/* Bytes of its memory that are resident; 0: not known. */
uint64_t process_resident(pid_t pid);

#endif
