/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/outage.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/log.h"

/* One that follows the last this soon is told when it has lasted: a database that comes and goes
 * does not fill the log. */
#define QUIET_MS 10000

struct outage {
	_Atomic int64_t since; /* clock_now; 0: there is none */
	_Atomic int64_t told;  /* that there is one: when; 0: not told */
	_Atomic int64_t last;  /* when one was told the last time; 0: never */
};

static struct outage alone;
static struct outage *outage = &alone;

/* Has this process met it? Others may have a connection that works all along. One that is new takes
 * over from who may have died. */
static enum { NOT_KNOWN, NOT_MET, MET } met;

void outage_share(void)
{
	void *memory =
	    mmap(NULL, sizeof(*outage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory != MAP_FAILED)
		outage = memory;
}

/* Is it this process that tells? */
static bool is_mine_to_tell(int64_t now)
{
	int64_t none = 0;
	int64_t last = atomic_load(&outage->last);
	if (atomic_load(&outage->told) != 0 || (last != 0 && now - last < QUIET_MS))
		return false;
	return atomic_compare_exchange_strong(&outage->told, &none, now);
}

void outage_note_failure(const struct error *why)
{
	if (why->kind == ERROR_LIMIT || why->kind == ERROR_MEMORY)
		return; /* ours */
	int64_t now = clock_now();
	int64_t none = 0;
	met = MET;
	atomic_compare_exchange_strong(&outage->since, &none, now);
	if (!is_mine_to_tell(now))
		return;
	atomic_store(&outage->last, now);
	log_begin(LOG_LEVEL_ERROR, "store_gone");
	log_field_text("message", why->message);
	log_end();
}

void outage_note_success(void)
{
	if (met == NOT_KNOWN)
		met = atomic_load(&outage->since) != 0 ? MET : NOT_MET;
	if (met == NOT_MET)
		return;
	met = NOT_MET;
	int64_t since = atomic_exchange(&outage->since, 0);
	if (atomic_exchange(&outage->told, 0) == 0 || since == 0)
		return;
	log_begin(LOG_LEVEL_WARNING, "store_back");
	log_field_number("gone_ms", clock_now() - since);
	log_end();
}
