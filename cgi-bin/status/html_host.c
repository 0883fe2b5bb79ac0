/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/html_host.h"

#include <string.h>

#include "cgi-bin/status/picture.h"
#include "cgi-bin/status/tally.h"
#include "cgi-bin/status/words.h"

/* On a narrow screen a row becomes a block, and each value has its column's name in front. */
static void open_cell(struct html *html, const char *column, const char *class)
{
	html_open(html, "td", "data-column", column, "class", class, NULL);
}

static void write_count(struct html *html, const char *column, uint64_t count)
{
	struct buffer words = {0};
	words_count(&words, count);
	open_cell(html, column, count > 0 ? "number" : "number none");
	html_take(html, &words);
	html_close(html);
}

static void write_errors(struct html *html, const char *column, uint64_t count)
{
	struct buffer words = {0};
	words_count(&words, count);
	open_cell(html, column, count > 0 ? "number trouble" : "number none");
	html_take(html, &words);
	html_close(html);
}

static void write_duration(struct html *html, const char *column, int64_t microseconds)
{
	struct buffer words = {0};
	words_duration(&words, microseconds);
	open_cell(html, column, microseconds >= 0 ? "number" : "number none");
	html_take(html, &words);
	html_close(html);
}

static void write_hour(struct html *html, const struct reading_route *route,
		       const struct tally *tally)
{
	struct buffer words = {0};
	open_cell(html, "Last hour", "hour");
	if (tally->hour.requests == 0) {
		html_leaf(html, "small", "no requests", NULL);
	} else {
		picture_write(html, route, tally);
		words_count(&words, tally->hour.requests);
		buffer_append_text(&words, ", at most ");
		words_count(&words, tally->hour.most);
		buffer_append_text(&words, " a minute");
		html_open(html, "small", NULL);
		html_take(html, &words);
		html_close(html);
	}
	html_close(html);
}

static void write_route(struct html *html, const struct reading_route *route)
{
	struct tally tally;
	tally_route(&tally, route);
	html_open(html, "tr", NULL);
	html_open(html, "th", "scope", "row", NULL);
	html_foreign(html, route->name, strlen(route->name));
	html_close(html);
	write_count(html, "Requests", tally.requests);
	write_count(html, "First", tally.first);
	write_count(html, "Replayed", tally.replayed);
	write_count(html, "In flight", tally.in_flight);
	write_count(html, "Mismatch", tally.mismatch);
	write_errors(html, "Errors", tally.errors);
	write_duration(html, "p50", tally.median);
	write_duration(html, "p95", tally.slow);
	write_hour(html, route, &tally);
	html_close(html);
}

