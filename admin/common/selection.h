/* SPDX-License-Identifier: ISC */
/*
 * The records that somebody names to an admin program: by id, by an unambiguous prefix of at least
 * eight hex digits, one a line on standard input (`-`), or by key, tenant and, where the scope
 * needs it, route: the id is then computed as the wrapper does.
 */
#ifndef ONCEWRAP_ADMIN_SELECTION_H
#define ONCEWRAP_ADMIN_SELECTION_H

#include "admin/common/connect.h"
#include "admin/common/options.h"
#include "base/digest.h"

#include <stdbool.h>
#include <stddef.h>

#define SELECTION_LEAST_DIGITS 8

struct selection {
	const char *key, *tenant, *route; /* --key, --tenant, --route; NULL: not given */
	char *const *operands;            /* ids, prefixes, "-"; borrowed from argv */
	size_t operand_count;
	bool ever; /* also records that have gone, and of which once_audit still tells */
	unsigned char (*ids)[DIGEST_LENGTH]; /* found; owned */
	size_t count, capacity;
	size_t
	    missing; /* named and not found, or ambiguous: told on standard error, each by itself */
	/* private: what was named */
	struct selection_name *names;
	size_t name_count, name_capacity;
	bool named;
};

/* --key, --tenant, --route behind a selection that begins as { 0 }. */
struct option_group selection_options(struct selection *selection);

/* Was anything named at all? */
bool selection_is_given(const struct selection *selection);

/*
 * See what was named, standard input read: before connect_open, so that a mistake on the command
 * line is told whatever the database does. GO_ON, or the exit status of what was told: nothing was
 * named, something that is no id (EX_USAGE; on standard input EX_DATAERR), a contradiction (--key
 * and ids). An empty standard input names nothing, which is no mistake.
 */
int selection_read(struct selection *selection, const struct program *program)
    __attribute__((warn_unused_result));

/*
 * Find what was named, each once, in the order named; selection_read is done first where it has not
 * been. GO_ON also where some were not found (selection->missing counts them); else the exit status
 * of what was told.
 */
int selection_find(struct selection *selection, const struct program *program,
		   struct connect *connect) __attribute__((warn_unused_result));

void selection_free(struct selection *selection);

#endif
