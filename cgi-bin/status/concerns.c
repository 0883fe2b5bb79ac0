/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/concerns.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cgi-bin/status/command.h"
#include "cgi-bin/status/words.h"

/* As once-doctor judges. */
#define LATE_PURGE (INT64_C(2) * 24 * 60 * 60 * 1000000)
#define MOST_SKEW  (INT64_C(2) * 1000000)

static const char *const level_names[] = {
    [CONCERN_NONE] = "ok",
    [CONCERN_ATTENTION] = "attention",
    [CONCERN_TROUBLE] = "trouble",
};

const char *concern_level_name(enum concern_level level)
{
	return level_names[level];
}

/* Its words, detail and command are the caller's to fill in. */
static struct concern *add(struct concerns *concerns, const char *code, enum concern_level level)
{
	struct concern *concern = &concerns->items[concerns->count++];
	*concern = (struct concern){.code = code, .level = level};
	if (level > concerns->worst)
		concerns->worst = level;
	return concern;
}

static void find_store(struct concerns *concerns, const struct snapshot *snapshot)
{
	struct concern *concern;
	if (!snapshot->gauges.up) {
		concern = add(concerns, "store_unreachable", CONCERN_TROUBLE);
		buffer_append_text(&concern->words, "store unreachable");
	} else if (snapshot->store_error.kind != ERROR_NONE) {
		concern = add(concerns, "store_incomplete", CONCERN_ATTENTION);
		buffer_append_text(&concern->words, "store told in part only");
	} else {
		return;
	}
	buffer_append_text(&concern->detail, snapshot->store_error.message);
	command_append(&concern->command, "once-doctor", snapshot->connect.file);
}

static void find_schema(struct concerns *concerns, const struct snapshot *snapshot)
{
	const struct gauges *gauges = &snapshot->gauges;
	int64_t version = gauges->values[GAUGE_SCHEMA], expected = gauges_expected_schema();
	if (!gauges->known[GAUGE_SCHEMA] || version == expected)
		return;
	struct concern *concern = add(concerns, "schema_mismatch", CONCERN_TROUBLE);
	buffer_append_text(&concern->words, "schema of another version");
	buffer_printf(&concern->detail,
		      "The database has version %" PRId64 ", and this oncewrap needs %" PRId64 ".",
		      version, expected);
	command_append(&concern->command,
		       version < expected ? "once-migrate up" : "once-migrate status",
		       snapshot->connect.file);
}

/* Where a web server starts them by need, none is no fault. */
static void find_workers(struct concerns *concerns, const struct snapshot *snapshot)
{
	bool pool = *snapshot->connect.config->listen != '\0';
	struct concern *concern;
	if (!snapshot->read) {
		concern = add(concerns, "counters_unreadable", CONCERN_ATTENTION);
		buffer_append_text(&concern->words, "no counters of this host");
		buffer_append_text(&concern->detail, snapshot->read_error.message);
	} else if (pool && snapshot->reading.worker_count == 0) {
		concern = add(concerns, "no_workers", CONCERN_TROUBLE);
		buffer_append_text(&concern->words, "no workers");
		buffer_printf(&concern->detail, "Nobody serves %s.",
			      snapshot->connect.config->listen);
	} else {
		return;
	}
	command_append(&concern->command, "once-doctor", snapshot->connect.file);
}

static void find_records(struct concerns *concerns, const struct snapshot *snapshot)
{
	static const struct {
		enum gauge gauge;
		const char *code, *one, *several, *detail, *command;
	} kinds[] = {
	    {GAUGE_UNKNOWN, "unknown_outcomes", "unknown outcome", "unknown outcomes",
	     "Retries are refused until somebody has found out whether the handler has acted.",
	     "once-list --state=unknown"},
	    {GAUGE_STALE, "stale_leases", "stale lease", "stale leases",
	     "Their owner has gone, and no retry has come since.", "once-list --stale"},
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int64_t count = snapshot->gauges.values[kinds[i].gauge];
		if (count == 0)
			continue;
		struct concern *concern = add(concerns, kinds[i].code, CONCERN_ATTENTION);
		if (count >= SNAPSHOT_COUNT_LIMIT)
			buffer_append_text(&concern->words, "at least ");
		words_counted(&concern->words, (uint64_t)count, kinds[i].one, kinds[i].several);
		buffer_append_text(&concern->detail, kinds[i].detail);
		command_append(&concern->command, kinds[i].command, snapshot->connect.file);
	}
}

