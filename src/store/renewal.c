/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/renewal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "metrics/count.h"
#include "store/handle.h"
#include "store/trouble.h"

/* Issues of one renewal: an idle connection may have died, a taker may be at the row this very
 * moment. What does not cure itself that fast is the caller's to start again. */
enum { ISSUES_MOST = 5, PAUSE = 10 };

enum activity { IDLE, UNDER_WAY, PAUSING };

struct renewal {
	struct store *store;
	enum activity activity;
	unsigned issues;
	int64_t resume; /* PAUSING: until then */
	int64_t started_us;
	unsigned char token[TOKEN_LENGTH];
	struct parameters parameters;
	struct roundtrip roundtrip;
};

struct renewal *renewal_new(struct store *store)
{
	struct renewal *renewal = calloc(1, sizeof(*renewal));
	if (renewal != NULL)
		renewal->store = store;
	return renewal;
}

void renewal_free(struct renewal *renewal)
{
	if (renewal == NULL)
		return;
	renewal_cancel(renewal);
	free(renewal);
}

static enum renewal_state take_answer(struct renewal *renewal, struct error *error)
{
	MYSQL_STMT *statement = roundtrip_statement(&renewal->roundtrip);
	bool closed = false;
	enum row_result row = row_fetch_lease(statement, &closed, error);
	renewal->activity = IDLE;
	count_store(STORE_OP_RENEW, count_now() - renewal->started_us);
	if (row == ROW_NONE)
		error_set(error, ERROR_STORE, "renew: the database returned no row");
	if (row != ROW_FETCHED)
		return RENEWAL_FAILED;
	if (closed)
		return RENEWAL_LOST;
	count_renewal();
	return RENEWAL_HELD;
}

static enum renewal_state judge(struct renewal *renewal, enum roundtrip_state state,
				struct error *error);

static enum renewal_state issue(struct renewal *renewal, struct error *error)
{
	renewal->activity = UNDER_WAY;
	renewal->issues++;
	return judge(renewal, roundtrip_start(&renewal->roundtrip), error);
}

static enum renewal_state judge(struct renewal *renewal, enum roundtrip_state state,
				struct error *error)
{
	if (state == ROUNDTRIP_PENDING)
		return RENEWAL_PENDING;
	if (state == ROUNDTRIP_DONE)
		return take_answer(renewal, error);
	*error = renewal->roundtrip.error;
	count_store_error(trouble_reason(renewal->roundtrip.code));
	enum trouble trouble = trouble_of(renewal->roundtrip.code);
	if (trouble == TROUBLE_GONE && renewal->issues == 1 && !renewal->roundtrip.opening)
		return issue(renewal, error);
	bool passes = trouble == TROUBLE_BUSY || trouble == TROUBLE_DEADLOCK;
	if (passes && renewal->issues < ISSUES_MOST) {
		renewal->activity = PAUSING;
		renewal->resume = clock_now() + PAUSE;
		return RENEWAL_PENDING;
	}
	renewal->activity = IDLE;
	count_store(STORE_OP_RENEW, count_now() - renewal->started_us);
	return RENEWAL_FAILED;
}

enum renewal_state renewal_start(struct renewal *renewal, const unsigned char token[TOKEN_LENGTH],
				 int64_t lease, struct error *error)
{
	struct store *store = renewal->store;
	renewal_cancel(renewal);
	memcpy(renewal->token, token, TOKEN_LENGTH);
	parameters_init(&renewal->parameters);
	parameters_add_bytes(&renewal->parameters, renewal->token, TOKEN_LENGTH);
	parameters_add_span(&renewal->parameters, lease);
	/* From here on there may be a row for it, confirmed or not. */
	store->renewed = true;
	memcpy(store->renewed_token, token, TOKEN_LENGTH);
	renewal->roundtrip = (struct roundtrip){
	    .connection = &store->connection,
	    .goal = ROUNDTRIP_STATEMENT,
	    .statement = STATEMENT_RENEW,
	    .parameters = &renewal->parameters,
	};
	renewal->issues = 0;
	renewal->started_us = count_now();
	return issue(renewal, error);
}

void renewal_poll(const struct renewal *renewal, struct pollfd *fd, int *wait_ms)
{
	int64_t until = renewal->resume;
	*fd = (struct pollfd){.fd = -1};
	if (renewal->activity == IDLE)
		return;
	if (renewal->activity == UNDER_WAY)
		roundtrip_poll(&renewal->roundtrip, fd, &until);
	int wait = clock_wait(until);
	if (wait >= 0 && (*wait_ms < 0 || wait < *wait_ms))
		*wait_ms = wait;
}

enum renewal_state renewal_step(struct renewal *renewal, short revents, struct error *error)
{
	int64_t until = renewal->resume;
	struct pollfd fd;
	if (renewal->activity == UNDER_WAY)
		roundtrip_poll(&renewal->roundtrip, &fd, &until);
	/* The caller's poll may have returned for something else. */
	if (revents == 0 && clock_now() < until)
		return RENEWAL_PENDING;
	if (renewal->activity == PAUSING)
		return issue(renewal, error);
	return judge(renewal, roundtrip_step(&renewal->roundtrip, revents), error);
}

void renewal_cancel(struct renewal *renewal)
{
	if (renewal->activity == UNDER_WAY)
		roundtrip_cancel(&renewal->roundtrip);
	renewal->activity = IDLE;
}
