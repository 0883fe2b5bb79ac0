/* SPDX-License-Identifier: ISC */
/* once-show(8): named records in full: why one is stuck, what it holds, who changed it. Reads only.
 */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "admin/common/connect.h"
#include "admin/common/options.h"
#include "admin/common/output.h"
#include "admin/common/selection.h"
#include "admin/common/writer.h"
#include "admin/show/explain.h"
#include "admin/show/field.h"
#include "admin/show/history.h"
#include "admin/show/naturals.h"
#include "admin/show/report.h"
#include "admin/show/request_file.h"
#include "base/clock.h"
#include "base/encode.h"
#include "store/inspect.h"

#define NAME "once-show"

enum { STATUS_MISSING = 1 };

/* What one run has to work with. */
struct show {
	const struct program *program;
	struct connect connect;
	struct output_settings settings;
	struct output output;
	struct cell_style beside; /* of what stands side by side, in a table */
	struct selection selection;
	bool headers, body, body_only, force, history, quiet;
	const char *explain; /* --explain; NULL: not given */
	struct request_file request;
	struct inspection seen;
	size_t missing; /* records that were there and are not */
};

static int take_headers(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct show *)target)->headers = true;
	return 0;
}

static int take_body(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct show *)target)->body = true;
	return 0;
}

static int take_body_only(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct show *)target)->body_only = true;
	return 0;
}

static int take_force(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct show *)target)->force = true;
	return 0;
}

static int take_history(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct show *)target)->history = true;
	return 0;
}

static int take_explain(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct show *)target)->explain = argument;
	return 0;
}

static int take_quiet(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct show *)target)->quiet = true;
	return 0;
}

static const struct option_entry entries[] = {
    {.name = "headers", .help = "also the stored header lines", .take = take_headers},
    {.name = "body", .help = "also the stored body", .take = take_body},
    {.name = "body-only",
     .help = "nothing but the stored body, byte for byte",
     .take = take_body_only},
    {.name = "force", .help = "print such a body on a terminal too", .take = take_force},
    {.name = "history", .help = "also who changed the record, when and why", .take = take_history},
    {.name = "explain",
     .argument = "FILE",
     .help = "compare a saved request: what differs",
     .take = take_explain,
     .file = true},
    {.letter = 'q', .name = "quiet", .help = "leave out what can be done next", .take = take_quiet},
};

static bool reads_standard_input(const struct selection *selection)
{
	for (size_t i = 0; i < selection->operand_count; i++)
		if (strcmp(selection->operands[i], "-") == 0)
			return true;
	return false;
}

/* What adds to a record's fields. NULL: nothing does. */
static const char *section_option(const struct show *show)
{
	const struct {
		bool given;
		const char *name;
	} sections[] = {
	    {show->headers, "--headers"},
	    {show->body, "--body"},
	    {show->history, "--history"},
	    {show->explain != NULL, "--explain"},
	};
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (sections[i].given)
			return sections[i].name;
	return NULL;
}

/* GO_ON, or EX_USAGE where options contradict each other. */
static int check_options(const struct show *show)
{
	const struct program *program = show->program;
	const char *section = section_option(show);
	enum output_format format = show->settings.format;
	if (show->force && !show->body_only)
		return options_refuse(program, "--force goes with --body-only");
	if (show->body_only &&
	    (section != NULL || format != OUTPUT_LINES || show->settings.columns != NULL))
		return options_refuse(program, "--body-only prints nothing else: leave out %s",
				      section != NULL          ? section
				      : format != OUTPUT_LINES ? "--output"
							       : "--columns");
	if (section != NULL && format != OUTPUT_LINES && format != OUTPUT_JSON)
		return options_refuse(program, "%s needs --output=lines or json", section);
	if (show->explain != NULL && strcmp(show->explain, "-") == 0 &&
	    reads_standard_input(&show->selection))
		return options_refuse(program, "ids and --explain cannot both be standard input");
	if (show->body_only && !show->force && isatty(STDOUT_FILENO) != 0)
		return options_refuse(program, "--body-only: a stored body may hold anything, and"
					       " standard output is a terminal; redirect it, or add"
					       " --force");
	return GO_ON;
}

static int64_t deadline_of(const struct show *show)
{
	return clock_now() + show->connect.timeout * 1000;
}

static int failed(const struct show *show, const struct error *error)
{
	return connect_failed(&show->connect, NAME, error);
}

/* A record that has gone: its trail, where that was asked for, or what was done last. */
static int show_gone(struct show *show, const struct history *history,
		     const struct sublist *naturals)
{
	const struct report report = {
	    .seen = &show->seen,
	    .history = history,
	    .naturals = naturals,
	    .connect = &show->connect,
	    .gone = true,
	};
	char hex[2 * DIGEST_LENGTH + 1];
	encode_hex(hex, show->seen.id, DIGEST_LENGTH);
	if (history->list.count > 0 && history->wanted && !show->body_only)
		return report_print(&show->output, &report);
	show->missing++;
	struct buffer text = {0};
	buffer_printf(&text, NAME ": %.12s: there is no such record", hex);
	if (history->list.count > 0) {
		buffer_append_text(&text, " any more; the last change was ");
		buffer_append(&text, history->last.data, history->last.length);
		buffer_append_text(&text, "; --history shows all");
	}
	fprintf(stderr, "%s\n", buffer_text(&text));
	buffer_free(&text);
	return GO_ON;
}

