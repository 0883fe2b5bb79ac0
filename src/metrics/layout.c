/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "metrics/layout.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* To be raised when a word comes to mean something else at the same place. */
#define MEANING "1"

/* Where everything lies, and so how large it is. */
static const uint32_t places[] = {
    offsetof(struct segment_header, layout),
    offsetof(struct segment_header, created_ms),
    offsetof(struct segment_histogram, buckets),
    sizeof(struct segment_histogram),
    offsetof(struct segment_minute, replayed),
    offsetof(struct segment_minute, errors),
    sizeof(struct segment_minute),
    offsetof(struct segment_route, name),
    offsetof(struct segment_route, requests),
    offsetof(struct segment_route, observed),
    offsetof(struct segment_route, settlements),
    offsetof(struct segment_route, takeovers),
    offsetof(struct segment_route, reclaims),
    offsetof(struct segment_route, conflicts),
    offsetof(struct segment_route, request),
    offsetof(struct segment_route, handler),
    offsetof(struct segment_route, minutes),
    sizeof(struct segment_route),
    offsetof(struct segment_worker, doing),
    offsetof(struct segment_worker, since_ms),
    offsetof(struct segment_worker, served),
    sizeof(struct segment_worker),
    offsetof(struct segment, routes),
    offsetof(struct segment, workers),
    offsetof(struct segment, store),
    offsetof(struct segment, store_errors),
    offsetof(struct segment, renewals),
    offsetof(struct segment, replay_bytes),
    offsetof(struct segment, log_messages),
    offsetof(struct segment, spool_entries),
    offsetof(struct segment, spool_oldest_ms),
    offsetof(struct segment, spool_set_aside),
    sizeof(struct segment),
};

static const struct {
	const char *const *items;
	size_t count;
} labels[] = {
    {metrics_outcomes, METRICS_OUTCOMES}, {metrics_settlements, METRICS_SETTLEMENTS},
    {metrics_ops, METRICS_OPS},           {metrics_reasons, METRICS_REASONS},
    {metrics_levels, METRICS_LEVELS},     {metrics_worker_states, METRICS_WORKER_STATES},
};

/* FNV-1a, 64 bits: nobody attacks it, and a CGI process computes it at each request. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

static uint64_t hash(uint64_t hash, const void *data, size_t length)
{
	const unsigned char *bytes = data;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * HASH_PRIME;
	return hash;
}

static uint64_t hash_text(uint64_t so_far, const char *text)
{
	return hash(so_far, text, strlen(text) + 1);
}

uint64_t layout_hash(void)
{
	uint64_t result = hash_text(HASH_START, MEANING);
	result = hash(result, places, sizeof(places));
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		for (size_t k = 0; k < labels[i].count; k++)
			result = hash_text(result, labels[i].items[k]);
	result = hash(result, metrics_natures, sizeof(metrics_natures));
	result = hash(result, metrics_request_bounds, sizeof(metrics_request_bounds));
	return hash(result, metrics_store_bounds, sizeof(metrics_store_bounds));
}

void layout_file_name(char name[LAYOUT_FILE_NAME])
{
	uint64_t whole = layout_hash();
	snprintf(name, LAYOUT_FILE_NAME, "metrics.%08" PRIx32, (uint32_t)(whole ^ whole >> 32));
}

uint64_t layout_digest(const char *name)
{
	uint64_t digest = hash_text(HASH_START, name);
	return digest != 0 ? digest : 1;
}
