/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

static int write_all(const char *program, const struct buffer *out)
{
	if (out->failed) {
		fprintf(stderr, "%s: out of memory\n", program);
		return EX_SOFTWARE;
	}
	for (size_t done = 0; done < out->length;) {
		ssize_t count = write(STDOUT_FILENO, out->data + done, out->length - done);
		if (count >= 0)
			done += (size_t)count;
		else if (errno == EPIPE)
			return EX_OK;
		else if (errno != EINTR) {
			fprintf(stderr, "%s: standard output: %s\n", program, strerror(errno));
			return EX_CANTCREAT;
		}
	}
	return GO_ON;
}

int writer_write(const char *program, struct buffer *out)
{
	int status = write_all(program, out);
	if (status == GO_ON)
		buffer_clear(out);
	else
		buffer_free(out);
	return status;
}

int writer_print(const char *program, struct buffer *out)
{
	int status = write_all(program, out);
	buffer_free(out);
	return status == GO_ON ? EX_OK : status;
}
