/* SPDX-License-Identifier: ISC */
/*
 * The one run of a claimed request: its handler with the lease kept alive, the answer taken in
 * whole, judged, settled, and only then sent (docs/design.md section 2). A client that hangs up
 * does not stop it (case C32).
 */
#ifndef ONCEWRAP_BROKER_EXECUTION_H
#define ONCEWRAP_BROKER_EXECUTION_H

#include "broker/exchange.h"
#include "broker/verdict.h"

/* To be called with a claim that was just won. Sends an answer in any case and sets
 * exchange->status, app_status and handler_ms; returns the verdict for the log: VERDICT_FIRST, or
 * why the client got something else. */
enum verdict execution_run(struct exchange *exchange);

#endif
