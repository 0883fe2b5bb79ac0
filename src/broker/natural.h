/* SPDX-License-Identifier: ISC */
/*
 * The natural key of a claim that was just won (docs/design.md section 9): held by its own upsert,
 * so that of two new keys for one operation one runs.
 */
#ifndef ONCEWRAP_BROKER_NATURAL_H
#define ONCEWRAP_BROKER_NATURAL_H

#include "base/error.h"
#include "broker/exchange.h"
#include "broker/verdict.h"

/*
 * VERDICT_FIRST: held, or the request has none. Else another's claim has it: DUPLICATE when that
 * one is done (exchange->holder says when and where), IN_FLIGHT or UNKNOWN as its record stands; or
 * STORE_DOWN with *error. The claim was then released.
 */
enum verdict natural_hold(struct exchange *exchange, int64_t deadline, struct error *error);

#endif
