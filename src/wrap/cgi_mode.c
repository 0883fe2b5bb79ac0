/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/cgi_mode.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "broker/broker.h"
#include "handler/slot.h"
#include "metrics/count.h"

#define BLOCK 16384

/* What the front process answers by itself, when there is no owner to do it. */
static const char timed_out[] =
    "Status: 408 Request Timeout\r\nContent-Type: text/plain\r\nContent-Length: 38\r\n\r\n"
    "the request's body did not come whole\n";
static const char failed[] =
    "Status: 500 Internal Server Error\r\nContent-Type: text/plain\r\nContent-Length: 31\r\n\r\n"
    "the request could not be served";

bool cgi_mode_is(void)
{
	const char *interface = getenv("GATEWAY_INTERFACE");
	return interface != NULL && strncmp(interface, "CGI/", 4) == 0;
}

/* Wait for `events` up to `deadline`; false when it has passed. */
static bool await(int fd, short events, int64_t deadline)
{
	struct pollfd wait = {.fd = fd, .events = events};
	int ready;
	do
		ready = poll(&wait, 1, clock_wait(deadline));
	while (ready == -1 && errno == EINTR);
	return ready > 0;
}

/* All of it to a descriptor that may or may not block. 0 or -1. */
static int write_all(int fd, const char *data, size_t length, int64_t deadline)
{
	while (length > 0) {
		ssize_t written = write(fd, data, length);
		if (written >= 0) {
			data += written;
			length -= (size_t)written;
		} else if (errno == EAGAIN) {
			if (!await(fd, POLLOUT, deadline))
				return -1;
		} else if (errno != EINTR) {
			return -1;
		}
	}
	return 0;
}

/* --- the front: reads the request --- */

/* How many bytes standard input holds: never read past Content-Length (RFC 3875 4.2). Without one
 * there is a body only where the client sent it in chunks, and it ends with the input. */
static uint64_t input_length(const struct params *params)
{
	const char *declared = params_get_filled(params, "CONTENT_LENGTH");
	if (declared == NULL)
		return params_get(params, "HTTP_TRANSFER_ENCODING") != NULL ? UINT64_MAX : 0;
	/* What is not a number is refused by the broker: nothing is read for it. */
	return strtoull(declared, NULL, 10);
}

