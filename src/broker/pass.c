/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/pass.h"

#include "broker/launch.h"
#include "broker/refusal.h"
#include "broker/sender.h"

#include <poll.h>

struct pass {
	struct launch launch;
	bool headers_sent;
	uint64_t body_sent;
};

/* How much of `length` more body bytes belongs to the answer: none where it has no body, and none
 * past the length that the handler declared, which web servers treat each in a way of its own. */
static size_t body_share(const struct pass *pass, size_t length)
{
	const struct cgi_response *response = &pass->launch.response;
	if (!sender_has_body(pass->launch.request->method, response->status))
		return 0;
	if (response->content_length < 0)
		return length;
	uint64_t left = (uint64_t)response->content_length - pass->body_sent;
	return length < left ? length : (size_t)left;
}

static int send_headers(struct pass *pass)
{
	const struct cgi_response *response = &pass->launch.response;
	pass->headers_sent = true;
	/* 1xx and 204 may not name a length (RFC 9110 8.6). */
	bool names_length = response->status >= 200 && response->status != 204;
	return sender_send_headers(pass->launch.reply,
				   &(struct outgoing){.method = pass->launch.request->method,
						      .status = response->status,
						      .reason = response->reason,
						      .headers = response->headers.data,
						      .headers_length = response->headers.length},
				   names_length ? response->content_length : -1);
}

static bool take(void *context, const void *data, size_t length)
{
	struct pass *pass = context;
	const struct reply *reply = pass->launch.reply;
	if (!pass->headers_sent && send_headers(pass) != 0)
		return true;
	size_t share = body_share(pass, length);
	if (share > 0 && reply->write(reply->context, data, share) != 0)
		return true;
	pass->body_sent += share;
	return reply->flush(reply->context) != 0;
}

static void watch_client(void *context, struct pollfd *fd, int *wait_ms)
{
	const struct reply *reply = context;
	(void)wait_ms;
	fd->fd = reply->descriptor(reply->context);
	fd->events = POLLIN | POLLRDHUP;
}

/* The request was read to its end, so whatever comes now is the connection's end or an abort. */
static enum run_wish heed_client(void *context, short revents)
{
	(void)context;
	return revents != 0 ? RUN_END : RUN_ON;
}

void pass_through(const struct config *config, struct request *request, const struct reply *reply,
		  struct pass_result *result)
{
	struct pass pass = {
	    .launch =
		{
		    .config = config,
		    .request = request,
		    .reply = reply,
		    .guest = {(void *)(uintptr_t)reply, watch_client, heed_client},
		    .take = take,
		    .context = &pass,
		},
	};
	enum verdict refusal = VERDICT_HANDLER_FAILED;
	if (launch_run(&pass.launch) != 0)
		refusal = VERDICT_INTERNAL_ERROR;
	else if (pass.launch.run.end == RUN_TIMED_OUT)
		refusal = VERDICT_HANDLER_TIMEOUT;
	launch_log(&pass.launch);
	*result = (struct pass_result){
	    .status = pass.headers_sent
			  ? pass.launch.response.status
			  : refusal_send(reply, request->method, refusal, request->route, NULL),
	    .whole = pass.launch.run.end == RUN_EXITED && pass.headers_sent,
	    .app_status = launch_app_status(&pass.launch),
	    .handler_ms = pass.launch.run.elapsed,
	};
	launch_free(&pass.launch);
}
