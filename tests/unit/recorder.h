/* SPDX-License-Identifier: ISC */
/* A reply that keeps what was written, for tests of what goes on the wire. */
#ifndef ONCEWRAP_TESTS_UNIT_RECORDER_H
#define ONCEWRAP_TESTS_UNIT_RECORDER_H

#include "base/buffer.h"
#include "broker/reply.h"

struct recorder {
	struct buffer wire;
	struct reply reply; /* writes into wire */
};

void recorder_init(struct recorder *recorder);
void recorder_free(struct recorder *recorder);

#endif