static void write_columns(struct html *html)
{
	static const char *const numbers[] = {"Requests", "First",  "Replayed", "In flight",
					      "Mismatch", "Errors", "p50",      "p95"};
	html_open(html, "thead", NULL);
	html_open(html, "tr", NULL);
	html_leaf(html, "th", "Route", "scope", "col", NULL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		html_leaf(html, "th", numbers[i], "scope", "col", "class", "number", NULL);
	html_leaf(html, "th", "Last hour", "scope", "col", NULL);
	html_close(html);
	html_close(html);
}

static void write_routes(struct html *html, const struct reading *reading)
{
	struct buffer since = {0};
	words_time(&since, reading->created_ms);
	html_open(html, "section", "aria-labelledby", "routes", NULL);
	html_leaf(html, "h2", "Routes", "id", "routes", NULL);
	html_open(html, "table", NULL);
	html_open(html, "caption", NULL);
	html_text(html, "Guarded requests of this host since ");
	html_take(html, &since);
	html_text(html, ". In flight: at work now. p50, p95: half of them, and 95 %, took no"
			" longer. In the pictures a bar is a minute: from below replayed, other"
			" answers, errors.");
	html_close(html);
	write_columns(html);
	html_open(html, "tbody", NULL);
	for (size_t i = METRICS_ROUTE_OTHER + 1; i < reading->route_count; i++)
		write_route(html, &reading->routes[i]);
	if (tally_shows_other(reading))
		write_route(html, &reading->routes[METRICS_ROUTE_OTHER]);
	html_close(html);
	html_close(html);
	html_close(html);
}

static void write_letters(struct html *html, const struct reading *reading)
{
	html_open(html, "p", "class", "letters", NULL);
	for (size_t i = 0; i < reading->worker_count; i++) {
		const char letter[] = {metrics_worker_letters[reading->workers[i].state], '\0'};
		html_text(html, letter);
	}
	html_close(html);
}

static void write_legend(struct html *html, const struct tally_workers *workers)
{
	html_open(html, "ul", "class", "legend", NULL);
	for (size_t i = 0; i < METRICS_WORKER_STATES; i++) {
		const char letter[] = {metrics_worker_letters[i], '\0'};
		html_open(html, "li", "class", workers->states[i] > 0 ? "some" : "none", NULL);
		html_leaf(html, "code", letter, NULL);
		html_printf(html, " %s: %u", metrics_worker_states[i], workers->states[i]);
		html_close(html);
	}
	html_close(html);
}

static void write_longest(struct html *html, const struct snapshot *snapshot,
			  const struct reading_worker *worker)
{
	const struct reading_route *route = &snapshot->reading.routes[worker->route];
	struct buffer words = {0};
	words_span(&words, snapshot->now_ms - worker->since_ms);
	html_open(html, "p", NULL);
	html_text(html, "The longest at work began ");
	html_take(html, &words);
	html_printf(html, " ago: process %d, route ", (int)worker->pid);
	html_foreign(html, route->name, strlen(route->name));
	html_text(html, ".");
	html_close(html);
}

static void write_workers(struct html *html, const struct snapshot *snapshot)
{
	const struct reading *reading = &snapshot->reading;
	const struct config *config = snapshot->connect.config;
	struct tally_workers workers;
	struct buffer words = {0};
	tally_workers(&workers, reading);
	html_open(html, "section", "aria-labelledby", "workers", NULL);
	html_leaf(html, "h2", "Workers", "id", "workers", NULL);
	words_counted(&words, reading->worker_count, "worker", "workers");
	if (*config->listen != '\0')
		buffer_printf(&words, " of %d configured", (int)config->workers);
	html_open(html, "p", NULL);
	html_take(html, &words);
	html_text(html, reading->worker_count > 0 ? ", a letter each:" : ".");
	html_close(html);
	if (reading->worker_count > 0) {
		write_letters(html, reading);
		write_legend(html, &workers);
	}
	if (workers.longest != NULL)
		write_longest(html, snapshot, workers.longest);
	html_close(html);
}

static void write_spool(struct html *html, const struct snapshot *snapshot)
{
	const struct reading *reading = &snapshot->reading;
	struct buffer words = {0};
	words_counted(&words, reading->spool_entries, "settlement waits", "settlements wait");
	buffer_append_text(&words, " for the database");
	if (reading->spool_entries > 0) {
		buffer_append_text(&words, ", the oldest for ");
		words_span(&words, snapshot->now_ms - reading->spool_oldest_ms);
	}
	buffer_append_text(&words, "; ");
	words_count(&words, reading->spool_set_aside);
	buffer_append_text(&words, " set aside for a person.");
	html_open(html, "section", "aria-labelledby", "spool", NULL);
	html_leaf(html, "h2", "Spool", "id", "spool", NULL);
	html_open(html, "p", NULL);
	html_take(html, &words);
	html_close(html);
	html_close(html);
}

void html_host(struct html *html, const struct snapshot *snapshot)
{
	if (snapshot->read) {
		write_routes(html, &snapshot->reading);
		write_workers(html, snapshot);
		write_spool(html, snapshot);
		return;
	}
	html_open(html, "section", "aria-labelledby", "host", NULL);
	html_leaf(html, "h2", "Routes, workers, spool", "id", "host", NULL);
	html_leaf(html, "p", "Not known: the counters of this host cannot be read.", NULL);
	html_close(html);
}
