/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "wrap/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "broker/broker.h"
#include "metrics/count.h"
#include "wrap/fcgi.h"
#include "wrap/lobby.h"

#define BLOCK 16384

static const char no_memory[] = "Status: 500 Internal Server Error\r\nContent-Type: text/plain\r\n"
				"Content-Length: 14\r\n\r\nout of memory\n";

static void read_body(struct fcgi *fcgi, struct request *request)
{
	unsigned char block[BLOCK];
	size_t length;
	do {
		length = fcgi_read(fcgi, block, sizeof(block));
		request_add_body(request, block, length);
	} while (length == sizeof(block));
	struct error why;
	bool whole = fcgi_read_end(fcgi, &why);
	request_end_body(request, whole ? NULL : &why);
}

/* Read the request to its end, have it answered, end it. */
static void serve(const struct worker *worker, struct broker *broker, struct fcgi *fcgi, int fd)
{
	struct params params;
	struct request request;
	struct error error;
	count_worker_state(WORKER_READING);
	if (fcgi_begin(fcgi, fd, &params, &error) != 0) {
		log_message(LOG_LEVEL_WARNING, "peer", "request dropped: %s", error.message);
		return;
	}
	const struct reply *reply = fcgi_reply(fcgi);
	if (request_prepare(&request, &params, worker->config, worker->handler, &error) != 0) {
		log_message(LOG_LEVEL_ERROR, "request", "%s", error.message);
		fcgi_read_end(fcgi, &error);
		reply->write(reply->context, no_memory, sizeof(no_memory) - 1);
		fcgi_end(fcgi, 0);
		return;
	}
	count_worker_request(request_counters(&request), true);
	log_set_request(request.id);
	read_body(fcgi, &request);
	int app_status = broker_handle(broker, &request, reply);
	fcgi_end(fcgi, app_status);
	log_set_request(NULL);
	request_free(&request);
	count_worker_request(METRICS_ROUTE_OTHER, false);
}

/* Which signals end a worker is known by the lobby alone: they stay blocked, so that none ever
 * interrupts a request. */
static void set_signals(sigset_t *stop)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a body over a file size limit is an error, not an end */
	signal(SIGUSR1, SIG_IGN);
	signal(SIGHUP, SIG_IGN); /* the supervisor's: a terminal sends it to all of us */
	signal(SIGTERM, SIG_DFL);
	sigemptyset(stop);
	sigaddset(stop, SIGTERM);
	sigaddset(stop, SIGINT);
	sigaddset(stop, SIGQUIT);
}

int worker_run(const struct worker *worker)
{
	/* Should the supervisor be killed, its workers still finish what they have in hand. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) == -1 || getppid() != worker->supervisor)
		return EXIT_SUCCESS;
	prctl(PR_SET_DUMPABLE, worker->config->core_dumps);
	slot_adopt(worker->slots, worker->index);
	count_worker_begin();

	int status = EX_SOFTWARE;
	const struct config_limits *limits = &worker->config->limits;
	struct error error = {0};
	sigset_t stop;
	struct lobby *lobby = NULL;
	struct broker *broker = NULL;
	struct fcgi *fcgi =
	    fcgi_new(&(struct fcgi_limits){.request_timeout = limits->request_timeout,
					   .reply_timeout = limits->reply_timeout},
		     &error);
	if (fcgi == NULL)
		goto out;
	set_signals(&stop);
	broker = broker_new(worker->config, worker->bell);
	if (broker == NULL) {
		error_set(&error, ERROR_MEMORY, "out of memory");
		goto out;
	}
	lobby = lobby_new(worker->listener, &stop, worker->count, limits->silent_timeout, &error);
	if (lobby == NULL)
		goto out;
	int fd;
	while ((fd = lobby_next(lobby)) != -1) {
		serve(worker, broker, fcgi, fd);
		count_worker_state(WORKER_IDLE);
	}
	count_worker_state(WORKER_LEAVING);
	status = EXIT_SUCCESS;
out:
	if (status != EXIT_SUCCESS)
		log_message(LOG_LEVEL_ERROR, "worker", "worker %ld cannot serve: %s",
			    (long)getpid(), error.message);
	lobby_free(lobby);
	broker_free(broker);
	fcgi_free(fcgi);
	count_worker_end();
	return status;
}
