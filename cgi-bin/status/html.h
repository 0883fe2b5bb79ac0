/* SPDX-License-Identifier: ISC */
/*
 * HTML that cannot be broken: elements are opened and closed by name, and whatever stands in them
 * or in their attributes is escaped on its way. The one text that is not is the style sheet, which
 * is a part of the program.
 */
#ifndef ONCEWRAP_STATUS_HTML_H
#define ONCEWRAP_STATUS_HTML_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

#define HTML_MOST_DEPTH 16

struct html {
	struct buffer out;
	const char *open[HTML_MOST_DEPTH]; /* elements, the outermost first; private */
	size_t depth;
};

/* The document type, and the root element, in English. */
void html_begin(struct html *html);
/* Close what is open. */
void html_end(struct html *html);

/* Attributes come as name and value, and a NULL behind the last. */
void html_open(struct html *html, const char *element, ...) __attribute__((sentinel));
void html_close(struct html *html);
/* One that holds nothing, and is not closed: meta. */
void html_void(struct html *html, const char *element, ...) __attribute__((sentinel));
/* Opened, filled with that text, and closed. */
void html_leaf(struct html *html, const char *element, const char *text, ...)
    __attribute__((sentinel));
void html_style(struct html *html, const char *sheet);

/* Our own words. */
void html_text(struct html *html, const char *text);
void html_printf(struct html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Bytes that came from somewhere else: what could play with a reader's eyes is shown as \xNN. */
void html_foreign(struct html *html, const void *data, size_t length);

/* What a buffer holds, as our own words; it is emptied. */
void html_take(struct html *html, struct buffer *text);

#endif
