/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/change/deeds.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "store/trouble.h"

static int take_quiet(void *target, const char *argument, struct error *error)
{
	(void)argument;
	(void)error;
	*(bool *)target = true;
	return 0;
}

static const struct option_entry entries[] = {
    {.letter = 'q', .name = "quiet", .help = "tell only what was not done", .take = take_quiet},
};

struct option_group deeds_options(bool *quiet)
{
	return (struct option_group)OPTION_GROUP(entries, quiet);
}

/* A signal waits until the record in hand is done. */
static void hold_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static bool is_interrupted(void)
{
	sigset_t set;
	return sigpending(&set) == 0 &&
	       (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1 ||
		sigismember(&set, SIGHUP) == 1);
}

/* A reader that has gone is no reason to stop half way. */
static void tell(struct deeds *deeds, struct deed *deed)
{
	deed->word = deeds->words[deed->result];
	deeds->skipped += deed->result == DEED_SKIPPED;
	if (deeds->quiet && deed->result == DEED_DONE)
		return;
	deeds->begun = true;
	if (deeds->output_status == GO_ON)
		deeds->output_status = output_row(deeds->output, deed);
}

static int64_t deadline(const struct deeds *deeds)
{
	return clock_now() + deeds->connect->timeout * 1000;
}

/* Somebody else is at work on this one; the next may be free. */
static bool is_busy(unsigned code)
{
	enum trouble trouble = code != 0 ? trouble_of(code) : TROUBLE_REFUSED;
	return trouble == TROUBLE_BUSY || trouble == TROUBLE_DEADLOCK || trouble == TROUBLE_STOPPED;
}

/* GO_ON, or the exit status of what was told. */
static int change_one(struct deeds *deeds, const struct inspection *seen, struct deed *deed)
{
	struct change_seen as_seen = {.state = seen->record.state};
	struct change_now now = {0};
	struct error error = {0};
	memcpy(as_seen.id, seen->id, DIGEST_LENGTH);
	memcpy(as_seen.token, seen->record.token, TOKEN_LENGTH);
	enum change_result result =
	    deeds->change(deeds->context, &as_seen, &now, deadline(deeds), &error);
	deed_end(deed, result, &now, &error);
	if (result != CHANGE_FAILED)
		return GO_ON;
	if (!is_busy(deeds->connect->connection.code))
		return connect_failed(deeds->connect, deeds->program, &error);
	deeds->busy++;
	return GO_ON;
}

static int do_one(struct deeds *deeds, const struct inspection *seen)
{
	struct deed deed;
	int status = GO_ON;
	deed_begin(&deed, seen);
	deeds->judge(deeds->context, seen, &deed);
	if (deed.result != DEED_SKIPPED && deeds->confirm->dry_run)
		deed.result = DEED_PLANNED;
	else if (deed.result != DEED_SKIPPED)
		status = change_one(deeds, seen, &deed);
	tell(deeds, &deed);
	return status;
}

static void tell_gone(struct deeds *deeds, const unsigned char id[DIGEST_LENGTH])
{
	struct deed deed = {0};
	memcpy(deed.id, id, DIGEST_LENGTH);
	deed_skip(&deed, "it has gone meanwhile");
	tell(deeds, &deed);
}

static int look_and_do(struct deeds *deeds, const unsigned char id[DIGEST_LENGTH])
{
	struct inspection seen;
	struct error error;
	int status = GO_ON;
	inspection_init(&seen);
	switch (inspect_read(&deeds->connect->connection, id, 0, &seen, deadline(deeds), &error)) {
	case INSPECT_FOUND:
		status = do_one(deeds, &seen);
		break;
	case INSPECT_GONE:
		tell_gone(deeds, id);
		break;
	case INSPECT_FAILED:
		status = connect_failed(deeds->connect, deeds->program, &error);
		break;
	}
	inspection_free(&seen);
	return status;
}

/* What counts more comes first. */
static int judge_all(const struct deeds *deeds, int status, size_t missing)
{
	if (status != GO_ON)
		return status;
	if (deeds->output_status != GO_ON && deeds->output_status != EX_OK)
		return deeds->output_status;
	if (deeds->busy > 0)
		return EX_TEMPFAIL;
	return deeds->skipped + missing > 0 ? DEEDS_SOME_SKIPPED : EX_OK;
}

int deeds_run(struct deeds *deeds, unsigned char (*ids)[DIGEST_LENGTH], size_t count,
	      size_t missing)
{
	int status = GO_ON;
	size_t done = 0;
	deeds->output_status = GO_ON;
	hold_signals();
	while (status == GO_ON && done < count) {
		if (is_interrupted())
			status = DEEDS_INTERRUPTED;
		else
			status = look_and_do(deeds, ids[done++]);
	}
	/* Without a row a failure must not look like an empty list. */
	bool whole = status == GO_ON && !deeds->quiet;
	if (deeds->output_status == GO_ON && (deeds->begun || whole))
		deeds->output_status = output_end(deeds->output);
	if (status == DEEDS_INTERRUPTED)
		fprintf(stderr, "%s: interrupted: %zu of %zu records were not looked at\n",
			deeds->program, count - done, count);
	return judge_all(deeds, status, missing);
}
