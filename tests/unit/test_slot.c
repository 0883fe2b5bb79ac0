/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "handler/slot.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/suite.h"

#define WORKERS 6
#define ROUNDS  5000

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	return memory;
}

/* A worker that does `work` in that slot and ends, or is killed where it kills itself. */
static void in_worker(struct slots *slots, size_t index, void (*work)(void))
{
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		slot_adopt(slots, index);
		work();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void die_with_a_group(void)
{
	slot_set_group(4711);
	kill(getpid(), SIGKILL);
}

static void end_properly(void)
{
	slot_set_group(4711);
	slot_clear_group();
}

static void die_waiting(void)
{
	if (slot_wait_begin(1))
		kill(getpid(), SIGKILL);
}

START_TEST(a_dead_workers_group_is_told_once)
{
	struct slots *slots = slots_new(3);
	ck_assert_ptr_nonnull(slots);
	in_worker(slots, 1, die_with_a_group);
	ck_assert_int_eq(slot_reap(slots, 0), 0);
	ck_assert_int_eq(slot_reap(slots, 2), 0);
	ck_assert_int_eq(slot_reap(slots, 1), 4711);
	ck_assert_int_eq(slot_reap(slots, 1), 0);
	slots_free(slots);
}
END_TEST

START_TEST(a_finished_handlers_group_is_not_told)
{
	struct slots *slots = slots_new(1);
	in_worker(slots, 0, end_properly);
	ck_assert_int_eq(slot_reap(slots, 0), 0);
	slots_free(slots);
}
END_TEST

START_TEST(no_more_than_the_most_wait)
{
	struct slots *slots = slots_new(3);
	slot_adopt(slots, 0);
	ck_assert(!slot_wait_begin(0));
	ck_assert(slot_wait_begin(1));
	slot_adopt(slots, 1);
	ck_assert(!slot_wait_begin(1));
	ck_assert(slot_wait_begin(2));
	slot_adopt(slots, 2);
	ck_assert(!slot_wait_begin(2));
	slot_adopt(slots, 0);
	slot_wait_end();
	slot_adopt(slots, 2);
	ck_assert(slot_wait_begin(2));
	slots_free(slots);
}
END_TEST

START_TEST(a_worker_that_died_waiting_waits_no_more)
{
	struct slots *slots = slots_new(2);
	in_worker(slots, 0, die_waiting);
	slot_adopt(slots, 1);
	ck_assert(!slot_wait_begin(1));
	slot_reap(slots, 0);
	ck_assert(slot_wait_begin(1));
	slots_free(slots);
}
END_TEST

START_TEST(without_a_slot_there_is_nobody_else)
{
	slot_set_group(4711);
	slot_clear_group();
	ck_assert(slot_wait_begin(1));
	ck_assert(slot_wait_begin(1));
	ck_assert(!slot_wait_begin(0));
	slot_wait_end();
}
END_TEST

START_TEST(an_index_beyond_the_end_is_no_slot)
{
	struct slots *slots = slots_new(2);
	slot_adopt(slots, 2);
	slot_set_group(4711);
	ck_assert_int_eq(slot_reap(slots, 0), 0);
	ck_assert_int_eq(slot_reap(slots, 1), 0);
	ck_assert_int_eq(slot_reap(slots, 2), 0);
	slots_free(slots);
	slots_free(NULL);
	slot_set_group(4711); /* with its slots gone */
}
END_TEST

/* What the racing workers tell of. */
struct race {
	atomic_int ready;
	atomic_int inside;
	atomic_int most_seen;
	atomic_int admitted;
	atomic_int refused;
};

static void note_most(struct race *race, int seen)
{
	int before = atomic_load(&race->most_seen);
	while (seen > before && !atomic_compare_exchange_weak(&race->most_seen, &before, seen))
		;
}

static void contend(struct slots *slots, size_t index, struct race *race, size_t most)
{
	slot_adopt(slots, index);
	atomic_fetch_add(&race->ready, 1);
	while (atomic_load(&race->ready) < WORKERS)
		sched_yield();
	for (int i = 0; i < ROUNDS; i++) {
		if (!slot_wait_begin(most)) {
			atomic_fetch_add(&race->refused, 1);
			continue;
		}
		note_most(race, atomic_fetch_add(&race->inside, 1) + 1);
		atomic_fetch_add(&race->admitted, 1);
		if (i % 16 == 0)
			sched_yield();
		atomic_fetch_sub(&race->inside, 1);
		slot_wait_end();
	}
	_exit(0);
}

static struct race *race_for(size_t most)
{
	struct slots *slots = slots_new(WORKERS);
	struct race *race = shared(sizeof(*race));
	pid_t pids[WORKERS];
	for (size_t i = 0; i < WORKERS; i++) {
		pids[i] = fork();
		ck_assert_int_ge(pids[i], 0);
		if (pids[i] == 0)
			contend(slots, i, race, most);
	}
	for (size_t i = 0; i < WORKERS; i++)
		ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
	slots_free(slots);
	return race;
}

START_TEST(a_race_for_the_last_place_never_admits_too_many)
{
	struct race *race = race_for(1);
	ck_assert_int_le(atomic_load(&race->most_seen), 1);
	ck_assert_int_gt(atomic_load(&race->admitted), 0);
}
END_TEST

START_TEST(a_race_with_places_for_all_refuses_nobody)
{
	struct race *race = race_for(WORKERS);
	ck_assert_int_eq(atomic_load(&race->refused), 0);
	ck_assert_int_eq(atomic_load(&race->admitted), WORKERS * ROUNDS);
}
END_TEST

/* So many to count that one is stopped while at it, most times. */
START_TEST(of_two_for_one_place_one_gets_it_though_the_other_stops_anywhere)
{
	struct slots *slots = slots_new(400000);
	atomic_int *began = shared(sizeof(*began));
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		slot_adopt(slots, 1);
		atomic_store(began, 1);
		_exit(slot_wait_begin(1) ? 1 : 0);
	}
	while (atomic_load(began) == 0)
		sched_yield();
	kill(pid, SIGSTOP);
	slot_adopt(slots, 0);
	int admitted = slot_wait_begin(1);
	int status;
	kill(pid, SIGCONT);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(admitted + WEXITSTATUS(status), 1);
	slots_free(slots);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slot");
	TCase *tests = tcase_create("slot");
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_dead_workers_group_is_told_once);
	tcase_add_test(tests, a_finished_handlers_group_is_not_told);
	tcase_add_test(tests, no_more_than_the_most_wait);
	tcase_add_test(tests, a_worker_that_died_waiting_waits_no_more);
	tcase_add_test(tests, without_a_slot_there_is_nobody_else);
	tcase_add_test(tests, an_index_beyond_the_end_is_no_slot);
	tcase_add_test(tests, of_two_for_one_place_one_gets_it_though_the_other_stops_anywhere);
	tcase_add_test(tests, a_race_for_the_last_place_never_admits_too_many);
	tcase_add_test(tests, a_race_with_places_for_all_refuses_nobody);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
