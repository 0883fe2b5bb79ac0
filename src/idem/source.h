/* SPDX-License-Identifier: ISC */
/* One place where a key, a tenant or a natural value is looked for: a configured source, and the
 * request's parameters and body. */
#ifndef ONCEWRAP_IDEM_SOURCE_H
#define ONCEWRAP_IDEM_SOURCE_H

#include "base/params.h"
#include "config/route.h"
#include "idem/document.h"

enum source_presence {
	SOURCE_ABSENT,
	SOURCE_PRESENT,  /* *value is it; a header may be there and be empty */
	SOURCE_REPEATED, /* more than once: which one is meant cannot be known (case C19) */
	SOURCE_UNUSABLE, /* there, but no text: an object, say, or a body that is not what it claims
			  */
	SOURCE_FAILED,   /* out of memory */
};

struct source_value {
	const char *data; /* owned by the parameters or the document */
	size_t length;    /* NUL bytes may come out of JSON and forms */
};

/* `document` may be NULL: then sources that look into the body are absent. */
enum source_presence source_read(const struct source *source, const struct params *params,
				 struct document *document, struct source_value *value);

/* Why a presence other than SOURCE_PRESENT gave no value, "header X: ..." and none of the bytes. */
void source_explain(const struct source *source, enum source_presence presence,
		    struct document *document, struct error *why);

/* "header" and so on, as the configuration spells it. */
const char *source_kind_name(enum source_kind kind);

/* Does any source of the list look into the body? */
bool source_list_needs_body(const struct source_list *list);

#endif
