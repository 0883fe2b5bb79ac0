/* SPDX-License-Identifier: ISC */
/*
 * The caller's key: found by the route's sources, taken out of its syntax, and held against length
 * and charset before anything touches the database (cases C18, C19).
 */
#ifndef ONCEWRAP_IDEM_KEY_H
#define ONCEWRAP_IDEM_KEY_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/params.h"
#include "config/route.h"
#include "idem/document.h"

enum key_result {
	KEY_FOUND,   /* the key is in *key */
	KEY_ABSENT,  /* no source has one */
	KEY_INVALID, /* *why says what is wrong, without showing the bytes */
};

/* The key of a request: the first of the route's sources that is present (present and empty is
 * invalid, not absent). A source that is present twice, or joined by a comma as web servers join
 * repeated headers, is invalid. */
enum key_result key_read(const struct route *route, const struct params *params,
			 struct document *document, struct buffer *key, struct error *why);

/*
 * One header value: `any` takes an RFC 8941 String item (a value that begins with a double quote)
 * or a bare key; `structured` only the former, `raw` the whole value as it stands. Blanks around
 * are not part of it; parameters after a structured String are allowed and ignored (draft
 * idempotency-key-header-07 2.1).
 */
enum key_result key_parse(const struct route *route, const char *value, struct buffer *key,
			  struct error *why);

/* One value of a body or a cookie: the text itself is the key, whatever the route's syntax; length
 * and charset hold as ever. */
enum key_result key_take(const struct route *route, const void *value, size_t length,
			 struct buffer *key, struct error *why);

#endif
