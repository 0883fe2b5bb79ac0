/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/rebuild.h"

#include "broker/capture.h"
#include "broker/judge.h"
#include "broker/launch.h"
#include "broker/refusal.h"
#include "broker/replay.h"

#include <string.h>

/* Was the body, in whatever form, among what was compared? */
static bool scheme_has_body(const char *scheme)
{
	static const char word[] = " body";
	const char *at = strstr(scheme, word);
	return at != NULL && strchr(" :", at[sizeof(word) - 1]) != NULL;
}

bool rebuild_may(const struct exchange *exchange)
{
	return exchange->route->rebuild && scheme_has_body(exchange->record.scheme);
}

static bool is_good(const struct exchange *exchange, const struct launch *launch,
		    const struct capture *capture)
{
	return judge_is_rebuilt(&(struct evidence){.route = exchange->route,
						   .method = exchange->request->method,
						   .run = &launch->run,
						   .response = &launch->response,
						   .body_length = capture->length,
						   .body_failed = capture->failed},
				exchange->record.status);
}

static enum verdict refuse(struct exchange *exchange)
{
	exchange->status = refusal_send(exchange->reply, exchange->request->method,
					VERDICT_REBUILD_FAILED, exchange->route, NULL);
	return VERDICT_REBUILD_FAILED;
}

enum verdict rebuild_run(struct exchange *exchange)
{
	struct capture capture;
	if (capture_init(&capture, exchange->config) != 0)
		return refuse(exchange);
	struct launch launch = {
	    .config = exchange->config,
	    .request = exchange->request,
	    .reply = exchange->reply,
	    .exchange = exchange,
	    .rebuild = true,
	    .take = capture_take,
	    .context = &capture,
	};
	launch_run(&launch);
	launch_log(&launch);
	capture_finish(&capture);
	exchange->handler_ms = launch.run.elapsed;
	exchange->app_status = launch_app_status(&launch);
	enum verdict verdict = VERDICT_REPLAYED;
	if (is_good(exchange, &launch, &capture))
		replay_send_rebuilt(exchange, &launch.response, capture.data, capture.length);
	else
		verdict = refuse(exchange);
	launch_free(&launch);
	capture_free(&capture);
	return verdict;
}
