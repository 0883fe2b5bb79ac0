/* SPDX-License-Identifier: ISC */
/* What can be done about a record as it stands: the command to type, and what for. */
#ifndef ONCEWRAP_ADMIN_SHOW_ADVICE_H
#define ONCEWRAP_ADMIN_SHOW_ADVICE_H

#include "admin/common/connect.h"
#include "base/buffer.h"
#include "store/inspect.h"

#define ADVICE_MOST 3

struct advice {
	const char *what;      /* what it does, or, without a command, what will happen by itself */
	struct buffer command; /* "" : none; owned */
};

/* Fill `advice` in; the number of entries. A command stands as it is typed into a shell. */
size_t advice_give(const struct inspection *seen, const struct connect *connect,
		   struct advice advice[ADVICE_MOST]);

void advice_free(struct advice advice[ADVICE_MOST]);

#endif
