/* SPDX-License-Identifier: ISC */
/*
 * What each worker has under way, in memory shared with its supervisor: the handler's process
 * group, so that the supervisor can end it when the worker dies, and whether the worker is waiting
 * for another's answer, so that waiters can be counted. Made before the workers are forked; without
 * a supervisor (plain CGI) there is one slot. A slot says nothing but its own worker's state: a
 * worker that dies at any instruction leaves no shared count wrong.
 */
#ifndef ONCEWRAP_HANDLER_SLOT_H
#define ONCEWRAP_HANDLER_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct slots;

/* A shared anonymous mapping of `count` slots, all clear; NULL when there is no memory. */
struct slots *slots_new(size_t count);
void slots_free(struct slots *slots); /* NULL is fine */

/* In a worker: which slot is its own. An index beyond the end is no slot. */
void slot_adopt(struct slots *slots, size_t index);

/* The handler's group while it runs, 0 after. slot_set_group is async-signal-safe: it is called in
 * the vforked child. Both do nothing in a process that has adopted no slot. */
void slot_set_group(pid_t group);
void slot_clear_group(void);

/* Count oneself among the waiters if fewer than `most` are; false: too many. Never admits too many;
 * of several that begin in the same instant for the last places it may refuse one too many. Without
 * a slot there is nobody else to count. */
bool slot_wait_begin(size_t most);
void slot_wait_end(void);

/* In the supervisor, after that slot's worker has died: the group it left running (0: none); the
 * slot is clear afterwards. */
pid_t slot_reap(struct slots *slots, size_t index);

#endif
