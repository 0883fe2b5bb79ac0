/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/show/advice.h"

#include <string.h>

#include "admin/common/hint.h"
#include "base/encode.h"
#include "config/config.h"

/* As once-list prints ids; the programs refuse what is ambiguous. */
enum { SHOWN_DIGITS = 12 };

enum situation {
	OWNED,         /* in flight, its owner alive */
	STALE_RERUN,   /* in flight, its owner gone, and whose next retry runs the handler again */
	STALE_UNKNOWN, /* ... and whose next retry does not */
	UNDECIDED,     /* unknown */
	ANSWERED,      /* complete */
	ANSWER_LEFT_OUT, /* complete, its answer not kept */
	OVER,            /* past its retention */
	CLAIMABLE,       /* released, its checkpoint kept */
	TOMBSTONE,       /* or it would be one, had the purge been there */
};

struct step {
	const char *what;
	const char *command; /* without options that say which record; NULL: none */
	bool token;
};

#define APPLIED                                                                                    \
	{                                                                                          \
		.what = "if the handler has done its work, a retry is told so by:",                \
		.command = "once-resolve --applied --reason=TEXT"                                  \
	}
#define NOT_APPLIED                                                                                \
	{                                                                                          \
		.what = "if it has not, the next retry does it after:",                            \
		.command = "once-resolve --not-applied --reason=TEXT"                              \
	}

static const struct step steps[][ADVICE_MOST] = {
    [OWNED] = {{.what = "nothing: a handler is at work, and its owner renews the lease"},
	       {.what = "to take the key from that handler, which may have acted by then:",
		.command = "once-release --live --reason=TEXT",
		.token = true}},
    [STALE_RERUN] = {{.what =
			  "its owner has gone; the next retry runs the handler again by itself"},
		     {.what = "to free the key without waiting for one:",
		      .command = "once-release --reason=TEXT"}},
    [STALE_UNKNOWN] = {{.what = "its owner has gone; find out whether the handler has acted: a"
				" retry does not run it again"},
		       APPLIED,
		       NOT_APPLIED},
    [UNDECIDED] = {{.what =
			"find out whether the handler has acted; until then retries are refused"},
		   APPLIED,
		   NOT_APPLIED},
    [ANSWERED] = {{.what = "nothing: a retry gets the stored answer, which is shown by:",
		   .command = "once-show --headers --body"}},
    [ANSWER_LEFT_OUT] = {{.what = "nothing: it was done, and its answer was not kept; a retry is"
				  " told so, or has it made again by a route with rebuild"}},
    [OVER] = {{.what = "nothing: the next request with this key starts anew; once-expire removes"
		       " the record"}},
    [CLAIMABLE] = {{.what =
			"nothing: the next retry runs the handler, which finds its checkpoint"}},
    [TOMBSTONE] = {{.what = "nothing: a retry is told that its key has expired; once-expire removes"
			    " the record in its time"}},
};

/* The record says what becomes of it, and not the route as it is configured now. */
static enum situation situation_in_flight(const struct inspection *seen)
{
	if (!seen->stale)
		return OWNED;
	return (seen->record.flags & RECORD_LAPSE_UNKNOWN) != 0 ? STALE_UNKNOWN : STALE_RERUN;
}

/* How long past its retention a key is told that it has expired: as its route has it now. */
static int64_t tombstone_of(const struct inspection *seen, const struct config *config)
{
	for (size_t i = 0; i < config->route_count; i++) {
		const struct route *route = &config->routes[i];
		if (strlen(route->name) == seen->route.length &&
		    memcmp(route->name, seen->route.data, seen->route.length) == 0)
			return route->tombstone;
	}
	return 0;
}

static enum situation situation_of(const struct inspection *seen, const struct config *config)
{
	switch (seen->record.state) {
	case RECORD_IN_FLIGHT:
		return situation_in_flight(seen);
	case RECORD_COMPLETE:
		if (seen->record.expired)
			return seen->now_ms - seen->expires_ms < tombstone_of(seen, config)
				   ? TOMBSTONE
				   : OVER;
		return (seen->record.flags & RECORD_NOT_KEPT) != 0 ? ANSWER_LEFT_OUT : ANSWERED;
	case RECORD_UNKNOWN:
		return UNDECIDED;
	case RECORD_RELEASED:
		return CLAIMABLE;
	case RECORD_EXPIRED:
		return seen->record.expired ? OVER : TOMBSTONE;
	}
	return UNDECIDED;
}

static void write_command(struct buffer *out, const struct step *step,
			  const struct inspection *seen, const struct connect *connect)
{
	char hex[2 * DIGEST_LENGTH + 1];
	buffer_append_text(out, step->command);
	hint_append_config(out, connect->file);
	if (step->token) {
		encode_hex(hex, seen->record.token, TOKEN_LENGTH);
		buffer_printf(out, " --token=%s", hex);
	}
	encode_hex(hex, seen->id, DIGEST_LENGTH);
	buffer_printf(out, " %.*s", SHOWN_DIGITS, hex);
}

size_t advice_give(const struct inspection *seen, const struct connect *connect,
		   struct advice advice[ADVICE_MOST])
{
	const struct step *step = steps[situation_of(seen, connect->config)];
	size_t count = 0;
	for (; count < ADVICE_MOST && step[count].what != NULL; count++) {
		advice[count] = (struct advice){.what = step[count].what};
		if (step[count].command != NULL)
			write_command(&advice[count].command, &step[count], seen, connect);
	}
	for (size_t i = count; i < ADVICE_MOST; i++)
		advice[i] = (struct advice){0};
	return count;
}

void advice_free(struct advice advice[ADVICE_MOST])
{
	for (size_t i = 0; i < ADVICE_MOST; i++)
		buffer_free(&advice[i].command);
}
