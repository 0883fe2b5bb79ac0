/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/metrics/store_scope.h"

#include <string.h>

#include "store/record.h"

static const struct exposition_family up_family = {
    "oncewrap_store_up", EXPOSITION_GAUGE, NULL,
    "1: the database answered in time; 0: it did not, and tells nothing."};
static const struct exposition_family records_family = {
    "oncewrap_records", EXPOSITION_GAUGE, NULL,
    "Records by state, each counted up to oncewrap_count_limit."};
static const struct exposition_family limit_family = {
    "oncewrap_count_limit", EXPOSITION_GAUGE, NULL,
    "How far is counted: a count that has reached it may be larger."};
static const struct exposition_family expected_family = {
    "oncewrap_schema_expected_version", EXPOSITION_GAUGE, NULL,
    "The version that the schema has when once-migrate of this version has run."};
static const struct exposition_family duration_family = {
    "oncewrap_collect_duration_seconds", EXPOSITION_GAUGE, "seconds",
    "Time that it took to ask the database for all this."};

/* Families of one sample; in seconds where they have that unit. */
static const struct {
	struct exposition_family family;
	enum gauge gauge;
} singles[] = {
    {{"oncewrap_stale_leases", EXPOSITION_GAUGE, NULL,
      "Records in flight whose lease has lapsed: nobody works on them any more."},
     GAUGE_STALE},
    {{"oncewrap_oldest_in_flight_timestamp_seconds", EXPOSITION_GAUGE, "seconds",
      "When the oldest record in flight was made; absent where there is none."},
     GAUGE_OLDEST_IN_FLIGHT},
    {{"oncewrap_oldest_unknown_timestamp_seconds", EXPOSITION_GAUGE, "seconds",
      "When the oldest record of unknown outcome was made; absent where there is none."},
     GAUGE_OLDEST_UNKNOWN},
    {{"oncewrap_records_past_expiry", EXPOSITION_GAUGE, NULL,
      "Answers and tombstones past their time that wait for the purge."},
     GAUGE_PAST_EXPIRY},
    {{"oncewrap_store_bytes", EXPOSITION_GAUGE, "bytes",
      "Size of the tables with their indexes, as the server estimates it."},
     GAUGE_BYTES},
    {{"oncewrap_schema_version", EXPOSITION_GAUGE, NULL,
      "The newest migration that the database has whole."},
     GAUGE_SCHEMA},
    {{"oncewrap_clock_skew_seconds", EXPOSITION_GAUGE, "seconds",
      "The database's clock less this host's."},
     GAUGE_SKEW},
    {{"oncewrap_purge_last_success_timestamp_seconds", EXPOSITION_GAUGE, "seconds",
      "When the last purge ended that did not fail; 0: never."},
     GAUGE_PURGED_AT},
    {{"oncewrap_purge_deleted_total", EXPOSITION_COUNTER, NULL, "Records deleted by all purges."},
     GAUGE_PURGED},
    {{"oncewrap_keys_expired_total", EXPOSITION_COUNTER, NULL,
      "Keys whose retention was over when a purge took them or made them tombstones."},
     GAUGE_KEYS_EXPIRED},
};

static void write_up(struct exposition *exposition, const struct gauges *gauges)
{
	exposition_family(exposition, &up_family);
	exposition_number(exposition, NULL, 0, gauges->up);
	exposition_family(exposition, &duration_family);
	exposition_seconds(exposition, NULL, 0, gauges->duration);
}

static void write_records(struct exposition *exposition, const struct gauges *gauges)
{
	exposition_family(exposition, &records_family);
	for (unsigned state = RECORD_IN_FLIGHT; state <= RECORD_EXPIRED; state++) {
		const struct exposition_label label = {"state",
						       record_state_name((enum record_state)state)};
		unsigned gauge = GAUGE_IN_FLIGHT + state;
		if (gauges->known[gauge])
			exposition_number(exposition, &label, 1, (uint64_t)gauges->values[gauge]);
	}
}

static void write_single(struct exposition *exposition, const struct exposition_family *family,
			 int64_t value)
{
	const char *unit = family->unit;
	exposition_family(exposition, family);
	if (unit != NULL && strcmp(unit, "seconds") == 0)
		exposition_seconds(exposition, NULL, 0, value);
	else
		exposition_number(exposition, NULL, 0, (uint64_t)value);
}

void store_scope_write(struct exposition *exposition, const struct gauges *gauges, int64_t limit)
{
	write_up(exposition, gauges);
	if (!gauges->up)
		return;
	write_records(exposition, gauges);
	exposition_family(exposition, &limit_family);
	exposition_number(exposition, NULL, 0, (uint64_t)limit);
	for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++)
		if (gauges->known[singles[i].gauge])
			write_single(exposition, &singles[i].family,
				     gauges->values[singles[i].gauge]);
	exposition_family(exposition, &expected_family);
	exposition_number(exposition, NULL, 0, (uint64_t)gauges_expected_schema());
}
