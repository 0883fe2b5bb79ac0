/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "metrics/series.h"

/* In the order of enum verdict. */
#define OUTCOMES(entry)                                                                            \
	entry(passed, OUTCOME_IS_PLAIN) entry(first, OUTCOME_IS_PLAIN)                             \
	    entry(replayed, OUTCOME_IS_REPLAY) entry(in_flight, OUTCOME_IS_PLAIN) entry(           \
		mismatch, OUTCOME_IS_PLAIN) entry(unknown, OUTCOME_IS_PLAIN)                       \
		entry(not_kept, OUTCOME_IS_PLAIN) entry(expired, OUTCOME_IS_PLAIN) entry(          \
		    key_missing, OUTCOME_IS_PLAIN) entry(key_invalid, OUTCOME_IS_PLAIN)            \
		    entry(tenant_missing, OUTCOME_IS_PLAIN) entry(too_large, OUTCOME_IS_PLAIN)     \
			entry(bad_body, OUTCOME_IS_PLAIN) entry(duplicate, OUTCOME_IS_PLAIN)       \
			    entry(store_down, OUTCOME_IS_ERROR) entry(not_found, OUTCOME_IS_PLAIN) \
				entry(forbidden, OUTCOME_IS_PLAIN)                                 \
				    entry(body_length, OUTCOME_IS_PLAIN)                           \
					entry(body_unspooled, OUTCOME_IS_ERROR)                    \
					    entry(handler_failed, OUTCOME_IS_ERROR)                \
						entry(handler_timeout, OUTCOME_IS_ERROR)           \
						    entry(rebuild_failed, OUTCOME_IS_ERROR)        \
							entry(unsettled, OUTCOME_IS_ERROR)         \
							    entry(cut, OUTCOME_IS_PLAIN) entry(    \
								internal_error, OUTCOME_IS_ERROR)

#define NAME(name, nature)   #name,
#define NATURE(name, nature) nature,

const char *const metrics_outcomes[METRICS_OUTCOMES] = {OUTCOMES(NAME)};
const enum metrics_nature metrics_natures[METRICS_OUTCOMES] = {OUTCOMES(NATURE)};

const char *const metrics_settlements[METRICS_SETTLEMENTS] = {
    [SETTLEMENT_STORED] = "stored",   [SETTLEMENT_RELEASED] = "released",
    [SETTLEMENT_UNKNOWN] = "unknown", [SETTLEMENT_LEASE_LOST] = "lease_lost",
    [SETTLEMENT_SPOOLED] = "spooled", [SETTLEMENT_BY_HANDLER] = "committed_by_handler",
};

const char *const metrics_ops[METRICS_OPS] = {
    [STORE_OP_CLAIM] = "claim",
    [STORE_OP_READ] = "read",
    [STORE_OP_RENEW] = "renew",
    [STORE_OP_SETTLE] = "settle",
};

const char *const metrics_reasons[METRICS_REASONS] = {
    [STORE_ERROR_GONE] = "gone",
    [STORE_ERROR_DEADLOCK] = "deadlock",
    [STORE_ERROR_LOCK_TIMEOUT] = "lock_timeout",
    [STORE_ERROR_DENIED] = "denied",
    [STORE_ERROR_FULL] = "full",
    [STORE_ERROR_OTHER] = "other",
};

const char *const metrics_levels[METRICS_LEVELS] = {"debug", "info", "warning", "error"};

const char *const metrics_worker_states[METRICS_WORKER_STATES] = {
    [WORKER_IDLE] = "idle",       [WORKER_READING] = "reading", [WORKER_CLAIMING] = "claiming",
    [WORKER_WAITING] = "waiting", [WORKER_RUNNING] = "running", [WORKER_SETTLING] = "settling",
    [WORKER_SENDING] = "sending", [WORKER_LEAVING] = "leaving",
};

const char metrics_worker_letters[METRICS_WORKER_STATES + 1] = {
    [WORKER_IDLE] = '_',    [WORKER_READING] = 'R', [WORKER_CLAIMING] = 'C',
    [WORKER_WAITING] = 'W', [WORKER_RUNNING] = 'H', [WORKER_SETTLING] = 'S',
    [WORKER_SENDING] = 'A', [WORKER_LEAVING] = 'L',
};

const uint64_t metrics_request_bounds[METRICS_REQUEST_BUCKETS] = {
    5000,    10000,   25000,   50000,    100000,   250000,   500000,
    1000000, 2500000, 5000000, 10000000, 30000000, 60000000,
};

const uint64_t metrics_store_bounds[METRICS_STORE_BUCKETS] = {
    500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 1000000,
};
