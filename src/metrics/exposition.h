/* SPDX-License-Identifier: ISC */
/*
 * Metrics as Prometheus reads them: the text format 0.0.4, or OpenMetrics 1.0. Writes families in
 * the order in which they come, each with its help and type before its first sample; a family
 * without a sample is left out. No timestamps: a scrape's own time holds, and node_exporter refuses
 * them. Numbers are whole, or seconds and exact to the microsecond: no floating point is involved,
 * and no locale.
 */
#ifndef ONCEWRAP_METRICS_EXPOSITION_H
#define ONCEWRAP_METRICS_EXPOSITION_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum exposition_format { EXPOSITION_TEXT, EXPOSITION_OPENMETRICS };

enum exposition_type {
	EXPOSITION_COUNTER,
	EXPOSITION_GAUGE,
	EXPOSITION_HISTOGRAM,
	EXPOSITION_INFO
};

struct exposition_family {
	const char *name; /* as queries have it: a counter's ends in _total, an info's in _info */
	enum exposition_type type;
	const char *unit; /* the name's last word, without those endings; NULL: none */
	const char *help; /* a sentence */
};

struct exposition_label {
	const char *name;
	const char *value; /* any bytes */
};

struct exposition {
	struct buffer out; /* the whole text; out.failed: out of memory */
	enum exposition_format format;
	/* inside */
	const struct exposition_family *family;
	bool headed; /* its help and type are written */
};

void exposition_begin(struct exposition *exposition, enum exposition_format format);

/* From here on samples are of this family, which must live as long as they are written. */
void exposition_family(struct exposition *exposition, const struct exposition_family *family);

/* A sample of it with these labels. No two may have the same ones. */
void exposition_number(struct exposition *exposition, const struct exposition_label *labels,
		       size_t count, uint64_t value);
void exposition_seconds(struct exposition *exposition, const struct exposition_label *labels,
			size_t count, int64_t microseconds);

/* All samples of a histogram: `buckets` has what fell into each alone, one more than there are
 * bounds; bounds and sum are microseconds. */
void exposition_histogram(struct exposition *exposition, const struct exposition_label *labels,
			  size_t count, const uint64_t *buckets, const uint64_t *bounds,
			  size_t bound_count, uint64_t sum);

/* Nothing may follow. */
void exposition_end(struct exposition *exposition);

/* What an HTTP answer says its body is. */
const char *exposition_content_type(enum exposition_format format);

#endif
