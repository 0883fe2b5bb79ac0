/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/capture.h"

#include <stdint.h>

int capture_init(struct capture *capture, const struct config *config)
{
	*capture = (struct capture){
	    .body = body_new(&(struct body_limits){.memory = (size_t)config->limits.body_memory,
						   .total = (uint64_t)config->limits.max_output,
						   .directory = config->spool.directory},
			     false),
	};
	return capture->body == NULL ? -1 : 0;
}

bool capture_take(void *context, const void *data, size_t length)
{
	struct capture *capture = context;
	switch (body_append(capture->body, data, length, &capture->error)) {
	case BODY_OK:
		return false;
	case BODY_TOO_LARGE:
		error_set(&capture->error, ERROR_LIMIT,
			  "the answer is larger than limits.max_output");
		break;
	case BODY_FAILED:
		break;
	}
	capture->failed = true;
	return true;
}

void capture_finish(struct capture *capture)
{
	if (!capture->failed &&
	    body_view(capture->body, &capture->data, &capture->length, &capture->error) != 0)
		capture->failed = true;
}

void capture_free(struct capture *capture)
{
	body_free(capture->body);
}