/* A purge that has nothing to do may be late. */
static void find_purge(struct concerns *concerns, const struct snapshot *snapshot)
{
	const struct gauges *gauges = &snapshot->gauges;
	int64_t ended = gauges->values[GAUGE_PURGED_AT];
	int64_t ago = snapshot->now_ms * 1000 - ended;
	if (!gauges->known[GAUGE_PURGED_AT] || gauges->values[GAUGE_PAST_EXPIRY] == 0 ||
	    ago < LATE_PURGE)
		return;
	struct concern *concern = add(concerns, "purge_late", CONCERN_ATTENTION);
	buffer_append_text(&concern->words, "purge overdue");
	if (ended > 0) {
		buffer_append_text(&concern->detail, "The last one ended ");
		words_span(&concern->detail, ago / 1000);
		buffer_append_text(&concern->detail, " ago, and expired records wait for it.");
	} else {
		buffer_append_text(&concern->detail,
				   "None has ever ended, and expired records wait for it.");
	}
	command_append(&concern->command, "once-expire", snapshot->connect.file);
}

/* Nothing goes by the clock of a web host (case C10); but its log does. */
static void find_skew(struct concerns *concerns, const struct snapshot *snapshot)
{
	int64_t ahead = snapshot->gauges.values[GAUGE_SKEW];
	if (llabs(ahead) <= MOST_SKEW)
		return;
	struct concern *concern = add(concerns, "clock_skew", CONCERN_ATTENTION);
	buffer_append_text(&concern->words, "clocks differ");
	buffer_append_text(&concern->detail, "This host's clock is ");
	words_duration(&concern->detail, llabs(ahead));
	buffer_printf(&concern->detail,
		      " %s the database's: the times of the log do not fit those of the records.",
		      ahead < 0 ? "ahead of" : "behind");
	command_append(&concern->command, "once-doctor", snapshot->connect.file);
}

void concerns_find(struct concerns *concerns, const struct snapshot *snapshot)
{
	*concerns = (struct concerns){0};
	find_store(concerns, snapshot);
	find_schema(concerns, snapshot);
	find_workers(concerns, snapshot);
	find_records(concerns, snapshot);
	find_purge(concerns, snapshot);
	find_skew(concerns, snapshot);
	/* Trouble first; each in its order. */
	for (size_t i = 1; i < concerns->count; i++)
		for (size_t k = i; k > 0 && concerns->items[k].level > concerns->items[k - 1].level;
		     k--) {
			struct concern moved = concerns->items[k];
			concerns->items[k] = concerns->items[k - 1];
			concerns->items[k - 1] = moved;
		}
}

void concerns_free(struct concerns *concerns)
{
	for (size_t i = 0; i < concerns->count; i++) {
		buffer_free(&concerns->items[i].words);
		buffer_free(&concerns->items[i].detail);
		buffer_free(&concerns->items[i].command);
	}
	*concerns = (struct concerns){0};
}

static unsigned char capital(unsigned char letter)
{
	return letter >= 'a' && letter <= 'z' ? (unsigned char)(letter - 'a' + 'A') : letter;
}

void concerns_headline(const struct concerns *concerns, struct buffer *out)
{
	size_t start = out->length;
	if (concerns->count == 0)
		buffer_append_text(out, "OK");
	for (size_t i = 0; i < concerns->count; i++) {
		const struct buffer *words = &concerns->items[i].words;
		if (i > 0)
			buffer_append_text(out, ", ");
		buffer_append(out, words->data, words->length);
	}
	if (out->length > start)
		out->data[start] = capital(out->data[start]);
}
