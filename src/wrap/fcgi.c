/* SPDX-License-Identifier: ISC */
/*
 * How libfcgi is made to serve a descriptor of ours. Its accept loop cannot be used: no deadline,
 * signals lost, silent peers waited for. But FCGX_Accept_r takes a request struct whose ipcFd is
 * set for an open, kept connection and reads the next request from that. It gets a duplicate,
 * marked as detached, so that whatever it closes it closes without lingering and without harm to
 * ours; the listening socket is -1, so that instead of accepting another peer it fails.
 * tests/unit/test_fcgi.c fails loudly should a version of the library behave otherwise.
 *
 * What is left to the library, and why that is bearable: parameters of unlimited size, or whose
 * lengths add up to more than an int; management records within a request, answered into 64 bytes,
 * which repeated names overflow; padding behind BEGIN_REQUEST or behind the empty PARAMS, which it
 * reads as the next record; an empty record of another request's id, after which it drops the next
 * one. Each costs at most this process or this request, no web server sends them, and only a peer
 * that may run any handler anyway can.
 */
#include <config.h>

#include "wrap/fcgi.h"

#include <errno.h>
#include <fcgiapp.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/log.h"
#include "wrap/peer.h"

enum input {
	INPUT_CUT,   /* aborted, late, or not in order: no answer is owed */
	INPUT_LEFT,  /* in order so far, and read no further */
	INPUT_WHOLE, /* read to its proper end */
};

struct fcgi {
	FCGX_Request request;
	struct reply reply;
	struct fcgi_limits limits;
	int fd; /* -1 between requests */
	enum input input;
	int64_t reply_left; /* ms of limits.reply_timeout not yet spent */
};

/*
 * One absolute deadline over any number of the library's blocking reads or writes, so that a peer
 * that drips a byte a second is dropped too: the handler shuts the connection down, and the call
 * under way, or the next, fails.
 */
static volatile sig_atomic_t watched_fd = -1;
static volatile sig_atomic_t watch_expired;

static void on_alarm(int number)
{
	(void)number;
	int saved = errno;
	if (watched_fd != -1)
		shutdown(watched_fd, SHUT_RDWR);
	watch_expired = 1;
	errno = saved;
}

static void set_timer(int64_t milliseconds, struct itimerval *before)
{
	const struct itimerval timer = {
	    .it_value = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000}};
	setitimer(ITIMER_REAL, &timer, before);
}

static void watch_start(int fd, int64_t milliseconds)
{
	watch_expired = 0;
	watched_fd = fd;
	set_timer(milliseconds > 0 ? milliseconds : 1, NULL);
}

/* How many milliseconds were left; 0: the deadline has passed. */
static int64_t watch_stop(void)
{
	struct itimerval left;
	set_timer(0, &left);
	watched_fd = -1;
	if (watch_expired)
		return 0;
	return left.it_value.tv_sec * 1000 + left.it_value.tv_usec / 1000 + 1;
}

int fcgi_begin(struct fcgi *fcgi, int fd, struct params *params, struct error *error)
{
	FCGX_Request *request = &fcgi->request;
	FCGX_InitRequest(request, -1, 0);
	request->ipcFd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (request->ipcFd == -1) {
		error_set_errno(error, errno, "cannot duplicate the connection");
		close(fd);
		return -1;
	}
	request->keepConnection = 1;
	FCGX_Detach(request);
	fcgi->fd = fd;
	fcgi->input = INPUT_CUT;
	fcgi->reply_left = fcgi->limits.reply_timeout;

	watch_start(fd, fcgi->limits.request_timeout);
	/* Parameters cut off between two of them pass for complete: the library leaves the error on
	 * the stream. */
	if (FCGX_Accept_r(request) == 0 && FCGX_GetError(request->in) == 0) {
		*params = params_of(request->envp);
		return 0;
	}
	FCGX_Free(request, 1);
	if (watch_stop() == 0)
		error_set(error, ERROR_LIMIT, "no request within limits.request_timeout");
	else
		error_set(error, ERROR_INPUT,
			  "cut off or malformed before the end of its parameters");
	close(fd);
	fcgi->fd = -1;
	return -1;
}

size_t fcgi_read(struct fcgi *fcgi, void *data, size_t size)
{
	int count = FCGX_GetStr(data, size < INT_MAX ? (int)size : INT_MAX, fcgi->request.in);
	return count > 0 ? (size_t)count : 0;
}

bool fcgi_read_end(struct fcgi *fcgi, struct error *error)
{
	FCGX_Stream *in = fcgi->request.in;
	if (watch_stop() == 0)
		error_set(error, ERROR_LIMIT,
			  "its body did not arrive within limits.request_timeout");
	else if (FCGX_GetError(in) != 0) /* all of these are the same to the library */
		error_set(error, ERROR_INPUT,
			  "it was aborted, cut off, or malformed in the middle of its body");
	else
		fcgi->input = FCGX_HasSeenEOF(in) ? INPUT_WHOLE : INPUT_LEFT;
	return fcgi->input != INPUT_CUT;
}

