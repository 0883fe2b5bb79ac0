/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/observe.h"

#include "base/clock.h"
#include "broker/pass.h"
#include "metrics/count.h"

/* Nobody waits for this: what cannot be settled now is left to the lease. */
static void settle(const struct exchange *exchange, const struct pass_result *run)
{
	const struct store_claim *claim = &exchange->claim;
	int64_t deadline = clock_now() + OBSERVE_BUDGET_MS;
	struct error ignored = {0};
	bool stores = run->whole && route_stores_status(exchange->route, run->status);
	enum store_result result;
	count_worker_state(WORKER_SETTLING);
	if (stores) {
		const struct store_answer answer = {.status = run->status,
						    .flags = RECORD_NOT_KEPT,
						    .retention = exchange->route->retention};
		result = store_settle(exchange->store, claim->id, claim->token, &answer, deadline,
				      &ignored);
	} else {
		result = store_release(exchange->store, claim->id, claim->token, NULL, false,
				       deadline, &ignored);
	}
	if (result == STORE_DONE)
		count_settlement(exchange->route->counters,
				 stores ? SETTLEMENT_STORED : SETTLEMENT_RELEASED);
}

enum verdict observe_run(struct exchange *exchange, enum verdict verdict)
{
	struct pass_result run;
	pass_through(exchange->config, exchange->request, exchange->reply, &run);
	exchange->observed = true;
	exchange->status = run.status;
	exchange->app_status = run.app_status;
	exchange->handler_ms = run.handler_ms;
	if (verdict == VERDICT_FIRST)
		settle(exchange, &run);
	/* The answer is never kept here; enforcing would have kept it. */
	return verdict == VERDICT_NOT_KEPT ? VERDICT_REPLAYED : verdict;
}
