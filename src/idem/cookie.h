/* SPDX-License-Identifier: ISC */
/* Cookies of a request (RFC 6265 section 4.2). */
#ifndef ONCEWRAP_IDEM_COOKIE_H
#define ONCEWRAP_IDEM_COOKIE_H

#include "base/params.h"

#include <stddef.h>

struct cookie {
	const char *value; /* owned by the parameters; without the quotes around it */
	size_t length;
};

/* How many cookies have that name, in all the Cookie fields there are (RFC 9113 8.2.3 allows
 * several); *cookie is the first of them. Names have a case. */
size_t cookie_find(const struct params *params, const char *name, struct cookie *cookie);

#endif
