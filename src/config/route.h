/* SPDX-License-Identifier: ISC */
/* A route: which requests it takes, and the policy for them; and the match itself. */
#ifndef ONCEWRAP_CONFIG_ROUTE_H
#define ONCEWRAP_CONFIG_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;

struct string_list {
	char **items; /* owned, as are the strings */
	size_t count;
};

enum route_mode { ROUTE_ENFORCE, ROUTE_OFF };
enum route_scope { SCOPE_TENANT, SCOPE_ROUTE, SCOPE_METHOD_PATH };
enum route_key_syntax { KEY_SYNTAX_ANY, KEY_SYNTAX_RAW, KEY_SYNTAX_STRUCTURED };
enum route_key_charset { KEY_CHARSET_ASCII, KEY_CHARSET_UTF8 };
enum route_tenant_missing { TENANT_REFUSE, TENANT_ANONYMOUS };
enum route_in_flight { IN_FLIGHT_REJECT, IN_FLIGHT_WAIT };
enum route_outcome { OUTCOME_RELEASE, OUTCOME_STORE, OUTCOME_UNKNOWN, OUTCOME_BY_STATUS };
enum route_lapse { LAPSE_RERUN, LAPSE_UNKNOWN };
enum route_store_down { STORE_DOWN_REFUSE, STORE_DOWN_RUN };

/* "key.required": yes, no, or a list of methods. */
struct route_required {
	bool always;
	struct string_list methods;
};

/* Longest name of a header or variable in a source: what stands for it in a tenant's text must fit. */
#define SOURCE_MAX_NAME 200

/* "key.sources" and "tenant.sources", parsed: kind and what comes after the colon. */
enum source_kind { SOURCE_HEADER, SOURCE_ENV, SOURCE_LITERAL };
struct source {
	enum source_kind kind;
	char *name; /* owned: header name, variable name, or the literal itself */
};
struct source_list {
	struct source *items;
	size_t count;
};

/* Which parts go into the fingerprint, a bit each; FINGERPRINT_BODY is the raw body. */
enum fingerprint_part {
	FINGERPRINT_METHOD = 1 << 0,
	FINGERPRINT_PATH = 1 << 1,
	FINGERPRINT_QUERY = 1 << 2,
	FINGERPRINT_CONTENT_TYPE = 1 << 3,
	FINGERPRINT_BODY = 1 << 4,
};
#define FINGERPRINT_PARTS 5

/* HTTP status of each refusal ("status.in_flight" and so on). */
struct route_status {
	int64_t in_flight, mismatch, unknown, not_kept, key_missing, key_invalid, tenant_missing,
	    too_large, store_down;
};

struct route {
	char *name;
	char *path; /* glob: `*` any bytes, `?` one byte, `[...]` a set */
	char *host; /* glob over the Host header without port or brackets, any case; "": any */
	struct string_list methods; /* those that are guarded */
	enum route_mode mode;
	enum route_scope scope;

	struct source_list key_sources;
	struct route_required key_required;
	enum route_key_syntax key_syntax;
	enum route_key_charset key_charset;
	int64_t key_min_length;
	int64_t key_max_length;

	struct source_list tenant_sources;
	enum route_tenant_missing tenant_missing;

	int64_t fingerprint_parts; /* enum fingerprint_part, or-ed */

	enum route_in_flight in_flight;
	int64_t wait_timeout;
	int64_t max_waiters; /* 0: half the workers; always below their number */

	struct route_status status;
	struct string_list store_statuses;  /* "*", "2xx", "404", "!" in front excepts; last wins */
	enum route_outcome on_crash;        /* release, store, unknown */
	enum route_outcome on_timeout;      /* release, store, unknown */
	enum route_outcome on_exit_nonzero; /* by_status, release, store, unknown */
	enum route_lapse on_lapse;

	struct string_list replay_headers; /* "Name: value" lines put on a replay */
	bool first_header;                 /* the same names with "false" on a first answer */
	struct string_list drop_headers;   /* names left out of what is stored */

	int64_t retention;
	int64_t lease; /* renewed each third */
	enum route_store_down store_down;
	char *documentation; /* URL for the problem+json `type`; "": about:blank */
};

/* The first route whose path and host globs match; NULL when none does. `host` may be NULL. */
const struct route *route_find(const struct config *config, const char *path, const char *host);

/* Is this method guarded by the route? (Always false in mode off.) */
bool route_guards(const struct route *route, const char *method);

/* Is a key compulsory for this method? */
bool route_requires_key(const struct route *route, const char *method);

/* Does an answer of this status stay tied to its key (settle.store_statuses)? */
bool route_stores_status(const struct route *route, int status);

#endif
