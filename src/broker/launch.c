/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/launch.h"

#include "base/encode.h"
#include "base/log.h"
#include "handler/environment.h"
#include "handler/slot.h"
#include "metrics/count.h"

#include <stdio.h>

/* What of standard error is kept for the log line: the rest is drained and counted. */
#define COMPLAINT_LIMIT 4096

static bool take_output(void *context, const void *data, size_t length)
{
	struct launch *launch = context;
	size_t head = cgi_response_feed(&launch->response, data, length);
	if (launch->response.state != CGI_RESPONSE_BODY)
		return false;
	const unsigned char *bytes = data;
	return launch->take(launch->context, bytes + head, length - head);
}

static void take_complaint(void *context, const void *data, size_t length)
{
	struct launch *launch = context;
	size_t room = COMPLAINT_LIMIT - launch->complaint.length;
	buffer_append(&launch->complaint, data, length < room ? length : room);
}

static void note_group(void *context, pid_t pid)
{
	(void)context;
	slot_set_group(pid);
}

/* What a handler may know of its claim (docs/design.md section 6). One that is asked for its answer
 * again gets the number of the attempt that gave it; its token owns nothing, so that all it may be
 * tempted to write in the record's name is refused. */
static int add_claim(struct environment *environment, const struct launch *launch)
{
	const struct exchange *exchange = launch->exchange;
	const struct record *record = &exchange->record;
	char id[2 * DIGEST_LENGTH + 1];
	char token[2 * TOKEN_LENGTH + 1];
	char attempt[12];
	encode_hex(id, exchange->claim.id, DIGEST_LENGTH);
	encode_hex(token, exchange->claim.token, TOKEN_LENGTH);
	snprintf(attempt, sizeof(attempt), "%u",
		 (unsigned)(launch->rebuild ? record->attempt : exchange->attempt));
	const char *const variables[][2] = {
	    {"ONCE_ID", id},
	    {"ONCE_TOKEN", token},
	    {"ONCE_ATTEMPT", attempt},
	    {"ONCE_KEY", exchange->claim.key},
	    {"ONCE_TENANT", exchange->claim.tenant},
	    {"ONCE_REPLAY", launch->rebuild ? "1" : "0"},
	};
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (environment_add(environment, variables[i][0], variables[i][1]) != 0)
			return -1;
	if (!launch->rebuild || record->reference.length == 0)
		return 0;
	char reference[RECORD_REFERENCE_LENGTH + 1];
	snprintf(reference, sizeof(reference), "%.*s", (int)record->reference.length,
		 (const char *)record->reference.data);
	return environment_add(environment, "ONCE_REFERENCE", reference);
}

/* By our own name, and by the one that frameworks look for: whatever the client has sent there, the
 * handler's log and ours shall agree. */
static int add_id(struct environment *environment, const struct request *request)
{
	if (*request->id == '\0')
		return 0;
	return environment_add(environment, "ONCE_REQUEST_ID", request->id) != 0 ||
		       environment_add(environment, "HTTP_X_REQUEST_ID", request->id) != 0
		   ? -1
		   : 0;
}

static void run(struct launch *launch, struct environment *environment, int in)
{
	int64_t from = count_now();
	count_worker_state(WORKER_RUNNING);
	run_handler(&(struct run){.file = launch->request->script.file,
				  .directory = launch->request->script.directory,
				  .environment = environment->entries,
				  .in = in,
				  .limits = &launch->config->handlers,
				  .output = take_output,
				  .complaint = take_complaint,
				  .before_exec = note_group,
				  .context = launch,
				  .guests = {launch->guest},
				  .guest_count = launch->guest.serve != NULL},
		    &launch->run, &launch->error);
	slot_clear_group();
	if (launch->run.end != RUN_NOT_STARTED)
		count_handler(request_counters(launch->request), count_now() - from);
	cgi_response_end(&launch->response);
}

int launch_run(struct launch *launch)
{
	struct request *request = launch->request;
	struct environment environment = {0};
	int result = -1;
	launch->run.end = RUN_NOT_STARTED;
	cgi_response_init(&launch->response, (size_t)launch->config->limits.max_header_bytes);
	int in = body_descriptor(request->body, &launch->error);
	if (in < 0)
		goto out;
	if (environment_build(&environment, &request->params, &request->script,
			      body_length(request->body),
			      &launch->config->handlers.environment) != 0 ||
	    add_id(&environment, request) != 0 ||
	    (launch->exchange != NULL && add_claim(&environment, launch) != 0)) {
		error_set(&launch->error, ERROR_MEMORY, "out of memory for an environment");
		goto out;
	}
	run(launch, &environment, in);
	result = 0;
out:
	environment_free(&environment);
	return result;
}

int launch_app_status(const struct launch *launch)
{
	switch (launch->run.end) {
	case RUN_EXITED:
		return launch->run.exit_status;
	case RUN_SIGNALED:
		return 128 + launch->run.signal;
	default:
		return 0;
	}
}

void launch_free(struct launch *launch)
{
	cgi_response_free(&launch->response);
	buffer_free(&launch->complaint);
}

static const char *end_name(enum run_end end)
{
	static const char *const names[] = {
	    [RUN_NOT_STARTED] = "not started",       [RUN_EXITED] = "exited",
	    [RUN_SIGNALED] = "killed by a signal",   [RUN_TIMED_OUT] = "timed out and was ended",
	    [RUN_STOPPED] = "ended before its time", [RUN_OUTPUT_REFUSED] = "ended for its output",
	};
	return names[end];
}

static void log_answer(const struct launch *launch)
{
	if (launch->run.end == RUN_NOT_STARTED) {
		log_field_text("message", launch->error.message);
	} else if (launch->response.state == CGI_RESPONSE_MALFORMED) {
		log_field_text("message", launch->response.error.message);
		log_field_bytes("first_bytes", launch->response.first_bytes.data,
				launch->response.first_bytes.length);
	} else if (launch->response.once_trouble.kind != ERROR_NONE) {
		log_field_text("message", launch->response.once_trouble.message);
	}
}

void launch_log(struct launch *launch)
{
	const struct run_result *result = &launch->run;
	if (result->group_stuck)
		log_message(
		    LOG_LEVEL_ERROR, "handler",
		    "%s was sent KILL, but its process group is not confirmed gone; look for "
		    "its processes with ps(1)",
		    launch->request->script.file);
	bool good = result->end == RUN_EXITED && result->exit_status == 0 &&
		    launch->response.state == CGI_RESPONSE_BODY &&
		    launch->response.once_trouble.kind == ERROR_NONE;
	if (launch->complaint.length > 0)
		launch->reply->complain(launch->reply->context, buffer_text(&launch->complaint));
	if (good && result->complaint_bytes == 0)
		return;
	log_begin(good ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, "handler");
	log_field_text("script", launch->request->script.file);
	log_field_text("end", end_name(result->end));
	if (result->end == RUN_EXITED)
		log_field_number("exit_status", result->exit_status);
	else if (result->end == RUN_SIGNALED)
		log_field_number("signal", result->signal);
	log_answer(launch);
	log_field_number("stderr_bytes", (int64_t)result->complaint_bytes);
	log_field_bytes("stderr", launch->complaint.data, launch->complaint.length);
	log_field_number("handler_ms", result->elapsed);
	log_end();
}
