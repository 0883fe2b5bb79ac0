/* SPDX-License-Identifier: ISC */
/*
 * A body of multipart/form-data (RFC 7578), cut into its parts; nothing of a part's content is
 * decoded or copied. What comes before the first boundary and behind the last is ignored (RFC 2046
 * 5.1.1), other header fields of a part too (RFC 7578 4.8).
 *
 * Refused: a line that begins with the boundary and goes on, which some programs take for one and
 * others do not; a Content-Transfer-Encoding that is an encoding (RFC 7578 4.7), whose content
 * would mean something else than it says; a part without a name, or with two.
 */
#ifndef ONCEWRAP_IDEM_MULTIPART_H
#define ONCEWRAP_IDEM_MULTIPART_H

#include "base/buffer.h"
#include "base/digest.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define MULTIPART_MOST_PARTS        256
#define MULTIPART_MOST_HEADER_BYTES 8192 /* of a part, with the empty line behind them */
#define MULTIPART_MOST_BOUNDARY     70   /* RFC 2046 5.1.1 */

/* Text that may be absent, which is not the same as empty. */
struct multipart_text {
	bool present;
	struct buffer text;
};

struct multipart_part {
	struct buffer name;
	struct multipart_text file_name;          /* `filename` */
	struct multipart_text extended_file_name; /* `filename*`, as sent: not decoded */
	struct multipart_text content_type;
	const unsigned char *content; /* in the body */
	size_t content_length;
};

struct multipart {
	struct multipart_part *parts; /* in their order, owned */
	size_t count;
};

/* Is this the content type of such a body, whatever its boundary? */
bool multipart_is(const char *content_type);

/* `body` must outlive *multipart. 0; or -1 with *why, which shows none of the bytes: ERROR_INPUT,
 * ERROR_LIMIT, ERROR_MEMORY. *multipart need not be freed then. */
int multipart_parse(struct multipart *multipart, const char *content_type, const void *body,
		    size_t length, struct error *why);
void multipart_free(struct multipart *multipart);

/* An uploaded file, not a field of the form? */
bool multipart_is_file(const struct multipart_part *part);

/* Add what the parts say, in their order: names, file names, content types, contents; the boundary
 * is not in it, so that a client which makes a new one for each try says the same. */
void multipart_digest(const struct multipart *multipart, struct digest *digest);

#endif
