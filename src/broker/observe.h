/* SPDX-License-Identifier: ISC */
/*
 * Mode "observe": the request runs and streams whatever its record says; what would have become of
 * it is counted and logged. Claims are made under ids of their own (idem/identity.h) and keep the
 * fingerprint and the status only, so that a later "enforce" starts clean.
 */
#ifndef ONCEWRAP_BROKER_OBSERVE_H
#define ONCEWRAP_BROKER_OBSERVE_H

#include "broker/exchange.h"
#include "broker/verdict.h"

/* How long each of claim and settlement may take, ms. */
#define OBSERVE_BUDGET_MS 100

/* Run, after a claim came to `verdict`, and settle where that was VERDICT_FIRST. Returns the
 * verdict that enforcing would have given. Sets exchange->status, app_status and handler_ms. */
enum verdict observe_run(struct exchange *exchange, enum verdict verdict);

#endif
