/* SPDX-License-Identifier: ISC */
/* Commands as somebody types them at a shell of this host. */
#ifndef ONCEWRAP_STATUS_COMMAND_H
#define ONCEWRAP_STATUS_COMMAND_H

#include "base/buffer.h"

/* `command`, with the configuration's file behind it where that is not the default one. */
void command_append(struct buffer *out, const char *command, const char *file);

#endif
