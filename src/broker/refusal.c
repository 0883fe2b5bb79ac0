/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/refusal.h"

#include "base/clock.h"
#include "base/encode.h"
#include "broker/sender.h"
#include "config/template.h"

#include <string.h>

static void add_member(struct buffer *body, const char *name, const char *value)
{
	buffer_printf(body, "\"%s\":\"", name);
	encode_json(body, value, strlen(value));
	buffer_append_text(body, "\",");
}

/* RFC 9457 3.1, and members of our own (3.2). */
static void write_problem(struct buffer *body, const struct template_values *values)
{
	buffer_append_byte(body, '{');
	add_member(body, "type", values->docs[0] != '\0' ? values->docs : "about:blank");
	add_member(body, "title", values->title);
	buffer_printf(body, "\"status\":%d,", values->status);
	add_member(body, "detail", values->detail);
	add_member(body, "code", values->code);
	if (values->location[0] != '\0')
		add_member(body, "location", values->location);
	if (values->first_seen[0] != '\0')
		add_member(body, "first_seen", values->first_seen);
	buffer_printf(body, "\"retryable\":%s}\n", values->retryable ? "true" : "false");
}

/* RFC 9110 5.5. It comes from the record, which more than we may have written. */
static bool fits_header(const char *value)
{
	for (; *value != '\0'; value++)
		if ((unsigned char)*value < 0x20 || *value == 0x7f)
			return false;
	return true;
}

static void write_headers(struct buffer *headers, const char *content_type,
			  const struct template_values *values)
{
	buffer_printf(headers,
		      "Content-Type: %s\r\n"
		      "Cache-Control: no-store\r\n",
		      content_type);
	if (values->retry_after > 0)
		buffer_printf(headers, "Retry-After: %d\r\n", values->retry_after);
	if (values->location[0] != '\0' && fits_header(values->location))
		buffer_printf(headers, "Location: %s\r\n", values->location);
	/* draft idempotency-key-header-07 2.7 asks for a link to the documentation. */
	if (values->docs[0] != '\0')
		buffer_printf(headers, "Link: <%s>; rel=\"describedby\"\r\n", values->docs);
}

int refusal_make(struct refusal *refusal, enum verdict verdict, const struct route *route,
		 const struct refusal_facts *facts)
{
	static const struct refusal_facts none = {0};
	const struct verdict_answer *answer = verdict_answer(verdict);
	const char *template = verdict_template(verdict, route);
	char first_seen[CLOCK_STAMP_LENGTH] = "";
	if (facts == NULL)
		facts = &none;
	if (facts->first_ms != 0)
		clock_format(first_seen, facts->first_ms);
	const struct template_values values = {
	    .code = verdict_name(verdict),
	    .title = answer->title,
	    .detail = facts->detail != NULL ? facts->detail : answer->detail,
	    .status = verdict_status(verdict, route),
	    .retry_after = answer->retry_after,
	    .docs = route != NULL ? route->documentation : "",
	    .retryable = answer->retryable,
	    .location = facts->location != NULL ? facts->location : "",
	    .first_seen = first_seen,
	};
	*refusal = (struct refusal){.status = values.status};
	if (template[0] != '\0') {
		const char *type = route->errors.content_type;
		write_headers(&refusal->headers, type, &values);
		template_expand(&refusal->body, template, type, &values);
	} else {
		write_headers(&refusal->headers, "application/problem+json", &values);
		write_problem(&refusal->body, &values);
	}
	return refusal->headers.failed || refusal->body.failed ? -1 : 0;
}

void refusal_free(struct refusal *refusal)
{
	buffer_free(&refusal->headers);
	buffer_free(&refusal->body);
}

int refusal_send(const struct reply *reply, const char *method, enum verdict verdict,
		 const struct route *route, const struct refusal_facts *facts)
{
	struct refusal refusal;
	if (refusal_make(&refusal, verdict, route, facts) == 0) {
		sender_send(reply, &(struct outgoing){.method = method,
						      .status = refusal.status,
						      .reason = "",
						      .headers = refusal.headers.data,
						      .headers_length = refusal.headers.length,
						      .body = refusal.body.data,
						      .body_length = refusal.body.length});
	}
	int status = refusal.status;
	refusal_free(&refusal);
	return status;
}
