/* SPDX-License-Identifier: ISC */
/*
 * The broker: key, tenant, fingerprint, claim; then the handler once and its settlement, or the
 * record's answer (docs/design.md section 2). One a process.
 */
#ifndef ONCEWRAP_BROKER_BROKER_H
#define ONCEWRAP_BROKER_BROKER_H

#include "broker/bell.h"
#include "broker/reply.h"
#include "broker/request.h"
#include "config/config.h"

struct broker;

/* `config` and `bell` (NULL: none) are borrowed. NULL when out of memory. */
struct broker *broker_new(const struct config *config, struct bell *bell);
void broker_free(struct broker *broker);

/* Decide, run or replay, answer, log. Returns the FastCGI appStatus: the handler's exit status, 128
 * + its signal, or 0. */
int broker_handle(struct broker *broker, struct request *request, const struct reply *front);

#endif
