/* SPDX-License-Identifier: ISC */
/*
 * What is told of a request when it is over: the one line in the log of each guarded request,
 * whatever became of it, with its verdict, status and times (docs/metrics.md, "Logs").
 */
#ifndef ONCEWRAP_BROKER_REPORT_H
#define ONCEWRAP_BROKER_REPORT_H

#include "base/error.h"
#include "broker/exchange.h"
#include "broker/verdict.h"

/* The verdict as it turned out; *why: what stood behind it, if anything. Called once for each
 * request, guarded or not, when all of its answer has been handed on. */
void report_request(const struct exchange *exchange, enum verdict verdict, const struct error *why);

#endif
