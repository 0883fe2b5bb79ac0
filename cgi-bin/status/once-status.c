/* SPDX-License-Identifier: ISC */
/* once-status(8): how oncewrap is doing on this host and in its database, as a page that a web
 * server shows, or on a terminal. Reads only. */
#include <config.h>

#include <stdio.h>
#include <sysexits.h>

#include "admin/common/cgi.h"
#include "admin/common/options.h"
#include "admin/common/writer.h"
#include "cgi-bin/status/answer.h"
#include "cgi-bin/status/concerns.h"
#include "cgi-bin/status/report_html.h"
#include "cgi-bin/status/report_json.h"
#include "cgi-bin/status/report_text.h"
#include "cgi-bin/status/request.h"
#include "cgi-bin/status/snapshot.h"

#define NAME "once-status"

struct wishes {
	const char *file;
	enum status_format format;
};

static int take_file(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct wishes *)target)->file = argument;
	return 0;
}

static int take_format(void *target, const char *argument, struct error *error)
{
	return request_format(argument, &((struct wishes *)target)->format, error);
}

static void offer_formats(const void *target, struct buffer *names)
{
	(void)target;
	for (unsigned i = 0; i < STATUS_FORMATS; i++)
		options_offer(names, request_format_name((enum status_format)i));
}

static const struct option_entry entries[] = {
    {.letter = 'c',
     .name = "config",
     .argument = "FILE",
     .help = "configuration (" CONNECT_DEFAULT_FILE ")",
     .take = take_file,
     .file = true},
    {.name = "format",
     .argument = "FORMAT",
     .help = "html, json or text, which is the default",
     .take = take_format,
     .offer = offer_formats},
};

/* The page into `body`, or the one word of a probe; the HTTP status. */
static int write_page(struct buffer *body, const char *file, const struct status_request *request)
{
	static void (*const writers[])(struct buffer *, const struct snapshot *,
				       const struct concerns *) = {
	    [STATUS_HTML] = report_html,
	    [STATUS_JSON] = report_json,
	    [STATUS_TEXT] = report_text,
	};
	struct snapshot snapshot;
	struct concerns concerns = {0};
	int status = 500;
	if (snapshot_take(&snapshot, file, request->probe ? SNAPSHOT_BRIEF : SNAPSHOT_FULL) !=
	    GO_ON)
		goto out;
	concerns_find(&concerns, &snapshot);
	bool trouble = concerns.worst == CONCERN_TROUBLE;
	status = request->probe && trouble ? 503 : 200;
	if (request->probe)
		buffer_printf(body, "%s\n", trouble ? concerns.items[0].code : "ready");
	else
		writers[request->format](body, &snapshot, &concerns);
	if (!body->failed)
		goto out;
	fputs(NAME ": out of memory\n", stderr);
	status = 500;
out:
	concerns_free(&concerns);
	snapshot_free(&snapshot);
	return status;
}

/* What went wrong stands on standard error, which the web server logs; a client learns no more than
 * that. */
static int answer(const char *file)
{
	struct buffer out = {0}, body = {0};
	struct status_request request;
	struct error error;
	int status = request_read(&request, &error);
	cgi_drain();
	if (status != 200) {
		answer_line(&out, status, error.message, request.head);
		return writer_print(NAME, &out);
	}
	status = write_page(&body, file, &request);
	if (status == 500)
		answer_line(&out, status, NAME " does not work here; see the error log",
			    request.head);
	else
		answer_page(&out, status, request.probe ? STATUS_TEXT : request.format, &body,
			    request.head);
	buffer_free(&body);
	return writer_print(NAME, &out);
}

static int print(const struct wishes *wishes)
{
	struct buffer out = {0};
	const struct status_request request = {.format = wishes->format};
	if (write_page(&out, wishes->file, &request) == 200)
		return writer_print(NAME, &out);
	bool failed = out.failed;
	buffer_free(&out);
	return failed ? EX_SOFTWARE : EX_CONFIG;
}

int main(int argc, char **argv)
{
	options_begin();
	struct wishes wishes = {.file = CONNECT_DEFAULT_FILE, .format = STATUS_TEXT};
	const struct option_group group = OPTION_GROUP(entries, &wishes);
	const struct program program = {
	    .name = NAME,
	    .arguments = "",
	    .summary = "Tell how oncewrap is doing on this host and in its database.",
	    .see = "once-status(8)",
	    .groups = &group,
	    .group_count = 1,
	};
	bool asked = cgi_is_asked();
	if (asked && cgi_arguments_are_foreign())
		argc = 1;
	int first;
	int status = options_parse(&program, argc, argv, &first);
	if (status != GO_ON)
		return status;
	if (first < argc)
		return options_refuse(&program, "\"%s\": takes no arguments", argv[first]);
	return asked ? answer(wishes.file) : print(&wishes);
}
