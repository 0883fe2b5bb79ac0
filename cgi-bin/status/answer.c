/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/answer.h"

#include <openssl/evp.h>
#include <string.h>

#include "admin/common/cgi.h"
#include "base/digest.h"
#include "cgi-bin/status/report_html.h"

static const char *const types[] = {
    [STATUS_HTML] = "text/html; charset=utf-8",
    [STATUS_JSON] = "application/json",
    [STATUS_TEXT] = "text/plain; charset=utf-8",
};

/* Nothing is loaded and nothing runs; the one style sheet is known by its hash (CSP level
 * 3, 6.7.3).
 */
static void append_policy(struct buffer *out)
{
	unsigned char digest[DIGEST_LENGTH], text[4 * ((DIGEST_LENGTH + 2) / 3) + 1];
	digest_of(style_text, strlen(style_text), digest);
	EVP_EncodeBlock(text, digest, DIGEST_LENGTH);
	buffer_printf(out,
		      "Content-Security-Policy: default-src 'none'; style-src 'sha256-%s';"
		      " base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n",
		      (const char *)text);
}

void answer_page(struct buffer *out, int status, enum status_format format,
		 const struct buffer *body, bool head)
{
	buffer_printf(out,
		      "Status: %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		      "Cache-Control: no-store\r\nVary: Accept\r\n"
		      "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
		      "X-Robots-Tag: noindex\r\n",
		      status, cgi_reason(status), types[format], body->length);
	append_policy(out);
	if (status == 405)
		buffer_append_text(out, "Allow: GET, HEAD\r\n");
	buffer_append_text(out, "\r\n");
	if (!head)
		buffer_append(out, body->data, body->length);
	out->failed = out->failed || body->failed;
}

void answer_line(struct buffer *out, int status, const char *line, bool head)
{
	struct buffer body = {0};
	buffer_printf(&body, "%s\n", line);
	answer_page(out, status, STATUS_TEXT, &body, head);
	buffer_free(&body);
}
