/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "cgi-bin/status/concerns.h"

#include "tests/unit/suite.h"

#define HOUR (INT64_C(60) * 60 * 1000000) /* microseconds */
#define NOW  (INT64_C(1767323045) * 1000000)

/* All is well: the base that each case departs from. */
static void make_well(struct snapshot *snapshot, struct config *config)
{
	config->listen = (char *)"/run/oncewrap/oncewrap.sock";
	*snapshot = (struct snapshot){
	    .connect = {.file = CONNECT_DEFAULT_FILE, .config = config},
	    .now_ms = NOW / 1000,
	    .read = true,
	    .reading = {.worker_count = 8},
	    .gauges = {.up = true},
	    .listed = true,
	};
	for (size_t i = 0; i < GAUGES; i++)
		snapshot->gauges.known[i] = true;
	snapshot->gauges.values[GAUGE_SCHEMA] = gauges_expected_schema();
	snapshot->gauges.values[GAUGE_PURGED_AT] = NOW - HOUR;
}

static void forget_store(struct snapshot *snapshot)
{
	snapshot->gauges = (struct gauges){0};
	error_set(&snapshot->store_error, ERROR_STORE, "no server; run: x");
}

static void set_well(struct snapshot *snapshot)
{
	(void)snapshot;
}

static void set_stale(struct snapshot *snapshot)
{
	snapshot->gauges.values[GAUGE_STALE] = 2;
}

static void set_both(struct snapshot *snapshot)
{
	set_stale(snapshot);
	snapshot->gauges.values[GAUGE_UNKNOWN] = 1;
}

static void set_many(struct snapshot *snapshot)
{
	snapshot->gauges.values[GAUGE_UNKNOWN] = SNAPSHOT_COUNT_LIMIT;
}

static void set_no_workers(struct snapshot *snapshot)
{
	set_stale(snapshot);
	snapshot->reading.worker_count = 0;
}

static void set_no_pool(struct snapshot *snapshot)
{
	snapshot->connect.config->listen = (char *)"";
	snapshot->reading.worker_count = 0;
}

static void set_no_segment(struct snapshot *snapshot)
{
	snapshot->read = false;
	snapshot->reading = (struct reading){0};
	error_set(&snapshot->read_error, ERROR_SYSTEM, "no file");
}

static void set_nothing(struct snapshot *snapshot)
{
	forget_store(snapshot);
	set_no_segment(snapshot);
}

static void set_old_schema(struct snapshot *snapshot)
{
	snapshot->gauges.values[GAUGE_SCHEMA] = 0;
}

static void set_new_schema(struct snapshot *snapshot)
{
	snapshot->gauges.values[GAUGE_SCHEMA]++;
}

static void set_late(struct snapshot *snapshot)
{
	snapshot->gauges.values[GAUGE_PURGED_AT] = NOW - 49 * HOUR;
	snapshot->gauges.values[GAUGE_PAST_EXPIRY] = 1;
}

static void set_late_for_nothing(struct snapshot *snapshot)
{
	snapshot->gauges.values[GAUGE_PURGED_AT] = 0;
}

static void set_ahead(struct snapshot *snapshot)
{
	snapshot->gauges.values[GAUGE_SKEW] = 2000001;
}

static void set_behind(struct snapshot *snapshot)
{
	snapshot->gauges.values[GAUGE_SKEW] = -2000001;
}

static void set_in_part(struct snapshot *snapshot)
{
	snapshot->gauges.known[GAUGE_COMPLETE] = false;
	error_set(&snapshot->store_error, ERROR_STORE, "slow");
}

static const struct {
	void (*set)(struct snapshot *snapshot);
	const char *headline;
	enum concern_level worst;
	const char *code, *command; /* of the first */
} cases[] = {
    {set_well, "OK", CONCERN_NONE, NULL, NULL},
    {set_no_pool, "OK", CONCERN_NONE, NULL, NULL},
    {set_late_for_nothing, "OK", CONCERN_NONE, NULL, NULL},
    {set_stale, "2 stale leases", CONCERN_ATTENTION, "stale_leases", "once-list --stale"},
    {set_both, "1 unknown outcome, 2 stale leases", CONCERN_ATTENTION, "unknown_outcomes",
     "once-list --state=unknown"},
    {set_many, "At least 100 000 unknown outcomes", CONCERN_ATTENTION, "unknown_outcomes",
     "once-list --state=unknown"},
    {forget_store, "Store unreachable", CONCERN_TROUBLE, "store_unreachable", "once-doctor"},
    {set_in_part, "Store told in part only", CONCERN_ATTENTION, "store_incomplete", "once-doctor"},
    {set_no_workers, "No workers, 2 stale leases", CONCERN_TROUBLE, "no_workers", "once-doctor"},
    {set_no_segment, "No counters of this host", CONCERN_ATTENTION, "counters_unreadable",
     "once-doctor"},
    {set_nothing, "Store unreachable, no counters of this host", CONCERN_TROUBLE,
     "store_unreachable", "once-doctor"},
    {set_old_schema, "Schema of another version", CONCERN_TROUBLE, "schema_mismatch",
     "once-migrate up"},
    {set_new_schema, "Schema of another version", CONCERN_TROUBLE, "schema_mismatch",
     "once-migrate status"},
    {set_late, "Purge overdue", CONCERN_ATTENTION, "purge_late", "once-expire"},
    {set_ahead, "Clocks differ", CONCERN_ATTENTION, "clock_skew", "once-doctor"},
    {set_behind, "Clocks differ", CONCERN_ATTENTION, "clock_skew", "once-doctor"},
};

START_TEST(the_headline_says_what_is_wrong_with_the_worst_first)
{
	struct snapshot snapshot;
	struct config config = {0};
	struct concerns concerns;
	struct buffer headline = {0};
	make_well(&snapshot, &config);
	cases[_i].set(&snapshot);
	concerns_find(&concerns, &snapshot);
	concerns_headline(&concerns, &headline);
	ck_assert_str_eq(buffer_text(&headline), cases[_i].headline);
	ck_assert_int_eq(concerns.worst, cases[_i].worst);
	if (cases[_i].code != NULL) {
		struct concern *first = &concerns.items[0];
		ck_assert_str_eq(first->code, cases[_i].code);
		ck_assert_str_eq(buffer_text(&first->command), cases[_i].command);
		ck_assert_int_eq(first->level, cases[_i].worst);
		ck_assert_uint_gt(first->detail.length, 0);
	}
	buffer_free(&headline);
	concerns_free(&concerns);
}
END_TEST

START_TEST(a_command_names_the_configuration_where_it_is_not_the_default_one)
{
	struct snapshot snapshot;
	struct config config = {0};
	struct concerns concerns;
	make_well(&snapshot, &config);
	set_stale(&snapshot);
	snapshot.connect.file = "/etc/once wrap.conf";
	concerns_find(&concerns, &snapshot);
	ck_assert_str_eq(buffer_text(&concerns.items[0].command),
			 "once-list --stale --config='/etc/once wrap.conf'");
	concerns_free(&concerns);
}
END_TEST

int main(void)
{
	Suite *tests = suite_create("concerns");
	TCase *all = tcase_create("concerns");
	tcase_add_loop_test(all, the_headline_says_what_is_wrong_with_the_worst_first, 0,
			    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(all, a_command_names_the_configuration_where_it_is_not_the_default_one);
	suite_add_tcase(tests, all);
	return suite_run(tests);
}
