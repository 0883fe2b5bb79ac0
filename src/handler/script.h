/* SPDX-License-Identifier: ISC */
/*
 * Which program a request means, by the one rule that covers every web server (docs/design.md
 * section 6): strip proxy:SCHEME://authority from SCRIPT_FILENAME, collapse leading slashes, find
 * the regular file that the path leads to, as it is or else decoded; what is left of the path is
 * PATH_INFO and comes off SCRIPT_NAME. Without SCRIPT_FILENAME: DOCUMENT_ROOT and SCRIPT_NAME,
 * which every server sends decoded. The real path must lie under an allowed root.
 */
#ifndef ONCEWRAP_HANDLER_SCRIPT_H
#define ONCEWRAP_HANDLER_SCRIPT_H

#include "base/error.h"
#include "base/params.h"
#include "config/route.h"

struct script {
	char *file;      /* absolute path, as found (not resolved), owned */
	char *directory; /* its directory, owned */
	char *name;      /* SCRIPT_NAME, rebuilt and decoded, owned */
	char *path_info; /* "" when none, decoded, owned */
};

enum script_result {
	SCRIPT_FOUND,
	SCRIPT_NOT_FOUND, /* 404: missing, a directory, not a regular file, no name sent */
	SCRIPT_FORBIDDEN, /* 403: not executable, outside the roots, nph-, `..`, control bytes */
	SCRIPT_FAILED,    /* 500: out of memory */
};

/* *script is all NULL unless SCRIPT_FOUND. *error names the file, for the log only: never for the
 * client (case C49). */
enum script_result script_find(struct script *script, const struct params *params,
			       const struct string_list *roots, struct error *error);

/* The fixed program of `--handler FILE`, wherever it lies: SCRIPT_NAME and PATH_INFO as the web
 * server sent them. A relative FILE is meant from the working directory. */
enum script_result script_fixed(struct script *script, const char *file,
				const struct params *params, struct error *error);

void script_free(struct script *script);

#endif
