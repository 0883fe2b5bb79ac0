/* SPDX-License-Identifier: ISC */
/*
 * A request saved as a file: its request line, header lines, an empty line, the body; the head also
 * as curl -v prints it, "> " before each line. Read into what a fingerprint is made of, as the
 * wrapper sees it behind a web server.
 */
#ifndef ONCEWRAP_ADMIN_SHOW_REQUEST_FILE_H
#define ONCEWRAP_ADMIN_SHOW_REQUEST_FILE_H

#include "base/buffer.h"
#include "base/error.h"
#include "idem/fingerprint.h"

struct request_file {
	struct fingerprint_source source; /* borrows from the rest */
	/* private */
	struct buffer text;
	struct params params;
	char **entries;
	size_t entry_capacity;
	char *path;
	unsigned char body_digest[DIGEST_LENGTH];
};

/* "-": standard input. 0, or -1 with *error, which names the file and, where there is one, the
 * line; freed by request_file_free in either case. */
int request_file_read(struct request_file *request, const char *name, struct error *error);

/* The same of a text that is there already. */
int request_file_parse(struct request_file *request, const void *text, size_t length,
		       struct error *error);

void request_file_free(struct request_file *request);

#endif
