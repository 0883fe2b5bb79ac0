/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/show/explain.h"

#include <string.h>

struct explanation explain_request(const struct record *record, const struct request_file *request)
{
	struct explanation explanation = {.result = EXPLAIN_UNABLE};
	if (fingerprint_by_scheme(record->scheme, &request->source, &explanation.ours) < 0)
		return explanation;
	bool same = memcmp(explanation.ours.digest, record->fingerprint, DIGEST_LENGTH) == 0;
	explanation.result = same ? EXPLAIN_SAME : EXPLAIN_DIFFERENT;
	return explanation;
}
