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

enum route_mode {
	ROUTE_ENFORCE,
	ROUTE_OBSERVE, /* always runs; counts and logs what would have happened */
	ROUTE_OFF,
};
enum route_scope { SCOPE_TENANT, SCOPE_ROUTE, SCOPE_METHOD_PATH };
enum route_key_syntax { KEY_SYNTAX_ANY, KEY_SYNTAX_RAW, KEY_SYNTAX_STRUCTURED };
enum route_key_charset { KEY_CHARSET_ASCII, KEY_CHARSET_UTF8 };
enum route_tenant_missing { TENANT_REFUSE, TENANT_ANONYMOUS };
enum route_in_flight { IN_FLIGHT_REJECT, IN_FLIGHT_WAIT };
enum route_outcome { OUTCOME_RELEASE, OUTCOME_STORE, OUTCOME_UNKNOWN, OUTCOME_BY_STATUS };
enum route_lapse { LAPSE_RERUN, LAPSE_UNKNOWN };
enum route_store_down { STORE_DOWN_REFUSE, STORE_DOWN_RUN };
enum route_body_form { BODY_FORM_RAW, BODY_FORM_JSON, BODY_FORM_FORM, BODY_FORM_MULTIPART };
enum route_keep {
	KEEP_FULL,      /* the whole answer */
	KEEP_REFERENCE, /* what the handler's Once-Reference names */
	KEEP_MARKER,    /* that it was done, and with which status */
};

/* Values of number settings that stand for "none". */
#define REPLAY_STATUS_ORIGINAL 0
#define EXIT_NOT_DONE_NONE     (-1)
#define WINDOW_FOR_EVER        INT64_MAX

/* The longest retention, ms. */
#define ROUTE_MOST_RETENTION (INT64_C(3650) * 24 * 60 * 60 * 1000)

/* "key.required": yes, no, or a list of methods. */
struct route_required {
	bool always;
	struct string_list methods;
};

/* Longest name of a header or variable in a source: what stands for it in a tenant's text must fit.
 */
#define SOURCE_MAX_NAME 200

/* "key.sources", "tenant.sources" and "natural_key.values", parsed: kind and what comes after the
 * colon. */
enum source_kind {
	SOURCE_HEADER,
	SOURCE_ENV,
	SOURCE_LITERAL,
	SOURCE_JSON,   /* RFC 6901 JSON Pointer into the body */
	SOURCE_FORM,   /* field of a form body, urlencoded or multipart */
	SOURCE_COOKIE, /* by name */
};
struct source {
	enum source_kind kind;
	char *name; /* owned: name of the header, variable, field or cookie, the pointer, or the
		       literal itself */
};
struct source_list {
	struct source *items;
	size_t count;
};

/* Which parts go into the fingerprint, a bit each; request headers come beside them
 * (fingerprint_headers), in what form the body is compared is fingerprint_body. */
enum fingerprint_part {
	FINGERPRINT_METHOD = 1 << 0,
	FINGERPRINT_PATH = 1 << 1,
	FINGERPRINT_QUERY = 1 << 2,
	FINGERPRINT_CONTENT_TYPE = 1 << 3,
	FINGERPRINT_BODY = 1 << 4,
};
#define FINGERPRINT_PARTS         5
#define FINGERPRINT_MOST_HEADERS  3   /* eight parts in all: what the column holds */
#define FINGERPRINT_SCHEME_LENGTH 128 /* of the text that names them, with its NUL */

/* HTTP status of each refusal ("status.in_flight" and so on). */
struct route_status {
	int64_t in_flight, mismatch, unknown, not_kept, expired, duplicate, key_missing,
	    key_invalid, tenant_missing, too_large, bad_body, store_down;
};

/* Body templates of refusals ("errors.in_flight" and so on); "": errors.body, and where that is
 * empty too, problem+json. See config/template.h for the placeholders. */
struct route_errors {
	char *content_type; /* of the templates */
	char *body;         /* of every refusal that has none of its own */
	char *in_flight, *mismatch, *unknown, *not_kept, *expired, *duplicate, *key_missing,
	    *key_invalid, *tenant_missing, *too_large, *bad_body, *store_down;
};

struct route {
	char *name;
	char *preset; /* whose settings lie under the route's own; "": none */
	char *path;   /* glob: `*` any bytes, `?` one byte, `[...]` a set */
	char *host;   /* glob over the Host header without port or brackets, any case; "": any */
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

	int64_t fingerprint_parts;              /* enum fingerprint_part, or-ed */
	struct string_list fingerprint_headers; /* names, lower case: "header:X" among the parts */
	enum route_body_form fingerprint_body;
	bool require_json; /* a body that is not JSON is refused before the claim */

	enum route_in_flight in_flight;
	int64_t wait_timeout;
	int64_t max_waiters; /* 0: half the workers; always below their number */

	struct route_status status;
	struct string_list store_statuses;  /* "*", "2xx", "404", "!" in front excepts; last wins */
	enum route_outcome on_crash;        /* release, store, unknown */
	enum route_outcome on_timeout;      /* release, store, unknown */
	enum route_outcome on_exit_nonzero; /* by_status, release, store, unknown */
	enum route_lapse on_lapse;
	/* This exit status, with no output and standard input unread, means that nothing was done:
	 * release. EXIT_NOT_DONE_NONE: none does. */
	int64_t exit_not_done;

	enum route_keep keep;
	enum route_keep oversize; /* of an answer over limits.max_answer: reference or marker */
	bool rebuild; /* the handler can give an answer again that was not kept (ONCE_REPLAY=1) */

	int64_t replay_status;   /* of a replayed 2xx; REPLAY_STATUS_ORIGINAL: as it was */
	char *first_seen_header; /* name of a field that tells when the record was made; "": none */
	struct string_list replay_headers; /* "Name: value" lines put on a replay */
	bool first_header;                 /* the same names with "false" on a first answer */
	struct string_list drop_headers;   /* names left out of what is stored */

	int64_t retention;
	int64_t lease;     /* renewed each third */
	int64_t tombstone; /* how long after its retention a key is told "expired"; 0: not at all */
	struct source_list natural_values; /* together they name the operation; none: not used */
	int64_t natural_window;            /* ms; WINDOW_FOR_EVER */
	enum route_store_down store_down;
	unsigned counters;   /* the number of its counters (metrics/count.h); 0: not asked for */
	char *documentation; /* URL for the problem+json `type`; "": about:blank */
	struct route_errors errors;
};

/* The first route whose path and host globs match; NULL when none does. `host` may be NULL. */
const struct route *route_find(const struct config *config, const char *path, const char *host);

/* Is this method guarded by the route, or observed? (Always false in mode off.) */
bool route_guards(const struct route *route, const char *method);

/* Is a key compulsory for this method? */
bool route_requires_key(const struct route *route, const char *method);

/* Does an answer of this status stay tied to its key (settle.store_statuses)? */
bool route_stores_status(const struct route *route, int status);

#endif
