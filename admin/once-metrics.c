/* SPDX-License-Identifier: ISC */
/* once-metrics(8): what Prometheus is to know of this host's workers and of the database, on
 * standard output, in a file, or as the answer to a scrape. Reads only. */
#include <config.h>

#include <stdio.h>
#include <sysexits.h>

#include "admin/common/cgi.h"
#include "admin/common/connect.h"
#include "admin/common/options.h"
#include "admin/common/writer.h"
#include "admin/metrics/classic.h"
#include "admin/metrics/local_scope.h"
#include "admin/metrics/scrape.h"
#include "admin/metrics/store_scope.h"
#include "admin/metrics/textfile.h"
#include "admin/metrics/wishes.h"
#include "base/clock.h"

#define NAME "once-metrics"

struct metrics {
	struct wishes wishes;
	struct connect connect;
	struct reading reading;
	bool read; /* there is one */
	struct gauges gauges;
	int failure; /* the exit status that --strict makes of what is away; EX_OK: all is there */
	struct exposition exposition;
};

/* What is away is told, and is no failure unless it is to be. */
static void miss(struct metrics *metrics, const struct error *error, int status)
{
	fprintf(stderr, NAME ": %s\n", error->message);
	if (metrics->failure == EX_OK)
		metrics->failure = status;
}

static void take_local(struct metrics *metrics)
{
	struct error error;
	const char *directory = metrics->connect.config->run_directory;
	metrics->read = reading_take(&metrics->reading, directory, &error) == 0;
	if (!metrics->read)
		miss(metrics, &error, EX_UNAVAILABLE);
}

static void take_store(struct metrics *metrics)
{
	struct error error;
	struct connection *connection = &metrics->connect.connection;
	int64_t deadline = clock_now() + metrics->wishes.timeout * 1000;
	connect_hurry();
	if (gauges_take(connection, metrics->wishes.count_limit, deadline, &metrics->gauges,
			&error) == 0)
		return;
	/* What this side has against the connection is in the configuration or its files. */
	bool ours = connection->code == 0 && error.kind != ERROR_MEMORY;
	miss(metrics, &error, ours ? EX_CONFIG : status_of_store(connection->code));
}

static void write_all(struct metrics *metrics, unsigned scopes, enum exposition_format format)
{
	struct exposition *exposition = &metrics->exposition;
	const struct reading *reading = metrics->read ? &metrics->reading : NULL;
	exposition_begin(exposition, format);
	if (metrics->wishes.classic)
		classic_write(exposition, reading);
	else if ((scopes & SCOPE_LOCAL) != 0)
		local_scope_write(exposition, reading);
	if ((scopes & SCOPE_STORE) != 0)
		store_scope_write(exposition, &metrics->gauges, metrics->wishes.count_limit);
	exposition_end(exposition);
}

/* Take and write; GO_ON, or the exit status of what was told. */
static int collect(struct metrics *metrics, unsigned scopes, enum exposition_format format)
{
	/* The server's own bounds follow from it; one second more, so that the deadline of all
	 * comes first. */
	metrics->connect.timeout = metrics->wishes.timeout + 1;
	int status = connect_load(&metrics->connect, CONNECTION_ADMIN, "oncewrap-metrics");
	if (status != GO_ON)
		return status;
	if ((scopes & SCOPE_LOCAL) != 0)
		take_local(metrics);
	if ((scopes & SCOPE_STORE) != 0)
		take_store(metrics);
	if (metrics->wishes.strict && metrics->failure != EX_OK)
		return metrics->failure;
	write_all(metrics, scopes, format);
	if (!metrics->exposition.out.failed)
		return GO_ON;
	fputs(NAME ": out of memory\n", stderr);
	return EX_SOFTWARE;
}

static int replace_file(struct metrics *metrics)
{
	struct error error;
	if (textfile_replace(metrics->wishes.textfile, &metrics->exposition.out, &error) == 0)
		return EX_OK;
	fprintf(stderr, NAME ": %s\n", error.message);
	return EX_CANTCREAT;
}

static int run(struct metrics *metrics)
{
	int status =
	    collect(metrics, metrics->wishes.scopes,
		    metrics->wishes.openmetrics ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT);
	if (status != GO_ON)
		return status;
	return metrics->wishes.textfile != NULL ? replace_file(metrics)
						: writer_print(NAME, &metrics->exposition.out);
}

/* What went wrong stands on standard error, which the web server logs; a client learns no more than
 * that. */
static int answer_scrape(struct metrics *metrics)
{
	struct buffer out = {0};
	struct error error;
	unsigned scopes = metrics->wishes.scopes;
	enum exposition_format format;
	int status = scrape_read(&scopes, &format, &error);
	if (status != 200) {
		scrape_refuse(&out, status, error.message);
		return writer_print(NAME, &out);
	}
	status = collect(metrics, scopes, format);
	if (status == GO_ON)
		scrape_answer(&out, format, &metrics->exposition.out);
	else if (metrics->failure != EX_OK)
		scrape_refuse(&out, 503, "not everything can be told; see the error log");
	else
		scrape_refuse(&out, 500, NAME " does not work here; see the error log");
	return writer_print(NAME, &out);
}

static void finish(struct metrics *metrics)
{
	buffer_free(&metrics->exposition.out);
	reading_free(&metrics->reading);
	connect_close(&metrics->connect);
}

int main(int argc, char **argv)
{
	options_begin();
	struct metrics metrics = {.failure = EX_OK};
	wishes_init(&metrics.wishes);
	connect_init(&metrics.connect);
	const struct option_group groups[] = {
	    wishes_options(&metrics.wishes),
	    connect_file_options(&metrics.connect),
	};
	const struct program program = {
	    .name = NAME,
	    .arguments = "",
	    .summary =
		"Print what Prometheus is to know of this host's workers and of the database.",
	    .see = "once-metrics(8)",
	    .groups = groups,
	    .group_count = sizeof(groups) / sizeof(groups[0]),
	};
	struct error error;
	bool scrape = cgi_is_asked();
	if (scrape && cgi_arguments_are_foreign())
		argc = 1;
	int first;
	int status = options_parse(&program, argc, argv, &first);
	if (status != GO_ON)
		return status;
	if (first < argc)
		return options_refuse(&program, "\"%s\": takes no arguments", argv[first]);
	if (wishes_check(&metrics.wishes, &error) < 0)
		return options_refuse(&program, "%s", error.message);
	if (scrape && (metrics.wishes.textfile != NULL || metrics.wishes.openmetrics))
		return options_refuse(&program, "a web server's client says what it is sent");
	status = scrape ? answer_scrape(&metrics) : run(&metrics);
	finish(&metrics);
	return status;
}
