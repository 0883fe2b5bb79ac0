/* SPDX-License-Identifier: ISC */
/*
 * Asking before many records are changed: --yes, --no-input, --dry-run. One named record needs no
 * question; many need y or --yes; everything needs --all=ALL (a program's own option). Without a
 * terminal to ask at and without --yes: EX_USAGE, naming the missing option.
 */
#ifndef ONCEWRAP_ADMIN_CONFIRM_H
#define ONCEWRAP_ADMIN_CONFIRM_H

#include "admin/common/options.h"
#include "admin/common/status.h"

#include <stdbool.h>
#include <stdint.h>

struct confirm {
	bool yes;      /* -y, --yes */
	bool no_input; /* --no-input: never ask */
	bool dry_run;  /* -n, --dry-run: only tell what would be done */
};

struct option_group confirm_options(struct confirm *confirm);

/* Ask `question` ("release 12 records") on the terminal itself, whatever the standard descriptors
 * are. GO_ON: yes, by --yes, or nothing will be done (--dry-run); else the exit status: 0 after a
 * no, EX_USAGE where nobody can be asked. */
int confirm_ask(const struct confirm *confirm, const char *program, const char *question)
    __attribute__((warn_unused_result));

#endif
