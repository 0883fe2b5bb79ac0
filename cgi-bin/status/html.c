/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/html.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "admin/common/harmless.h"

static void escape(struct buffer *out, const void *data, size_t length)
{
	const unsigned char *bytes = data;
	for (size_t i = 0; i < length; i++)
		switch (bytes[i]) {
		case '&':
			buffer_append_text(out, "&amp;");
			break;
		case '<':
			buffer_append_text(out, "&lt;");
			break;
		case '>':
			buffer_append_text(out, "&gt;");
			break;
		case '"':
			buffer_append_text(out, "&quot;");
			break;
		case '\'':
			buffer_append_text(out, "&#39;");
			break;
		default:
			buffer_append_byte(out, bytes[i]);
		}
}

/* Elements that stand within a line: a break before them would be seen as a blank. */
static bool is_inline(const char *element)
{
	static const char *const names[] = {"a", "code", "small", "span", "strong", "time"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(element, names[i]) == 0)
			return true;
	return false;
}

static void start(struct html *html, const char *element, va_list attributes)
{
	if (!is_inline(element))
		buffer_append_byte(&html->out, '\n');
	buffer_printf(&html->out, "<%s", element);
	for (const char *name; (name = va_arg(attributes, const char *)) != NULL;) {
		const char *value = va_arg(attributes, const char *);
		buffer_printf(&html->out, " %s=\"", name);
		escape(&html->out, value, strlen(value));
		buffer_append_byte(&html->out, '"');
	}
	buffer_append_byte(&html->out, '>');
}

static void push(struct html *html, const char *element)
{
	assert(html->depth < HTML_MOST_DEPTH);
	html->open[html->depth++] = element;
}

void html_begin(struct html *html)
{
	buffer_append_text(&html->out, "<!DOCTYPE html>");
	html_open(html, "html", "lang", "en", NULL);
}

void html_end(struct html *html)
{
	while (html->depth > 0)
		html_close(html);
	buffer_append_byte(&html->out, '\n');
}

void html_open(struct html *html, const char *element, ...)
{
	va_list attributes;
	va_start(attributes, element);
	start(html, element, attributes);
	va_end(attributes);
	push(html, element);
}

void html_close(struct html *html)
{
	assert(html->depth > 0);
	buffer_printf(&html->out, "</%s>", html->open[--html->depth]);
}

void html_void(struct html *html, const char *element, ...)
{
	va_list attributes;
	va_start(attributes, element);
	start(html, element, attributes);
	va_end(attributes);
}

void html_leaf(struct html *html, const char *element, const char *text, ...)
{
	va_list attributes;
	va_start(attributes, text);
	start(html, element, attributes);
	va_end(attributes);
	push(html, element);
	html_text(html, text);
	html_close(html);
}

void html_style(struct html *html, const char *sheet)
{
	html_open(html, "style", NULL);
	buffer_append_text(&html->out, sheet);
	html_close(html);
}

void html_text(struct html *html, const char *text)
{
	escape(&html->out, text, strlen(text));
}

void html_printf(struct html *html, const char *format, ...)
{
	struct buffer text = {0};
	va_list arguments;
	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	html_take(html, &text);
}

void html_foreign(struct html *html, const void *data, size_t length)
{
	struct buffer text = {0};
	harmless_append(&text, data, length, true);
	html_take(html, &text);
}

void html_take(struct html *html, struct buffer *text)
{
	escape(&html->out, text->data, text->length);
	html->out.failed = html->out.failed || text->failed;
	buffer_free(text);
}