/* An input that ends early is the broker's to refuse, by its length. */
static void read_input(struct request *request, int64_t timeout)
{
	int64_t deadline = clock_now() + timeout;
	uint64_t left = input_length(&request->params);
	char block[BLOCK];
	while (left > 0) {
		if (!await(STDIN_FILENO, POLLIN, deadline)) {
			struct error late;
			error_set(&late, ERROR_LIMIT,
				  "its body did not arrive within limits.request_timeout");
			request_end_body(request, &late);
			return;
		}
		ssize_t length =
		    read(STDIN_FILENO, block, left < sizeof(block) ? (size_t)left : sizeof(block));
		if (length == -1 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (length <= 0)
			break;
		request_add_body(request, block, (size_t)length);
		left -= (uint64_t)length;
	}
	request_end_body(request, NULL);
}

/* --- the owner: decides, runs, settles, answers into a pipe --- */

struct owner {
	int out;
	bool complains;     /* standard error does not have the handler's words by the log */
	int64_t reply_left; /* ms that may still be spent waiting for the pipe's reader */
	bool lost;          /* the front has gone, or takes nothing */
};

static int write_reply(void *context, const void *data, size_t length)
{
	struct owner *owner = context;
	int64_t before = clock_now();
	if (owner->lost || write_all(owner->out, data, length, before + owner->reply_left) != 0) {
		owner->lost = true;
		return -1;
	}
	owner->reply_left -= clock_now() - before;
	return 0;
}

static int flush_reply(void *context)
{
	const struct owner *owner = context;
	return owner->lost ? -1 : 0;
}

static void complain(void *context, const char *text)
{
	const struct owner *owner = context;
	if (owner->complains)
		dprintf(STDERR_FILENO, "%s\n", text);
}

static int reply_descriptor(void *context)
{
	const struct owner *owner = context;
	return owner->out;
}

/* Nothing of the web server's may stay open here: Apache and lighttpd wait for the end of a CGI
 * program's output. So what the owner logs goes by way of the front, and is lost with it, unless
 * the log goes to syslog. */
static void leave_web_server(int err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	setsid();
	if (null == -1 || dup2(null, STDIN_FILENO) == -1 || dup2(null, STDOUT_FILENO) == -1 ||
	    dup2(err, STDERR_FILENO) == -1)
		_exit(EX_SOFTWARE);
	close(null);
	close(err);
}

static int own(const struct config *config, struct bell *bell, struct request *request, int out,
	       int err)
{
	struct owner owner = {.out = out,
			      .complains = config->log_target != LOG_TARGET_STDERR,
			      .reply_left = config->limits.reply_timeout};
	const struct reply reply = {.context = &owner,
				    .write = write_reply,
				    .flush = flush_reply,
				    .complain = complain,
				    .descriptor = reply_descriptor};
	leave_web_server(err);
	/* What a handler leaves in its group comes to us, to be reaped by handler/run.c: whoever is
	 * the container's first process may not do it, and zombies would count as members. Should
	 * it fail, that is as it was. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	struct slots *slots = slots_new(1);
	struct broker *broker = broker_new(config, bell);
	if (slots == NULL || broker == NULL) {
		log_message(LOG_LEVEL_ERROR, "request", "out of memory");
	} else {
		slot_adopt(slots, 0);
		count_worker_begin();
		count_worker_request(request_counters(request), true);
		broker_handle(broker, request, &reply);
		count_worker_request(METRICS_ROUTE_OTHER, false);
		count_worker_end();
	}
	broker_free(broker);
	slots_free(slots);
	return EXIT_SUCCESS;
}

/* --- the front: relays the answer --- */

struct relay {
	int from; /* -1: over */
	uint64_t count;
};

/* Lines of the log are handed on whole, a write each: the web server's error log has many writers.
 */
struct line_relay {
	int from; /* -1: over */
	size_t length;
	char block[2 * PIPE_BUF];
};

static void write_lines(struct line_relay *relay)
{
	const char *at = relay->block;
	const char *end = at + relay->length;
	for (const char *newline; (newline = memchr(at, '\n', (size_t)(end - at))) != NULL;
	     at = newline + 1)
		(void)write_all(STDERR_FILENO, at, (size_t)(newline + 1 - at), CLOCK_NEVER);
	relay->length = (size_t)(end - at);
	memmove(relay->block, at, relay->length);
}

/* What is no line of the log (a handler's word, by a log elsewhere) may be longer than a line is.
 */
static void relay_lines(struct line_relay *relay)
{
	size_t room = sizeof(relay->block) - relay->length;
	ssize_t length = read(relay->from, relay->block + relay->length, room);
	if (length == -1 && errno == EINTR)
		return;
	relay->length += length > 0 ? (size_t)length : 0;
	write_lines(relay);
	if (length <= 0 || relay->length == sizeof(relay->block)) {
		(void)write_all(STDERR_FILENO, relay->block, relay->length, CLOCK_NEVER);
		relay->length = 0;
	}
	if (length > 0)
		return;
	close(relay->from);
	relay->from = -1;
}

static void end_relay(struct relay *relay)
{
	close(relay->from);
	relay->from = -1;
}

static void relay_some(struct relay *relay)
{
	char block[BLOCK];
	ssize_t length = read(relay->from, block, sizeof(block));
	if (length == -1 && errno == EINTR)
		return;
	if (length > 0) {
		relay->count += (uint64_t)length;
		if (write_all(STDOUT_FILENO, block, (size_t)length, CLOCK_NEVER) == 0)
			return;
	}
	end_relay(relay);
}

/* Until the owner has closed both; how many bytes of an answer came. When standard output has lost
 * its reader, the client has gone: the owner learns it by its closed pipe. */
static uint64_t relay_answer(int out, int err)
{
	struct relay output = {.from = out};
	struct line_relay messages = {.from = err};
	while (output.from != -1 || messages.from != -1) {
		struct pollfd wait[] = {
		    {.fd = output.from, .events = POLLIN},
		    {.fd = messages.from, .events = POLLIN},
		    {.fd = output.from == -1 ? -1 : STDOUT_FILENO, .events = 0},
		};
		if (poll(wait, 3, -1) == -1 && errno != EINTR)
			break;
		if (wait[0].revents != 0)
			relay_some(&output);
		if (wait[1].revents != 0)
			relay_lines(&messages);
		if (wait[2].revents != 0 && output.from != -1)
			end_relay(&output);
	}
	return output.count;
}

static int answer(const char *text)
{
	return write_all(STDOUT_FILENO, text, strlen(text), CLOCK_NEVER) == 0 ? EXIT_SUCCESS
									      : EX_CANTCREAT;
}

/* Have it served; `otherwise` is what is answered where the owner answers nothing. */
static int serve(const struct config *config, struct bell *bell, struct request *request,
		 const char *otherwise)
{
	int out[2], err[2];
	if (pipe2(out, O_CLOEXEC) == -1 || pipe2(err, O_CLOEXEC) == -1) {
		log_message(LOG_LEVEL_ERROR, "request", "cannot make a pipe: %s", strerror(errno));
		return answer(failed);
	}
	pid_t pid = fork();
	if (pid == 0) {
		close(out[0]);
		close(err[0]);
		/* A reader that stalls must not hold up the owner for ever: see write_reply. */
		fcntl(out[1], F_SETFL, O_NONBLOCK);
		int status = own(config, bell, request, out[1], err[1]);
		request_free(request);
		exit(status);
	}
	close(out[1]);
	close(err[1]);
	if (pid == -1) {
		log_message(LOG_LEVEL_ERROR, "request", "cannot start the owner's process: %s",
			    strerror(errno));
		return answer(failed);
	}
	/* Apache would make an empty answer a 200. */
	return relay_answer(out[0], err[0]) > 0 ? EXIT_SUCCESS : answer(otherwise);
}

int cgi_mode_run(const struct config *config, const char *handler, struct bell *bell)
{
	struct params params = params_of(environ);
	struct request request;
	struct error error;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	prctl(PR_SET_DUMPABLE, config->core_dumps);
	if (request_prepare(&request, &params, config, handler, &error) != 0) {
		log_message(LOG_LEVEL_ERROR, "request", "%s", error.message);
		return answer(failed);
	}
	log_set_request(request.id);
	read_input(&request, config->limits.request_timeout);
	int status = serve(config, bell, &request,
			   request.body_state == REQUEST_BODY_CUT ? timed_out : failed);
	log_set_request(NULL);
	request_free(&request);
	return status;
}
