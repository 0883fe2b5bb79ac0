/* SPDX-License-Identifier: ISC */
/* The answer that a person gives in a handler's stead: --status, --header, --body-file. */
#ifndef ONCEWRAP_ADMIN_CHANGE_ANSWER_H
#define ONCEWRAP_ADMIN_CHANGE_ANSWER_H

#include "admin/common/options.h"
#include "admin/common/status.h"
#include "base/buffer.h"
#include "config/config.h"
#include "store/store.h"

struct answer {
	int64_t status; /* 0: not given, so there is no answer, only that it was done */
	const char *body_file;
	struct buffer lines; /* "Name: value\r\n" */
	struct buffer headers, body, location;
};

/* Behind an answer that begins as { 0 }. */
struct option_group answer_options(struct answer *answer);

/* Was any of them given? */
bool answer_is_given(const struct answer *answer);

/* What is wrong with them together; GO_ON: nothing. Before anything is done. */
int answer_check(const struct answer *answer, const struct program *program)
    __attribute__((warn_unused_result));

/* Read the body and put it together, within the configured limits and `largest`, the bytes that a
 * statement can carry. GO_ON, or the exit status of what was told. */
int answer_compose(struct answer *answer, const char *program, const struct config_limits *limits,
		   uint64_t largest) __attribute__((warn_unused_result));

/* As it is stored, without a retention; borrowed. Where there is none: RECORD_NOT_KEPT. */
struct store_answer answer_to_store(const struct answer *answer);

void answer_free(struct answer *answer);

#endif
