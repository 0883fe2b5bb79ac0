/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/facts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cgi-bin/status/words.h"

/* Each appends its words, of a value that is known. */
typedef void (*fact_write)(struct buffer *words, const struct snapshot *snapshot, int64_t value);

static void write_number(struct buffer *words, const struct snapshot *snapshot, int64_t value)
{
	(void)snapshot;
	words_count(words, (uint64_t)value);
}

/* As far as was counted. */
static void write_count(struct buffer *words, const struct snapshot *snapshot, int64_t value)
{
	if (value >= SNAPSHOT_COUNT_LIMIT)
		buffer_append_text(words, "at least ");
	write_number(words, snapshot, value);
}

/* Microseconds of the database's clock, which the skew leads to. */
static void write_age(struct buffer *words, const struct snapshot *snapshot, int64_t value)
{
	int64_t now = snapshot->now_ms * 1000 + snapshot->gauges.values[GAUGE_SKEW];
	words_span(words, now > value ? (now - value) / 1000 : 0);
}

static void write_size(struct buffer *words, const struct snapshot *snapshot, int64_t value)
{
	(void)snapshot;
	buffer_append_text(words, "about ");
	words_bytes(words, (uint64_t)value);
}

static void write_schema(struct buffer *words, const struct snapshot *snapshot, int64_t value)
{
	(void)snapshot;
	int64_t expected = gauges_expected_schema();
	buffer_printf(words, "version %" PRId64, value);
	if (value == expected)
		buffer_append_text(words, ", as it should be");
	else
		buffer_printf(words, ", and should be %" PRId64, expected);
}

static void write_skew(struct buffer *words, const struct snapshot *snapshot, int64_t value)
{
	(void)snapshot;
	if (llabs(value) < 1000) {
		buffer_append_text(words, "agrees with this host's");
		return;
	}
	words_duration(words, llabs(value));
	buffer_append_text(words, value < 0 ? " behind this host's" : " ahead of this host's");
}

static void write_purge(struct buffer *words, const struct snapshot *snapshot, int64_t value)
{
	if (value == 0) {
		buffer_append_text(words, "none has ended yet");
		return;
	}
	write_age(words, snapshot, value);
	buffer_append_text(words, " ago");
}

static const struct {
	const char *name;
	enum gauge gauge;
	fact_write write;
} table[] = {
    {"In flight", GAUGE_IN_FLIGHT, write_count},
    {"Oldest in flight", GAUGE_OLDEST_IN_FLIGHT, write_age},
    {"Stale leases", GAUGE_STALE, write_count},
    {"Unknown outcome", GAUGE_UNKNOWN, write_count},
    {"Oldest unknown", GAUGE_OLDEST_UNKNOWN, write_age},
    {"Complete", GAUGE_COMPLETE, write_count},
    {"Released", GAUGE_RELEASED, write_count},
    {"Tombstones", GAUGE_EXPIRED, write_count},
    {"Awaiting the purge", GAUGE_PAST_EXPIRY, write_count},
    {"Last purge", GAUGE_PURGED_AT, write_purge},
    {"Purged in all", GAUGE_PURGED, write_number},
    {"Schema", GAUGE_SCHEMA, write_schema},
    {"Size", GAUGE_BYTES, write_size},
    {"Clock", GAUGE_SKEW, write_skew},
};

static struct buffer *add(struct facts *facts, const char *name)
{
	struct fact *fact = &facts->items[facts->count++];
	*fact = (struct fact){.name = name};
	return &fact->words;
}

void facts_find(struct facts *facts, const struct snapshot *snapshot)
{
	const struct gauges *gauges = &snapshot->gauges;
	*facts = (struct facts){0};
	struct buffer *words = add(facts, "Database");
	if (gauges->up) {
		buffer_append_text(words, "reachable, answered in ");
		words_duration(words, gauges->duration);
	} else {
		buffer_append_text(words, "unreachable");
	}
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (gauges->known[table[i].gauge])
			table[i].write(add(facts, table[i].name), snapshot,
				       gauges->values[table[i].gauge]);
}

void facts_free(struct facts *facts)
{
	for (size_t i = 0; i < facts->count; i++)
		buffer_free(&facts->items[i].words);
	*facts = (struct facts){0};
}
