/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "tests/unit/recorder.h"

static int record_write(void *context, const void *data, size_t length)
{
	struct recorder *recorder = context;
	return buffer_append(&recorder->wire, data, length);
}

static int record_flush(void *context)
{
	(void)context;
	return 0;
}

static void record_complain(void *context, const char *text)
{
	(void)context;
	(void)text;
}

static int no_descriptor(void *context)
{
	(void)context;
	return -1;
}

void recorder_init(struct recorder *recorder)
{
	*recorder = (struct recorder){
	    .reply = {recorder, record_write, record_flush, record_complain, no_descriptor},
	};
}

void recorder_free(struct recorder *recorder)
{
	buffer_free(&recorder->wire);
}
