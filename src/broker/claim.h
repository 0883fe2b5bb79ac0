/* SPDX-License-Identifier: ISC */
/*
 * The way from a request to a verdict by way of its record: claim, and where another has been here
 * before, judge the record, close a lapsed lease, take over, reclaim, or wait (docs/design.md
 * section 4). The unique key and the row locks arbitrate; nothing is decided by what was merely
 * looked at.
 */
#ifndef ONCEWRAP_BROKER_CLAIM_H
#define ONCEWRAP_BROKER_CLAIM_H

#include "base/error.h"
#include "broker/exchange.h"
#include "broker/verdict.h"

/* VERDICT_FIRST (the claim is ours, exchange->attempt set), VERDICT_REPLAYED (exchange->record
 * holds the answer), IN_FLIGHT, MISMATCH, UNKNOWN, NOT_KEPT, EXPIRED, or STORE_DOWN with *error. */
enum verdict claim_decide(struct exchange *exchange, struct error *error);

/* What a lost owner may tell its client: the record as its successor has it, as claim_decide but
 * without ever claiming. */
enum verdict claim_look(struct exchange *exchange, struct error *error);

/* After VERDICT_MISMATCH: the parts in which the request differs from the record's, as "query,
 * body", into text; "" when they cannot be told. For the log and for no client. */
void claim_difference(const struct exchange *exchange, char *text, size_t size);

#endif
