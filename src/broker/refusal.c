/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/refusal.h"

#include "base/encode.h"
#include "broker/sender.h"

#include <string.h>

static void add_member(struct buffer *body, const char *name, const char *value)
{
	buffer_printf(body, "\"%s\":\"", name);
	encode_json(body, value, strlen(value));
	buffer_append_text(body, "\",");
}

int refusal_make(struct refusal *refusal, enum verdict verdict, const struct route *route,
		 const char *detail)
{
	const struct verdict_answer *answer = verdict_answer(verdict);
	bool documented = route != NULL && route->documentation[0] != '\0';
	*refusal = (struct refusal){.status = verdict_status(verdict, route)};

	buffer_append_text(&refusal->headers, "Content-Type: application/problem+json\r\n"
					      "Cache-Control: no-store\r\n");
	if (answer->retry_after > 0)
		buffer_printf(&refusal->headers, "Retry-After: %d\r\n", answer->retry_after);
	if (documented) {
		/* draft idempotency-key-header-07 2.7 asks for a link to the documentation. */
		buffer_printf(&refusal->headers, "Link: <%s>; rel=\"describedby\"\r\n",
			      route->documentation);
	}

	buffer_append_byte(&refusal->body, '{');
	add_member(&refusal->body, "type", documented ? route->documentation : "about:blank");
	add_member(&refusal->body, "title", answer->title);
	buffer_printf(&refusal->body, "\"status\":%d,", refusal->status);
	add_member(&refusal->body, "detail", detail != NULL ? detail : answer->detail);
	add_member(&refusal->body, "code", verdict_name(verdict));
	buffer_printf(&refusal->body, "\"retryable\":%s}\n", answer->retryable ? "true" : "false");
	return refusal->headers.failed || refusal->body.failed ? -1 : 0;
}

void refusal_free(struct refusal *refusal)
{
	buffer_free(&refusal->headers);
	buffer_free(&refusal->body);
}

int refusal_send(const struct reply *reply, const char *method, enum verdict verdict,
		 const struct route *route, const char *detail)
{
	struct refusal refusal;
	if (refusal_make(&refusal, verdict, route, detail) == 0) {
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
