/* SPDX-License-Identifier: ISC */
/* How well a client likes a media type, by its Accept field (RFC 9110 12.5.1). */
#ifndef ONCEWRAP_ADMIN_PREFERENCE_H
#define ONCEWRAP_ADMIN_PREFERENCE_H

struct media_type {
	const char *type, *subtype;
	const char *version; /* its parameter of that name; NULL: has none */
};

/* How precisely a range names it; a better one's weight counts, whatever the order. */
enum preference_precision {
	PREFERENCE_NOT_AT_ALL,
	PREFERENCE_BY_ANYTHING,
	PREFERENCE_BY_TYPE,
	PREFERENCE_BY_NAME,
	PREFERENCE_BY_VERSION,
};

struct preference {
	enum preference_precision precision;
	int weight; /* thousandths; 0: not to be sent */
};

/* `accept`: the field's value; NULL: there is none. */
struct preference preference_of(const char *accept, const struct media_type *type);

#endif
