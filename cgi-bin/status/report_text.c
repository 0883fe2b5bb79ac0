/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/report_text.h"

#include <inttypes.h>
#include <string.h>

#include "admin/common/harmless.h"
#include "admin/common/table.h"
#include "cgi-bin/status/facts.h"
#include "cgi-bin/status/steps.h"
#include "cgi-bin/status/tally.h"
#include "cgi-bin/status/words.h"

static const struct cell_style style = {.utf8 = true};

static void foreign(struct buffer *out, const struct buffer *text)
{
	harmless_append(out, text->data, text->length, true);
}

static void section(struct buffer *out, const char *title)
{
	buffer_printf(out, "\n%s\n", title);
	for (size_t i = strlen(title); i > 0; i--)
		buffer_append_byte(out, '-');
	buffer_append_byte(out, '\n');
}

static void write_command(struct buffer *out, const char *indent, const struct buffer *text)
{
	buffer_append_text(out, indent);
	foreign(out, text);
	buffer_append_byte(out, '\n');
}

static void write_head(struct buffer *out, const struct snapshot *snapshot,
		       const struct concerns *concerns)
{
	concerns_headline(concerns, out);
	buffer_append_text(out, "\noncewrap " PACKAGE_VERSION " on ");
	harmless_append(out, snapshot->host, strlen(snapshot->host), true);
	buffer_append_text(out, ", ");
	words_time(out, snapshot->now_ms);
	buffer_append_byte(out, '\n');
	for (size_t i = 0; i < concerns->count; i++) {
		const struct concern *concern = &concerns->items[i];
		buffer_append_text(out, "\n* ");
		buffer_append(out, concern->words.data, concern->words.length);
		buffer_printf(out, " (%s): ", concern_level_name(concern->level));
		foreign(out, &concern->detail);
		buffer_append_byte(out, '\n');
		write_command(out, "    ", &concern->command);
	}
}

static void write_store(struct buffer *out, const struct snapshot *snapshot)
{
	struct facts facts;
	section(out, "Store");
	facts_find(&facts, snapshot);
	for (size_t i = 0; i < facts.count; i++) {
		buffer_printf(out, "%-20s", facts.items[i].name);
		foreign(out, &facts.items[i].words);
		buffer_append_byte(out, '\n');
	}
	facts_free(&facts);
}

static void write_entry(struct buffer *out, const struct attention_entry *entry,
			const struct snapshot *snapshot)
{
	struct steps steps;
	char name[STEPS_NAME_LENGTH], key[STEPS_KEY_LENGTH];
	steps_name(entry, name);
	steps_key(entry, key);
	buffer_printf(out, "%s  %s for ", name, steps_state(entry));
	words_span(out, entry->now_ms - entry->created_ms);
	buffer_append_text(out, ": route ");
	foreign(out, &entry->route);
	buffer_append_text(out, ", tenant ");
	foreign(out, &entry->tenant);
	buffer_printf(out, ", key %s, attempt %" PRIu32 ", owner ", key, entry->attempt);
	foreign(out, &entry->host);
	buffer_printf(out, ", process %" PRId64 "\n", entry->pid);
	steps_find(&steps, entry, snapshot);
	if (*steps.note != '\0')
		buffer_printf(out, "    %s\n", steps.note);
	for (size_t i = 0; i < steps.count; i++) {
		buffer_printf(out, "    %s\n", steps.items[i].what);
		write_command(out, "        ", &steps.items[i].command);
	}
	steps_free(&steps);
}

static void write_attention(struct buffer *out, const struct snapshot *snapshot)
{
	const struct attention *attention = &snapshot->attention;
	section(out, "Needs attention");
	if (!snapshot->listed)
		buffer_append_text(out, "Not known: the database has not told.\n");
	else if (attention->count == 0)
		buffer_append_text(out, "Nothing.\n");
	for (size_t i = 0; i < attention->count; i++)
		write_entry(out, &attention->entries[i], snapshot);
	if (attention->more)
		buffer_append_text(out, "There are more; these are the oldest.\n");
}

