/* SPDX-License-Identifier: ISC */
/*
 * Asking a handler for an answer again that was not kept (keep = "reference" or "marker", rebuild =
 * true): run with ONCE_REPLAY=1 and its reference, outside of any claim; the record stays as it is
 * whatever comes of it.
 */
#ifndef ONCEWRAP_BROKER_REBUILD_H
#define ONCEWRAP_BROKER_REBUILD_H

#include "broker/exchange.h"
#include "broker/verdict.h"

/* May the record's answer be asked for again? Only of a request whose body is known to be the first
 * one's: an older record may have been made by a scheme without the body. */
bool rebuild_may(const struct exchange *exchange);

/* Run, and answer. VERDICT_REPLAYED, or VERDICT_REBUILD_FAILED (503, to be tried again). Sets
 * exchange->status, app_status and handler_ms. */
enum verdict rebuild_run(struct exchange *exchange);

#endif
