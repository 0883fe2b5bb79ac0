/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/change/deed.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct cell id_of(const void *row)
{
	const struct deed *deed = row;
	return cell_hash(deed->id, DIGEST_LENGTH);
}

static struct cell result_of(const void *row)
{
	const struct deed *deed = row;
	return cell_text(deed->word);
}

static struct cell state_or_nothing(bool is_there, enum record_state state)
{
	return is_there ? cell_text(record_state_name(state)) : (struct cell){0};
}

static struct cell before_of(const void *row)
{
	const struct deed *deed = row;
	return state_or_nothing(deed->was_there, deed->before);
}

static struct cell after_of(const void *row)
{
	const struct deed *deed = row;
	return state_or_nothing(deed->is_there, deed->after);
}

static struct cell text_or_nothing(const char *text)
{
	return *text != '\0' ? cell_text(text) : (struct cell){0};
}

static struct cell next_of(const void *row)
{
	const struct deed *deed = row;
	return text_or_nothing(deed->next);
}

static struct cell why_of(const void *row)
{
	const struct deed *deed = row;
	return text_or_nothing(deed->why);
}

static struct cell route_of(const void *row)
{
	const struct deed *deed = row;
	return text_or_nothing(deed->route);
}

#define WIDE (COLUMN_WIDE | COLUMN_DATA)

/* None gives way to a narrow terminal: half a reason is none. */
const struct column deed_columns[] = {
    {.name = "id", .kind = CELL_HASH, .value = id_of, .shown = COLUMN_ALL},
    {.name = "result", .kind = CELL_TEXT, .value = result_of, .shown = COLUMN_ALL},
    {.name = "before", .kind = CELL_TEXT, .value = before_of, .shown = COLUMN_ALL},
    {.name = "after", .kind = CELL_TEXT, .value = after_of, .shown = COLUMN_ALL},
    {.name = "next", .kind = CELL_TEXT, .value = next_of, .shown = COLUMN_ALL},
    {.name = "why", .kind = CELL_TEXT, .value = why_of, .shown = COLUMN_ALL},
    {.name = "route", .kind = CELL_TEXT, .value = route_of, .shown = WIDE},
};
const size_t deed_column_count = sizeof(deed_columns) / sizeof(deed_columns[0]);

static const char *bytes_of(const struct buffer *buffer)
{
	return buffer->length > 0 ? (const char *)buffer->data : "";
}

void deed_begin(struct deed *deed, const struct inspection *seen)
{
	*deed = (struct deed){
	    .was_there = true,
	    .before = seen->record.state,
	    .is_there = true,
	    .after = seen->record.state,
	};
	memcpy(deed->id, seen->id, DIGEST_LENGTH);
	snprintf(deed->route, sizeof(deed->route), "%.*s", (int)seen->route.length,
		 bytes_of(&seen->route));
}

void deed_skip(struct deed *deed, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(deed->why, sizeof(deed->why), format, arguments);
	va_end(arguments);
	deed->result = DEED_SKIPPED;
}

static void skip_living(struct deed *deed, const struct inspection *seen)
{
	int64_t until = seen->first_lease_ms;
	if (seen->renewal == RENEWAL_HELD && seen->renewed_ms > until)
		until = seen->renewed_ms;
	int64_t seconds = (until - seen->now_ms + 999) / 1000;
	deed_skip(deed,
		  "its owner lives: %.*s, process %" PRId64 ", whose lease runs %" PRId64 " s more",
		  (int)seen->owner.host.length, bytes_of(&seen->owner.host), seen->owner.pid,
		  seconds > 0 ? seconds : 0);
}

bool deed_refuse_state(struct deed *deed, const struct inspection *seen)
{
	switch (seen->record.state) {
	case RECORD_IN_FLIGHT:
		if (seen->stale)
			return false;
		skip_living(deed, seen);
		return true;
	case RECORD_UNKNOWN:
		return false;
	case RECORD_COMPLETE:
		deed_skip(deed, seen->record.expired
				    ? "it has expired: the next request starts anew"
				    : "it has been answered, and a retry gets that answer");
		return true;
	case RECORD_RELEASED:
		deed_skip(deed, "it is free already");
		return true;
	case RECORD_EXPIRED:
		deed_skip(deed, "it has expired, and a retry is told so");
		return true;
	}
	return true;
}

void deed_tell_free(struct deed *deed, const struct inspection *seen)
{
	if (seen->has_checkpoint)
		snprintf(deed->next, sizeof(deed->next),
			 "runs the handler from its checkpoint, as attempt %" PRIu32,
			 seen->record.attempt + 1);
	else
		snprintf(deed->next, sizeof(deed->next), "runs the handler anew");
	deed->is_there = seen->has_checkpoint;
	deed->after = RECORD_RELEASED;
}

static void skip_moved(struct deed *deed, const struct change_now *now)
{
	if (now->other_token && now->state == RECORD_IN_FLIGHT)
		deed_skip(deed, "it has another owner meanwhile");
	else
		deed_skip(deed, "it is %s meanwhile", record_state_name(now->state));
}

void deed_end(struct deed *deed, enum change_result result, const struct change_now *now,
	      const struct error *error)
{
	deed->is_there = now->is_there;
	deed->after = now->state;
	switch (result) {
	case CHANGE_DONE:
		deed->result = DEED_DONE;
		return;
	case CHANGE_GONE:
		deed_skip(deed, "it has gone meanwhile");
		break;
	case CHANGE_MOVED:
		skip_moved(deed, now);
		break;
	case CHANGE_LIVE:
		deed_skip(deed, "its owner has renewed its lease meanwhile");
		break;
	case CHANGE_FAILED:
		deed_skip(deed, "%s", error->message);
		deed->result = DEED_FAILED;
		deed->is_there = false;
		break;
	}
	deed->next[0] = '\0';
}
