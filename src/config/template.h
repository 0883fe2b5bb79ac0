/* SPDX-License-Identifier: ISC */
/*
 * Bodies of refusals as a site writes them: text with placeholders, `{code} {title} {detail}
 * {status} {retry_after} {retryable} {docs} {location} {first_seen}`, each escaped for the content
 * type. A brace that does not enclose a word of small letters and underscores stands for itself, so
 * JSON needs no escapes. The text itself is the site's, and goes out as it is written.
 */
#ifndef ONCEWRAP_CONFIG_TEMPLATE_H
#define ONCEWRAP_CONFIG_TEMPLATE_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>

struct template_values {
	const char *code;
	const char *title;
	const char *detail;
	int status;
	int retry_after;        /* seconds; 0 gives "0" */
	const char *docs;       /* URL, or "" */
	bool retryable;         /* "true" or "false", which is JSON as it stands */
	const char *location;   /* "" when not known */
	const char *first_seen; /* RFC 3339, or "" */
};

/* Is every placeholder known? 0, or -1 with *error naming the first that is not, and those that
 * are. */
int template_check(const char *text, struct error *error);

/* Can values be escaped for this content type (parameters after it are allowed): JSON (also
 * `+json`), XML and HTML (also `+xml`), text/plain? 0, or -1 with *error. */
int template_check_content_type(const char *content_type, struct error *error);

/*
 * Append the expansion. Values are escaped for what they are put in: the inside of a JSON string
 * (base/encode.h: control bytes and bad UTF-8 become \u escapes); XML and HTML text or a quoted
 * attribute (entities; control characters left out, bad UTF-8 replaced); text/plain as they are,
 * control characters left out. Takes time in proportion to text and values. -1 when out of memory.
 */
int template_expand(struct buffer *out, const char *text, const char *content_type,
		    const struct template_values *values);

#endif