static int show_body(struct show *show)
{
	if (report_has_answer(&show->seen))
		return writer_write(NAME, &show->seen.record.body);
	char hex[2 * DIGEST_LENGTH + 1];
	encode_hex(hex, show->seen.id, DIGEST_LENGTH);
	fprintf(stderr, NAME ": %.12s: no body is stored: the record is %s\n", hex,
		show->seen.record.state != RECORD_COMPLETE
		    ? record_state_name(show->seen.record.state)
		    : "complete, and its answer was not kept");
	show->missing++;
	return GO_ON;
}

static int show_record(struct show *show, const struct history *history,
		       const struct sublist *naturals)
{
	struct explanation explanation = {.result = EXPLAIN_UNABLE};
	if (show->body_only)
		return show_body(show);
	if (show->explain != NULL)
		explanation = explain_request(&show->seen.record, &show->request);
	const struct report report = {
	    .seen = &show->seen,
	    .history = show->history ? history : NULL,
	    .naturals = naturals,
	    .explanation = show->explain != NULL ? &explanation : NULL,
	    .connect = &show->connect,
	    .headers = show->headers,
	    .body = show->body,
	    .quiet = show->quiet,
	};
	return report_print(&show->output, &report);
}

/* What stands beside a record: its trail where that was asked for, or where nothing else is left of
 * it. 0, or -1 with *error. */
static int read_beside(struct show *show, enum inspect_result result, struct history *history,
		       struct sublist *naturals, struct error *error)
{
	struct connection *connection = &show->connect.connection;
	const unsigned char *id = show->seen.id;
	bool with_naturals = !show->body_only && show->settings.columns == NULL &&
			     (history->json || show->settings.format == OUTPUT_LINES);
	if (with_naturals && naturals_read(naturals, connection, id, history->json, show->headers,
					   &show->beside, deadline_of(show), error) < 0)
		return -1;
	if (!show->history && result != INSPECT_GONE)
		return 0;
	return history_read(history, connection, id, &show->beside, deadline_of(show), error);
}

static int show_one(struct show *show, const unsigned char id[DIGEST_LENGTH])
{
	struct error error;
	struct history history = {
	    .wanted = show->history,
	    .json = show->settings.format == OUTPUT_JSON,
	};
	struct sublist naturals = {0};
	unsigned wanted = (show->headers ? INSPECT_HEADERS : 0u) |
			  (show->body || show->body_only ? INSPECT_BODY : 0u);
	int status = GO_ON;
	enum inspect_result result = inspect_read(&show->connect.connection, id, wanted,
						  &show->seen, deadline_of(show), &error);
	if (result == INSPECT_FAILED || read_beside(show, result, &history, &naturals, &error) < 0)
		status = failed(show, &error);
	else if (result == INSPECT_GONE)
		status = show_gone(show, &history, &naturals);
	else
		status = show_record(show, &history, &naturals);
	history_free(&history);
	sublist_free(&naturals);
	return status;
}

/* Of what has been printed so far, all reaches the reader, whatever comes after. */
static int show_all(struct show *show)
{
	struct selection *selection = &show->selection;
	int status = selection_find(selection, show->program, &show->connect);
	if (status != GO_ON)
		return status;
	if (show->body_only && selection->count > 1)
		return options_refuse(show->program, "--body-only: name one record, not %zu",
				      selection->count);
	for (size_t i = 0; i < selection->count && status == GO_ON; i++)
		status = show_one(show, selection->ids[i]);
	int written = selection->count > 0 ? output_end(&show->output) : GO_ON;
	if (status == GO_ON)
		status = written;
	if (status != GO_ON)
		return status;
	return selection->missing + show->missing > 0 ? STATUS_MISSING : EX_OK;
}

static int run(struct show *show)
{
	struct error error;
	int status = check_options(show);
	if (status != GO_ON)
		return status;
	if (output_open(&show->output, NAME, &show->settings, field_columns, field_count, &error) <
	    0)
		return options_refuse(show->program, "%s", error.message);
	show->beside = show->output.style;
	show->beside.full = show->settings.full;
	status = selection_read(&show->selection, show->program);
	if (status != GO_ON)
		return status;
	if (show->explain != NULL && request_file_read(&show->request, show->explain, &error) < 0) {
		fprintf(stderr, NAME ": --explain: %s\n", error.message);
		return error.kind == ERROR_MEMORY ? EX_SOFTWARE : EX_DATAERR;
	}
	status = connect_open(&show->connect, NAME, CONNECTION_ADMIN, "oncewrap-admin");
	return status == GO_ON ? show_all(show) : status;
}

int main(int argc, char **argv)
{
	options_begin();
	struct show show = {
	    .settings.format = OUTPUT_LINES,
	    .settings.offered = {{field_columns, field_count}},
	    .selection.ever = true,
	};
	connect_init(&show.connect);
	inspection_init(&show.seen);
	const struct option_group groups[] = {
	    selection_options(&show.selection),
	    OPTION_GROUP(entries, &show),
	    output_options(&show.settings),
	    connect_options(&show.connect),
	};
	const struct program program = {
	    .name = NAME,
	    .arguments = "ID...|-",
	    .summary = "Show records of idempotency keys in full, and what can be done about them.",
	    .see = "once-show(8)",
	    .groups = groups,
	    .group_count = sizeof(groups) / sizeof(groups[0]),
	    .records = true,
	};
	int first;
	int status = options_parse(&program, argc, argv, &first);
	if (status == GO_ON) {
		show.program = &program;
		show.selection.operands = argv + first;
		show.selection.operand_count = (size_t)(argc - first);
		status = run(&show);
	}
	inspection_free(&show.seen);
	request_file_free(&show.request);
	selection_free(&show.selection);
	output_free(&show.output);
	connect_close(&show.connect);
	return status;
}
