/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/expire/expiry.h"

#include <poll.h>
#include <signal.h>
#include <sysexits.h>

#include "base/clock.h"

enum { STATUS_INTERRUPTED = 130 };

/* How long what makes it wait is waited for before the next look. */
enum { BRAKE_PAUSE = 1000, SIGNAL_LOOK = 500 };

static const struct {
	const char *name;
	const char *reason;
	int status;
} endings[] = {
    [EXPIRY_GOES_ON] = {"", "", EX_SOFTWARE},
    [EXPIRY_DONE] = {"done", "nothing is left", EX_OK},
    [EXPIRY_MAX_ROWS] = {"max-rows", "as many records as --max-rows were changed", EX_TEMPFAIL},
    [EXPIRY_RUN_TIME] = {"run-time", "its --run-time is over", EX_TEMPFAIL},
    [EXPIRY_LAG] = {"lag", "the replica stayed more than --max-lag behind", EX_TEMPFAIL},
    [EXPIRY_FLOW] = {"flow-control",
		     "flow control stopped writers for more than --max-flow-control", EX_TEMPFAIL},
    [EXPIRY_SIGNAL] = {"interrupted", "it was interrupted", STATUS_INTERRUPTED},
    [EXPIRY_TAKEN] = {"taken", "it was silent for so long that another purge began", EX_TEMPFAIL},
    [EXPIRY_FAILED] = {"failed", "the database refused", EX_SOFTWARE},
    [EXPIRY_BLIND] = {"failed", "what it should wait for could not be seen", EX_SOFTWARE},
};

const char *expiry_ending_name(enum expiry_ending ending)
{
	return endings[ending].name;
}

const char *expiry_ending_reason(enum expiry_ending ending)
{
	return endings[ending].reason;
}

int expiry_ending_status(enum expiry_ending ending)
{
	return endings[ending].status;
}

static volatile sig_atomic_t signalled;

static void note_signal(int number)
{
	(void)number;
	signalled = 1;
}

void expiry_heed_signals(void)
{
	struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* A signal ends it early; at the latest at the next look, when it came just before the wait. */
static void pause_for(struct expiry *expiry, int64_t milliseconds)
{
	int64_t began = clock_now(), now = began;
	while (!signalled && now < began + milliseconds) {
		int64_t left = began + milliseconds - now;
		(void)poll(NULL, 0, (int)(left < SIGNAL_LOOK ? left : SIGNAL_LOOK));
		now = clock_now();
	}
	expiry->paused += now - began;
}

struct maintenance_counts expiry_counts(const struct expiry *expiry)
{
	const struct purge_counts *counts = &expiry->purge.counts;
	return (struct maintenance_counts){.deleted = counts->deleted,
					   .tombstoned = counts->tombstoned,
					   .expired = counts->expired};
}

/* Still ours, still in time? */
static enum expiry_ending look_round(struct expiry *expiry)
{
	const struct maintenance_counts counts = expiry_counts(expiry);
	if (signalled)
		return EXPIRY_SIGNAL;
	if (expiry->run_time > 0 && clock_now() - expiry->began >= expiry->run_time)
		return EXPIRY_RUN_TIME;
	switch (maintenance_keep(&expiry->maintenance, &counts, &expiry->error)) {
	case MAINTENANCE_HELD:
		return EXPIRY_GOES_ON;
	case MAINTENANCE_BUSY:
	case MAINTENANCE_MISSING:
		return EXPIRY_TAKEN;
	case MAINTENANCE_FAILED:
		break;
	}
	return EXPIRY_FAILED;
}

/* As long as something says wait, and no longer than somebody would wait for an answer of the
 * database. */
static enum expiry_ending wait_for_others(struct expiry *expiry)
{
	int64_t until = clock_now() + expiry->connect->timeout * 1000;
	for (enum expiry_ending ending = EXPIRY_GOES_ON; ending == EXPIRY_GOES_ON;
	     ending = look_round(expiry)) {
		enum brake_state state = brake_check(expiry->brake, &expiry->error);
		if (state == BRAKE_OFF)
			return EXPIRY_GOES_ON;
		if (state == BRAKE_FAILED)
			return EXPIRY_BLIND;
		if (clock_now() >= until)
			return state == BRAKE_LAG ? EXPIRY_LAG : EXPIRY_FLOW;
		pause_for(expiry, BRAKE_PAUSE);
	}
	return look_round(expiry);
}

static enum expiry_ending before_batch(struct expiry *expiry)
{
	if (expiry->purge.settings.dry_run)
		return EXPIRY_GOES_ON;
	enum expiry_ending ending = look_round(expiry);
	return ending == EXPIRY_GOES_ON ? wait_for_others(expiry) : ending;
}

static enum expiry_ending judge(const struct expiry *expiry, enum purge_result result)
{
	const struct purge *purge = &expiry->purge;
	uint64_t most = purge->settings.most;
	switch (result) {
	case PURGE_MORE:
		return EXPIRY_GOES_ON;
	case PURGE_DONE:
		return most > 0 && purge_changed(purge) >= most ? EXPIRY_MAX_ROWS : EXPIRY_DONE;
	case PURGE_FAILED:
		break;
	}
	return EXPIRY_FAILED;
}

static void purge_on(struct expiry *expiry)
{
	struct purge *purge = &expiry->purge;
	while ((expiry->ending = before_batch(expiry)) == EXPIRY_GOES_ON) {
		uint64_t before = purge_touched(purge);
		expiry->ending = judge(expiry, purge_step(purge, &expiry->error));
		progress_show(expiry->progress, purge_changed(purge), purge_fraction(purge));
		if (expiry->ending != EXPIRY_GOES_ON)
			return;
		if (!purge->settings.dry_run && purge_touched(purge) > before)
			pause_for(expiry, expiry->sleep);
	}
}

void expiry_run(struct expiry *expiry)
{
	expiry->began = clock_now();
	purge_on(expiry);
	expiry->ended = clock_now();
}
