/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/metrics/classic.h"

#include <string.h>

static const struct exposition_family requests_family = {
    "idempotency_requests_total", EXPOSITION_COUNTER, NULL,
    "Requests that ran their handler, and those answered from the store."};
static const struct exposition_family conflicts_family = {
    "idempotency_key_conflicts_total", EXPOSITION_COUNTER, NULL,
    "Requests that met another one of their key in flight."};
static const struct exposition_family expired_family = {
    "idempotency_key_expired_total", EXPOSITION_COUNTER, NULL,
    "Keys that came back after they had expired."};

/* The names have no route. */
struct sums {
	uint64_t requests[METRICS_OUTCOMES], conflicts, reclaims;
};

static struct sums add_up(const struct reading *reading)
{
	struct sums sums = {0};
	for (size_t i = 0; i < reading->route_count; i++) {
		const struct reading_route *route = &reading->routes[i];
		for (size_t k = 0; k < METRICS_OUTCOMES; k++)
			sums.requests[k] += route->requests[k];
		sums.conflicts += route->conflicts;
		sums.reclaims += route->reclaims;
	}
	return sums;
}

static void write_requests(struct exposition *exposition, const struct sums *sums)
{
	exposition_family(exposition, &requests_family);
	for (size_t i = 0; i < METRICS_OUTCOMES; i++) {
		const struct exposition_label status = {"status", metrics_outcomes[i]};
		if (strcmp(status.value, "first") == 0 || strcmp(status.value, "replayed") == 0)
			exposition_number(exposition, &status, 1, sums->requests[i]);
	}
}

void classic_write(struct exposition *exposition, const struct reading *reading)
{
	if (reading == NULL)
		return;
	const struct sums sums = add_up(reading);
	write_requests(exposition, &sums);
	exposition_family(exposition, &conflicts_family);
	exposition_number(exposition, NULL, 0, sums.conflicts);
	exposition_family(exposition, &expired_family);
	exposition_number(exposition, NULL, 0, sums.reclaims);
}
