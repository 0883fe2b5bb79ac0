/* SPDX-License-Identifier: ISC */
/*
 * A request's body as a route may look into it: parsed at most once, only when something asks, and
 * within limits. Bodies are a stranger's: what claims to be JSON, a form or multipart and is not,
 * or is nested or split beyond the limits, is DOCUMENT_MALFORMED and never a crash or a stall.
 */
#ifndef ONCEWRAP_IDEM_DOCUMENT_H
#define ONCEWRAP_IDEM_DOCUMENT_H

#include "base/buffer.h"
#include "base/digest.h"
#include "base/error.h"
#include "config/route.h"

#include <stddef.h>

struct document;

/* A view of `body` (borrowed, as is content_type: "" when absent). NULL when out of memory. */
struct document *document_new(const void *body, size_t length, const char *content_type);
void document_free(struct document *document); /* NULL is fine */

enum document_lookup {
	DOCUMENT_FOUND,     /* *value is it */
	DOCUMENT_ABSENT,    /* nothing by that name */
	DOCUMENT_REPEATED,  /* a form field that is there more than once */
	DOCUMENT_NO_SCALAR, /* there, but no string or number, or an uploaded file */
	DOCUMENT_MALFORMED, /* the body is not what it claims to be: document_is says why */
	DOCUMENT_FAILED,    /* out of memory */
};

struct document_value {
	const char *data; /* owned by the document; may hold NUL bytes */
	size_t length;
};

/*
 * RFC 6901. A string gives its text (UTF-8), a number its canonical form (idem/decimal.h). Any body
 * is tried, whatever its content type, since clients forget to set it; one that is no JSON and
 * claims to be something else is not MALFORMED, but has no such value. An empty body has none
 * either.
 */
enum document_lookup document_json(struct document *document, const char *pointer,
				   struct document_value *value);

/* A field of an application/x-www-form-urlencoded or multipart/form-data body, by its decoded name;
 * ABSENT where the content type is neither, or the body is empty. */
enum document_lookup document_field(struct document *document, const char *name,
				    struct document_value *value);

/*
 * Is the body well formed in this form, within limits? JSON: one text of RFC 8259, whatever the
 * content type; form and multipart: also by the content type. An empty body is a form, and nothing
 * else but raw. *why says where it is not, without showing the bytes; ERROR_MEMORY in it: that
 * could not be found out.
 */
bool document_is(struct document *document, enum route_body_form form, struct error *why);

/* The same for JSON; and for a form or multipart, whichever the content type says. */
bool document_is_json(struct document *document, struct error *why);
bool document_has_fields(struct document *document, struct error *why);

/*
 * SHA-256 of the body in this form: with BODY_FORM_RAW the bytes as they are (`raw_digest`, which
 * the caller has already), else the canonical form, a byte that names the form in front; a body
 * that is not of the form counts raw (a byte in front of its digest here too, so that no body can
 * be made to look like another's canonical form). -1 when out of memory.
 */
int document_digest(struct document *document, enum route_body_form form,
		    const unsigned char raw_digest[DIGEST_LENGTH],
		    unsigned char out[DIGEST_LENGTH]);

#endif
