/* SPDX-License-Identifier: ISC */
/* What shows that a database takes in more than those behind it can follow: how far a replica is
 * behind, and for how long Galera has stopped writers. */
#ifndef ONCEWRAP_STORE_PRESSURE_H
#define ONCEWRAP_STORE_PRESSURE_H

#include "store/connection.h"

#include <stdint.h>

/* By the connection of a replica: ms behind, by its slowest source; below 0: replication does not
 * run. 0, or -1 with *error, also where it is no replica. */
int pressure_lag(struct connection *connection, int64_t *lag, struct error *error)
    __attribute__((warn_unused_result));

/* For how many ns in all flow control has stopped the writers of this node. 0, or -1 with *error,
 * also where it is no Galera node. */
int pressure_flow_control(struct connection *connection, int64_t *stopped, struct error *error)
    __attribute__((warn_unused_result));

#endif
