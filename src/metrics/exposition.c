/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "metrics/exposition.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { MICROSECONDS = 1000000 };

/*
 * The type's name in either format, and the end of the family's name that OpenMetrics leaves out of
 * all lines but the samples (OpenMetrics 1.0, "Counter", "Info"). To 0.0.4 an info is a gauge.
 */
static const struct kind {
	const char *text, *openmetrics;
	const char *suffix;
} kinds[] = {
    [EXPOSITION_COUNTER] = {"counter", "counter", "_total"},
    [EXPOSITION_GAUGE] = {"gauge", "gauge", ""},
    [EXPOSITION_HISTOGRAM] = {"histogram", "histogram", ""},
    [EXPOSITION_INFO] = {"gauge", "info", "_info"},
};

static const char *const content_types[] = {
    [EXPOSITION_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
    [EXPOSITION_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

const char *exposition_content_type(enum exposition_format format)
{
	return content_types[format];
}

void exposition_begin(struct exposition *exposition, enum exposition_format format)
{
	*exposition = (struct exposition){.format = format};
}

void exposition_family(struct exposition *exposition, const struct exposition_family *family)
{
	exposition->family = family;
	exposition->headed = false;
}

/* A value within quotes; also a help, in which 0.0.4 knows no escape for a quote. */
static void append_escaped(struct buffer *out, const char *text, bool quotes)
{
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			buffer_append_text(out, "\\n");
		else if (*text == '\\' || (*text == '"' && quotes))
			buffer_printf(out, "\\%c", *text);
		else
			buffer_append_byte(out, (unsigned char)*text);
	}
}

static size_t name_length(const struct exposition *exposition)
{
	const struct exposition_family *family = exposition->family;
	size_t length = strlen(family->name), suffix = strlen(kinds[family->type].suffix);
	assert(length > suffix &&
	       strcmp(family->name + length - suffix, kinds[family->type].suffix) == 0);
	return exposition->format == EXPOSITION_OPENMETRICS ? length - suffix : length;
}

static void append_meta(struct exposition *exposition, const char *what, const char *value)
{
	buffer_printf(&exposition->out, "# %s %.*s ", what, (int)name_length(exposition),
		      exposition->family->name);
	append_escaped(&exposition->out, value, exposition->format == EXPOSITION_OPENMETRICS);
	buffer_append_byte(&exposition->out, '\n');
}

/* Before the family's first sample. */
static void append_head(struct exposition *exposition)
{
	const struct exposition_family *family = exposition->family;
	if (exposition->headed)
		return;
	exposition->headed = true;
	if (exposition->format == EXPOSITION_TEXT) {
		append_meta(exposition, "HELP", family->help);
		append_meta(exposition, "TYPE", kinds[family->type].text);
		return;
	}
	append_meta(exposition, "TYPE", kinds[family->type].openmetrics);
	if (family->unit != NULL)
		append_meta(exposition, "UNIT", family->unit);
	append_meta(exposition, "HELP", family->help);
}

static void append_label(struct buffer *out, const char *separator,
			 const struct exposition_label *label)
{
	buffer_printf(out, "%s%s=\"", separator, label->name);
	append_escaped(out, label->value, true);
	buffer_append_byte(out, '"');
}

/* "name_suffix{labels,last} "; `last` may be NULL. */
static void append_series(struct exposition *exposition, const char *suffix,
			  const struct exposition_label *labels, size_t count,
			  const struct exposition_label *last)
{
	struct buffer *out = &exposition->out;
	const char *separator = "{";
	append_head(exposition);
	buffer_printf(out, "%s%s", exposition->family->name, suffix);
	for (size_t i = 0; i < count; i++, separator = ",")
		append_label(out, separator, &labels[i]);
	if (last != NULL)
		append_label(out, separator, last);
	if (count > 0 || last != NULL)
		buffer_append_byte(out, '}');
	buffer_append_byte(out, ' ');
}

/* As short as it can be and still exact: 0.0005, 2.5, 60; at least `places` behind the point. */
static void append_seconds(struct buffer *out, bool negative, uint64_t microseconds, int places)
{
	uint64_t rest = microseconds % MICROSECONDS;
	int digits = 6;
	while (digits > places && rest % 10 == 0) {
		rest /= 10;
		digits--;
	}
	buffer_printf(out, "%s%" PRIu64, negative ? "-" : "", microseconds / MICROSECONDS);
	if (digits > 0)
		buffer_printf(out, ".%0*" PRIu64, digits, rest);
}

void exposition_number(struct exposition *exposition, const struct exposition_label *labels,
		       size_t count, uint64_t value)
{
	append_series(exposition, "", labels, count, NULL);
	buffer_printf(&exposition->out, "%" PRIu64 "\n", value);
}

void exposition_seconds(struct exposition *exposition, const struct exposition_label *labels,
			size_t count, int64_t microseconds)
{
	bool negative = microseconds < 0;
	uint64_t size = negative ? -(uint64_t)microseconds : (uint64_t)microseconds;
	append_series(exposition, "", labels, count, NULL);
	append_seconds(&exposition->out, negative, size, 0);
	buffer_append_byte(&exposition->out, '\n');
}

static void append_bucket(struct exposition *exposition, const struct exposition_label *labels,
			  size_t count, const char *bound, uint64_t value)
{
	const struct exposition_label le = {"le", bound};
	append_series(exposition, "_bucket", labels, count, &le);
	buffer_printf(&exposition->out, "%" PRIu64 "\n", value);
}

void exposition_histogram(struct exposition *exposition, const struct exposition_label *labels,
			  size_t count, const uint64_t *buckets, const uint64_t *bounds,
			  size_t bound_count, uint64_t sum)
{
	struct buffer *out = &exposition->out;
	struct buffer bound = {0};
	uint64_t below = 0;
	for (size_t i = 0; i < bound_count; i++) {
		below += buckets[i];
		buffer_clear(&bound);
		/* "1.0" and not "1" in both formats: OpenMetrics asks for it, 0.0.4 allows it, and
		 * so a series is the same one however it was scraped. */
		append_seconds(&bound, false, bounds[i], 1);
		append_bucket(exposition, labels, count, buffer_text(&bound), below);
	}
	below += buckets[bound_count];
	append_bucket(exposition, labels, count, "+Inf", below);
	append_series(exposition, "_sum", labels, count, NULL);
	append_seconds(out, false, sum, 0);
	buffer_append_byte(out, '\n');
	append_series(exposition, "_count", labels, count, NULL);
	buffer_printf(out, "%" PRIu64 "\n", below);
	out->failed = out->failed || bound.failed;
	buffer_free(&bound);
}

void exposition_end(struct exposition *exposition)
{
	if (exposition->format == EXPOSITION_OPENMETRICS)
		buffer_append_text(&exposition->out, "# EOF\n");
}
