/* SPDX-License-Identifier: ISC */
/* A saved request held against the fingerprint of a record, by the record's own scheme: is it the
 * same request, and if not, in what part it differs. */
#ifndef ONCEWRAP_ADMIN_SHOW_EXPLAIN_H
#define ONCEWRAP_ADMIN_SHOW_EXPLAIN_H

#include "admin/show/request_file.h"
#include "store/record.h"

enum explain_result {
	EXPLAIN_SAME,
	EXPLAIN_DIFFERENT,
	EXPLAIN_UNABLE, /* this version does not know the record's scheme, or is out of memory */
};

struct explanation {
	enum explain_result result;
	struct fingerprint ours; /* of the saved request; not with EXPLAIN_UNABLE */
};

struct explanation explain_request(const struct record *record, const struct request_file *request);

#endif
