/* SPDX-License-Identifier: ISC */
/* The record of a key, tenant and route as somebody names them: its id is computed as the wrapper
 * does, by the scope of the configured routes. */
#ifndef ONCEWRAP_ADMIN_SELECTION_KEY_H
#define ONCEWRAP_ADMIN_SELECTION_KEY_H

#include "admin/common/selection.h"

#include <stdbool.h>
#include <stdint.h>

struct selection_key {
	unsigned char id[DIGEST_LENGTH];
	bool found; /* else it was told why not: no such record, or several routes have one */
};

/* GO_ON with *key filled in, or the exit status of what was told. */
int selection_key_find(struct selection_key *key, const struct selection *selection,
		       const struct program *program, struct connect *connect, int64_t deadline)
    __attribute__((warn_unused_result));

#endif