/* Only laid out by it: the values are put into cells here. */
static const struct column columns[] = {
    {.name = "route"},
    {.name = "requests", .right = true},
    {.name = "first", .right = true},
    {.name = "replayed", .right = true},
    {.name = "in_flight", .right = true},
    {.name = "mismatch", .right = true},
    {.name = "errors", .right = true},
    {.name = "p50", .right = true},
    {.name = "p95", .right = true},
    {.name = "last_hour", .right = true},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void add_route(struct table *table, const struct reading_route *route)
{
	struct tally tally;
	struct buffer median = {0}, slow = {0};
	tally_route(&tally, route);
	words_duration(&median, tally.median);
	words_duration(&slow, tally.slow);
	const struct cell cells[COLUMNS] = {
	    cell_text(route->name),
	    cell_number(CELL_NUMBER, (int64_t)tally.requests),
	    cell_number(CELL_NUMBER, (int64_t)tally.first),
	    cell_number(CELL_NUMBER, (int64_t)tally.replayed),
	    cell_number(CELL_NUMBER, tally.in_flight),
	    cell_number(CELL_NUMBER, (int64_t)tally.mismatch),
	    cell_number(CELL_NUMBER, (int64_t)tally.errors),
	    cell_text(buffer_text(&median)),
	    cell_text(buffer_text(&slow)),
	    cell_number(CELL_NUMBER, (int64_t)tally.hour.requests),
	};
	table_add(table, cells, &style);
	buffer_free(&median);
	buffer_free(&slow);
}

static void lay_out_routes(struct table *table, const struct reading *reading, struct buffer *out)
{
	for (size_t i = METRICS_ROUTE_OTHER + 1; i < reading->route_count; i++)
		add_route(table, &reading->routes[i]);
	if (tally_shows_other(reading))
		add_route(table, &reading->routes[METRICS_ROUTE_OTHER]);
	table_print(table, out);
}

static void write_routes(struct buffer *out, const struct reading *reading)
{
	const struct table_layout layout = {.header = true};
	const struct column *chosen[COLUMNS];
	for (size_t i = 0; i < COLUMNS; i++)
		chosen[i] = &columns[i];
	struct table *table = table_new(chosen, COLUMNS, &layout);
	section(out, "Routes");
	if (table != NULL)
		lay_out_routes(table, reading, out);
	out->failed = out->failed || table == NULL;
	table_free(table);
	buffer_append_text(out, "Counted since ");
	words_time(out, reading->created_ms);
	buffer_append_text(out, "; in flight: at work now.\n");
}

static void write_workers(struct buffer *out, const struct snapshot *snapshot)
{
	struct tally_workers workers;
	const struct reading *reading = &snapshot->reading;
	section(out, "Workers");
	tally_workers(&workers, reading);
	for (size_t i = 0; i < reading->worker_count; i++)
		buffer_append_byte(
		    out, (unsigned char)metrics_worker_letters[reading->workers[i].state]);
	if (reading->worker_count == 0)
		buffer_append_text(out, "None.");
	buffer_append_byte(out, '\n');
	for (size_t i = 0; i < METRICS_WORKER_STATES; i++)
		buffer_printf(out, "%s%c %s: %u", i > 0 ? ", " : "", metrics_worker_letters[i],
			      metrics_worker_states[i], workers.states[i]);
	buffer_append_byte(out, '\n');
	if (workers.longest != NULL) {
		buffer_append_text(out, "The longest at work began ");
		words_span(out, snapshot->now_ms - workers.longest->since_ms);
		buffer_printf(out, " ago: process %d.\n", (int)workers.longest->pid);
	}
}

static void write_spool(struct buffer *out, const struct reading *reading)
{
	section(out, "Spool");
	words_counted(out, reading->spool_entries, "entry", "entries");
	buffer_append_text(out, " waiting, ");
	words_count(out, reading->spool_set_aside);
	buffer_append_text(out, " set aside.\n");
}

void report_text(struct buffer *out, const struct snapshot *snapshot,
		 const struct concerns *concerns)
{
	write_head(out, snapshot, concerns);
	write_store(out, snapshot);
	write_attention(out, snapshot);
	if (!snapshot->read) {
		section(out, "Routes, workers, spool");
		buffer_append_text(out, "Not known: the counters of this host cannot be read.\n");
		return;
	}
	write_routes(out, &snapshot->reading);
	write_workers(out, snapshot);
	write_spool(out, &snapshot->reading);
}