/* Around each call of the library's that may write to the peer. */
static void writing_begins(struct fcgi *fcgi)
{
	watch_start(fcgi->fd, fcgi->reply_left);
}

static void writing_ends(struct fcgi *fcgi)
{
	fcgi->reply_left = watch_stop();
	if (fcgi->reply_left == 0)
		log_message(LOG_LEVEL_WARNING, "peer",
			    "reply dropped: it was not taken within limits.reply_timeout");
}

static bool is_lost(const struct fcgi *fcgi)
{
	return fcgi->input == INPUT_CUT || fcgi->reply_left == 0 ||
	       FCGX_GetError(fcgi->request.out) != 0 || FCGX_GetError(fcgi->request.err) != 0;
}

static int put(struct fcgi *fcgi, FCGX_Stream *stream, const char *data, int length)
{
	if (is_lost(fcgi))
		return -1;
	if (length <= stream->stop - stream->wrNext) /* it only fills the buffer */
		return FCGX_PutStr(data, length, stream) == length ? 0 : -1;
	writing_begins(fcgi);
	FCGX_PutStr(data, length, stream);
	writing_ends(fcgi);
	return is_lost(fcgi) ? -1 : 0;
}

static int write_reply(void *context, const void *data, size_t length)
{
	struct fcgi *fcgi = context;
	const char *at = data;
	while (length > 0) {
		int piece = length < INT_MAX ? (int)length : INT_MAX;
		if (put(fcgi, fcgi->request.out, at, piece) != 0)
			return -1;
		at += piece;
		length -= (size_t)piece;
	}
	return 0;
}

static int flush_reply(void *context)
{
	struct fcgi *fcgi = context;
	if (is_lost(fcgi))
		return -1;
	writing_begins(fcgi);
	FCGX_FFlush(fcgi->request.out);
	writing_ends(fcgi);
	return is_lost(fcgi) ? -1 : 0;
}

static void complain(void *context, const char *text)
{
	struct fcgi *fcgi = context;
	size_t length = strlen(text);
	/* The web server writes it to its own log, or drops it: nothing depends on it. */
	if (length < INT_MAX && put(fcgi, fcgi->request.err, text, (int)length) == 0)
		(void)put(fcgi, fcgi->request.err, "\n", 1);
}

static int reply_descriptor(void *context)
{
	const struct fcgi *fcgi = context;
	return fcgi->fd;
}

/* Whoever started us may have it blocked or ignored. */
static int set_alarm_handler(void)
{
	const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	sigset_t alarm_only;
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	return sigaction(SIGALRM, &action, NULL) == 0 ? sigprocmask(SIG_UNBLOCK, &alarm_only, NULL)
						      : -1;
}

struct fcgi *fcgi_new(const struct fcgi_limits *limits, struct error *error)
{
	int failure = FCGX_Init();
	if (failure != 0 || set_alarm_handler() == -1) {
		error_set_errno(error, failure != 0 ? failure : errno, "cannot start libfcgi");
		return NULL;
	}
	struct fcgi *fcgi = calloc(1, sizeof(*fcgi));
	if (fcgi == NULL) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	fcgi->fd = -1;
	fcgi->limits = *limits;
	fcgi->reply = (struct reply){.context = fcgi,
				     .write = write_reply,
				     .flush = flush_reply,
				     .complain = complain,
				     .descriptor = reply_descriptor};
	return fcgi;
}

void fcgi_free(struct fcgi *fcgi)
{
	free(fcgi);
}

const struct reply *fcgi_reply(struct fcgi *fcgi)
{
	return &fcgi->reply;
}

/* An aborted request is ended in form (FastCGI 1.0, 5.4); a peer that has gone is told nothing: an
 * END_REQUEST without an answer would read as an empty 200 where the web server only half closed.
 */
static bool is_owed_an_end(const struct fcgi *fcgi)
{
	if (fcgi->input != INPUT_CUT)
		return !is_lost(fcgi);
	char byte;
	ssize_t unread = recv(fcgi->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	return unread > 0 || (unread == -1 && errno == EAGAIN);
}

void fcgi_end(struct fcgi *fcgi, int app_status)
{
	FCGX_Request *request = &fcgi->request;
	if (is_owed_an_end(fcgi)) {
		FCGX_SetExitStatus(app_status, request->out);
		writing_begins(fcgi);
		FCGX_Finish_r(request);
		writing_ends(fcgi);
	}
	/* What an end that was not owed has left, and a duplicate that the library keeps open. */
	FCGX_Free(request, 1);
	peer_close(fcgi->fd, fcgi->input != INPUT_WHOLE);
	fcgi->fd = -1;
}
