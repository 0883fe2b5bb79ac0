/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "handler/slot.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum waiting {
	WAITING_NOT,
	WAITING_TENTATIVE, /* has raised its hand, and counts the others now */
	WAITING_CONFIRMED,
};

/* A cache line each: neighbours write theirs at every request. */
struct slot {
	_Alignas(64) _Atomic pid_t group;
	_Atomic int waiting; /* enum waiting */
};

struct slots {
	size_t count;
	struct slot slot[];
};

/* How often a place that is contested in this instant is asked for again. */
enum { WAIT_TRIES = 16 };

static struct slots *home;
static struct slot *own;

static size_t mapping_length(size_t count)
{
	return sizeof(struct slots) + count * sizeof(struct slot);
}

struct slots *slots_new(size_t count)
{
	struct slots *slots = mmap(NULL, mapping_length(count), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (slots == MAP_FAILED)
		return NULL;
	slots->count = count;
	return slots;
}

void slots_free(struct slots *slots)
{
	if (slots == NULL)
		return;
	if (home == slots) {
		home = NULL;
		own = NULL;
	}
	munmap(slots, mapping_length(slots->count));
}

void slot_adopt(struct slots *slots, size_t index)
{
	home = slots;
	own = index < slots->count ? &slots->slot[index] : NULL;
}

void slot_set_group(pid_t group)
{
	if (own != NULL)
		atomic_store(&own->group, group);
}

void slot_clear_group(void)
{
	slot_set_group(0);
}

/*
 * No common counter: a worker killed between counting and noting that it has counted would leave it
 * wrong for good. Instead a hand is raised first and the raised ones are counted after, in
 * sequentially consistent order: of too many that raise theirs, the last to do so sees all the
 * others and takes it down.
 */
bool slot_wait_begin(size_t most)
{
	if (own == NULL)
		return most > 0;
	for (int i = 0; i < WAIT_TRIES; i++) {
		size_t others[] = {
		    [WAITING_NOT] = 0, [WAITING_TENTATIVE] = 0, [WAITING_CONFIRMED] = 0};
		atomic_store(&own->waiting, WAITING_TENTATIVE);
		for (size_t k = 0; k < home->count; k++) {
			if (&home->slot[k] != own)
				others[atomic_load(&home->slot[k].waiting)]++;
		}
		if (others[WAITING_TENTATIVE] + others[WAITING_CONFIRMED] < most) {
			atomic_store(&own->waiting, WAITING_CONFIRMED);
			return true;
		}
		atomic_store(&own->waiting, WAITING_NOT);
		if (others[WAITING_CONFIRMED] >= most)
			return false;
		sched_yield(); /* full only by the hands of those who are counting too */
	}
	return false;
}

void slot_wait_end(void)
{
	if (own != NULL)
		atomic_store(&own->waiting, WAITING_NOT);
}

pid_t slot_reap(struct slots *slots, size_t index)
{
	if (index >= slots->count)
		return 0;
	struct slot *slot = &slots->slot[index];
	atomic_store(&slot->waiting, WAITING_NOT);
	return atomic_exchange(&slot->group, 0);
}
