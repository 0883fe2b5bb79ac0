/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "tests/store/themes.h"

#include <string.h>

#include "base/clock.h"
#include "tests/store/database.h"

static struct config_store config;
static struct store *store;
static struct record record;

static void set_up(void)
{
	config = database_config();
	store = store_new(&config);
	ck_assert_ptr_nonnull(store);
	record_init(&record);
}

static void tear_down(void)
{
	record_free(&record);
	store_free(store);
	database_leave();
}

static enum store_result claim_now(const struct store_claim *claim)
{
	return store_claim(store, claim, &record, clock_now() + PATIENCE, test_error());
}

static enum store_result read_now(const struct store_claim *claim)
{
	return store_read(store, claim->id, &record, clock_now() + PATIENCE, test_error());
}

START_TEST(the_first_claim_of_a_key_wins)
{
	struct store_claim claim = claim_new();
	expect(claim_now(&claim), STORE_DONE);
	ck_assert(is_mine(&record, &claim));
	ck_assert_int_eq(record.state, RECORD_IN_FLIGHT);
	ck_assert_uint_eq(record.attempt, 1);
	ck_assert(!record.expired && !record.lapsed);
	ck_assert_int_gt(record.created_ms, 1600000000000);
	ck_assert_int_eq(record.settled_ms, 0);
}
END_TEST

START_TEST(a_later_claim_is_shown_the_record_and_changes_nothing)
{
	struct store_claim first = claim_new(), second = claim_again(&first);
	claim_first(store, &first);
	second.scheme = "1 body";
	second.lease = second.retention = 1;
	expect(claim_now(&second), STORE_DONE);
	ck_assert(is_mine(&record, &first));
	ck_assert_str_eq(record.scheme, first.scheme);
	ck_assert_mem_eq(record.fingerprint, first.fingerprint, DIGEST_LENGTH);
	ck_assert_uint_eq(record.parts_length, first.parts_length);
	ck_assert_mem_eq(record.parts, first.parts, first.parts_length);
	ck_assert(!record.expired && !record.lapsed);
	ck_assert_uint_eq(record.attempt, 1);
}
END_TEST

START_TEST(everything_about_the_claim_is_in_its_row)
{
	struct store_claim claim = claim_new();
	claim.lease = 30000;
	claim.retention = 86400000;
	claim_first(store, &claim);
	ck_assert_str_eq(
	    database_text(
		"SELECT CONCAT_WS('|', tenant, route, key_text, state, attempt,"
		" fingerprint_scheme, owner_host, owner_boot, owner_pidns, owner_pid,"
		" owner_start) = CONCAT_WS('|', 'tenant', 'orders', 'a key', 'in_flight', 1,"
		" '%s', '%s', '%s', %ju, %jd, %ju) FROM once_record WHERE %s",
		claim.scheme, claim.owner->host, claim.owner->boot, (uintmax_t)claim.owner->pidns,
		(intmax_t)claim.owner->pid, (uintmax_t)claim.owner->start, where(&claim)),
	    "1");
	ck_assert_int_eq(
	    database_number("SELECT TIMESTAMPDIFF(MICROSECOND, created_at, lease_until)"
			    " FROM once_record WHERE %s",
			    where(&claim)),
	    30000000);
	ck_assert_int_eq(database_number("SELECT TIMESTAMPDIFF(SECOND, created_at, expires_at)"
					 " FROM once_record WHERE %s",
					 where(&claim)),
			 86400);
}
END_TEST

START_TEST(keys_and_tenants_are_bytes_and_a_long_text_is_cut)
{
	static unsigned char bytes[2000];
	struct store_claim claim = claim_new();
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	claim.tenant = claim.key = bytes;
	claim.tenant_length = claim.key_length = sizeof(bytes);
	claim_first(store, &claim);
	ck_assert_int_eq(database_number("SELECT LENGTH(tenant) = 255 AND LENGTH(key_text) = 1024"
					 " AND ASCII(SUBSTR(key_text, 256)) = 255"
					 " FROM once_record WHERE %s",
					 where(&claim)),
			 1);
}
END_TEST

START_TEST(a_key_without_a_record_reads_as_no_row)
{
	struct store_claim claim = claim_new();
	expect(read_now(&claim), STORE_NO_ROW);
}
END_TEST

START_TEST(a_claim_of_a_locked_row_is_busy_at_once_and_reading_goes_on)
{
	struct store_claim first = claim_new(), second = claim_again(&first);
	claim_first(store, &first);
	database_run("BEGIN");
	database_run("SELECT * FROM once_record WHERE %s FOR UPDATE", where(&first));
	int64_t begin = clock_now();
	expect(claim_now(&second), STORE_BUSY);
	expect(read_now(&second), STORE_DONE);
	ck_assert_int_lt(clock_now() - begin, config.read_timeout / 4);
	ck_assert(is_mine(&record, &first));
	database_run("ROLLBACK");
}
END_TEST

/* Case C12. Neighbours in the index, so that a lock on a gap would be met. */
START_TEST(claims_of_other_keys_never_wait_for_a_locked_one)
{
	struct store_claim locked = claim_new(), other = claim_again(&locked);
	locked.id[DIGEST_LENGTH - 1] = 100;
	claim_first(store, &locked);
	database_run("BEGIN");
	database_run("UPDATE once_record SET attempt = 2 WHERE %s", where(&locked));
	for (int distance = -5; distance <= 5; distance++) {
		if (distance == 0)
			continue;
		other.id[DIGEST_LENGTH - 1] = (unsigned char)(100 + distance);
		expect(claim_now(&other), STORE_DONE);
		ck_assert(is_mine(&record, &other));
		settle_with(store, &other, 200, "");
	}
	database_run("ROLLBACK");
}
END_TEST

/* Case C9: what expires and what does not, in one row each. */
static const struct {
	const char *set; /* what the record has become */
	bool expired, lapsed;
	const char *why;
} ages[] = {
    {"state = 'complete', status = 200, settled_at = created_at, expires_at = UTC_TIMESTAMP(6)",
     true, false, "an answer is kept until then"},
    {"state = 'complete', status = 200, settled_at = created_at", false, false, "and so long"},
    {"state = 'complete', status = 200, settled_at = created_at, lease_until = created_at", false,
     false, "a lease matters in flight only"},
    {"expires_at = UTC_TIMESTAMP(6)", true, false, "in flight, expired, leased"},
    {"expires_at = UTC_TIMESTAMP(6), lease_until = created_at", true, true, "in flight, both over"},
    {"lease_until = created_at", false, true, "in flight, lapsed"},
    {"state = 'unknown', expires_at = created_at", false, false, "unknown never expires"},
    {"state = 'released', expires_at = created_at", false, false, "claimable anyway"},
    {"state = 'expired', expires_at = UTC_TIMESTAMP(6)", true, false, "a tombstone at its end"},
};

START_TEST(expiry_and_lapse_are_told_by_the_state_and_the_databases_clock)
{
	struct store_claim first = claim_new(), second = claim_again(&first);
	claim_first(store, &first);
	database_run("UPDATE once_record SET %s WHERE %s", ages[_i].set, where(&first));
	expect(claim_now(&second), STORE_DONE);
	ck_assert_msg(record.expired == ages[_i].expired, "%s", ages[_i].why);
	ck_assert_msg(record.lapsed == ages[_i].lapsed, "%s", ages[_i].why);
	expect(read_now(&second), STORE_DONE);
	ck_assert_msg(record.expired == ages[_i].expired, "%s", ages[_i].why);
	ck_assert_msg(record.lapsed == ages[_i].lapsed, "%s", ages[_i].why);
}
END_TEST

START_TEST(an_expired_answer_gives_way_to_a_new_life)
{
	struct store_claim first = claim_new(), second = claim_again(&first);
	claim_first(store, &first);
	settle_with(store, &first, 201, "made");
	database_run(
	    "UPDATE once_record SET attempt = 7, reference = 'r', flags = 1, checkpoint = 'c',"
	    " checkpoint_data = 'd', checkpoint_seq = 9, created_at = '2001-01-01' WHERE %s",
	    where(&first));
	expire(&first);
	second.scheme = "1 body";
	second.route = "other";
	expect(store_reclaim(store, &second, first.token, 0, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	expect(read_now(&second), STORE_DONE);
	ck_assert(is_mine(&record, &second));
	ck_assert_int_eq(record.state, RECORD_IN_FLIGHT);
	ck_assert_uint_eq(record.attempt, 1);
	ck_assert_str_eq(record.scheme, "1 body");
	ck_assert(!record.expired);
	ck_assert_int_gt(record.created_ms, 1600000000000);
	ck_assert_str_eq(
	    database_text("SELECT route FROM once_record WHERE %s AND settled_at IS NULL"
			  " AND status IS NULL AND headers IS NULL AND body IS NULL"
			  " AND reference IS NULL AND flags = 0 AND checkpoint IS NULL"
			  " AND checkpoint_data IS NULL AND checkpoint_seq = 0",
			  where(&first)),
	    "other");
}
END_TEST

static const struct {
	const char *set;
	const char *why;
} kept[] = {
    {"state = 'complete', status = 200, settled_at = created_at", "not expired"},
    {"expires_at = created_at", "in flight, its lease not closed"},
    {"expires_at = created_at, lease_until = created_at", "in flight, lapsed, not closed"},
    {"state = 'unknown', expires_at = created_at", "unknown is never reclaimed"},
    {"state = 'released', expires_at = created_at", "released is taken over"},
    {"state = 'expired'", "a tombstone that has not come to its end"},
};

START_TEST(what_has_not_expired_or_may_be_at_work_is_not_reclaimed)
{
	struct store_claim first = claim_new(), second = claim_again(&first);
	claim_first(store, &first);
	database_run("UPDATE once_record SET %s WHERE %s", kept[_i].set, where(&first));
	ck_assert_msg(store_reclaim(store, &second, first.token, 0, clock_now() + PATIENCE,
				    test_error()) == STORE_NO_ROW,
		      "%s", kept[_i].why);
	expect(read_now(&first), STORE_DONE);
	ck_assert_msg(is_mine(&record, &first), "%s", kept[_i].why);
}
END_TEST

/* The last is more milliseconds than 32 bits hold. */
static const struct {
	const char *since;
	int64_t least;
} expired_since[] = {
    {"UTC_TIMESTAMP(6) - INTERVAL 1500000 MICROSECOND", 1500},
    {"UTC_TIMESTAMP(6) - INTERVAL 90 MINUTE", 90 * 60 * 1000},
    {"UTC_TIMESTAMP(6) - INTERVAL 7000 DAY", INT64_C(7000) * 24 * 3600 * 1000},
};

START_TEST(how_long_a_record_has_been_expired_is_told_by_the_databases_clock)
{
	struct store_claim claim = claim_new(), later = claim_again(&claim);
	int64_t least = expired_since[_i].least;
	claim_first(store, &claim);
	settle_with(store, &claim, 200, "");
	expect(claim_now(&later), STORE_DONE);
	ck_assert_int_eq(record.expired_for, 0);
	database_run("UPDATE once_record SET expires_at = %s WHERE %s", expired_since[_i].since,
		     where(&claim));
	database_clock_error = 86400;
	expect(claim_now(&later), STORE_DONE);
	ck_assert_int_ge(record.expired_for, least);
	ck_assert_int_lt(record.expired_for, least + PATIENCE);
	expect(read_now(&later), STORE_DONE);
	database_clock_error = 0;
	ck_assert_int_ge(record.expired_for, least);
	ck_assert_int_lt(record.expired_for, least + PATIENCE);
}
END_TEST

/* A record that expired an hour ago, under a tombstone of that many ms. */
static const struct {
	const char *set;
	int64_t tombstone;
	enum store_result result;
	const char *why;
} tombs[] = {
    {"state = 'complete'", 0, STORE_DONE, "no tombstones"},
    {"state = 'complete'", 3500000, STORE_DONE, "the tombstone is over"},
    {"state = 'complete'", 3700000, STORE_NO_ROW, "to be told expired"},
    {"state = 'complete'", INT64_C(315360000000), STORE_NO_ROW, "for ten years"},
    {"state = 'expired'", 3700000, STORE_DONE, "its expiry is the tombstone's end already"},
};

START_TEST(an_expired_answer_is_reclaimed_once_its_tombstone_is_over)
{
	struct store_claim first = claim_new(), second = claim_again(&first);
	claim_first(store, &first);
	settle_with(store, &first, 200, "");
	database_run("UPDATE once_record SET %s, expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR"
		     " WHERE %s",
		     tombs[_i].set, where(&first));
	ck_assert_msg(store_reclaim(store, &second, first.token, tombs[_i].tombstone,
				    clock_now() + PATIENCE, test_error()) == tombs[_i].result,
		      "%s", tombs[_i].why);
}
END_TEST

START_TEST(an_expired_record_in_flight_is_reclaimed_once_its_lease_is_closed)
{
	struct store_claim first = claim_new(), second = claim_again(&first);
	claim_lapsed(store, &first);
	expire(&first);
	expect(store_close_lease(store, first.token, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	expect(store_reclaim(store, &second, first.token, 0, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	expect(read_now(&first), STORE_DONE);
	ck_assert(is_mine(&record, &second));
}
END_TEST

START_TEST(a_record_that_moved_on_is_not_reclaimed_by_what_was_seen_of_it)
{
	struct store_claim first = claim_new(), second = claim_again(&first),
			   third = claim_again(&first);
	claim_first(store, &first);
	settle_with(store, &first, 200, "");
	expire(&first);
	expect(store_reclaim(store, &second, first.token, 0, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	expire(&first);
	expect(store_reclaim(store, &third, first.token, 0, clock_now() + PATIENCE, test_error()),
	       STORE_NO_ROW);
}
END_TEST

/* Case C10. */
static const struct {
	int64_t first, second; /* how far each host's clock is off, seconds */
} clocks[] = {{-3600, 3600}, {3600, -3600}, {0, 31536000}, {-31536000, 0}};

START_TEST(hosts_whose_clocks_differ_see_the_same)
{
	struct store_claim first = claim_new(), second = claim_again(&first);
	first.lease = 60000;
	first.retention = 120000;
	database_clock_error = clocks[_i].first;
	claim_first(store, &first);
	database_clock_error = clocks[_i].second;
	expect(claim_now(&second), STORE_DONE);
	ck_assert(is_mine(&record, &first));
	ck_assert(!record.lapsed && !record.expired);
	settle_with(store, &first, 200, "");
	expect(claim_now(&second), STORE_DONE);
	ck_assert(!record.expired);
	expire(&first);
	expect(claim_now(&second), STORE_DONE);
	ck_assert(record.expired);
}
END_TEST

START_TEST(statements_are_prepared_once_a_connection)
{
	int64_t before =
	    database_number("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
			    " WHERE VARIABLE_NAME = 'COM_STMT_PREPARE'");
	for (int i = 0; i < 20; i++) {
		struct store_claim claim = claim_new();
		claim_first(store, &claim);
		settle_with(store, &claim, 200, "made");
	}
	int64_t after =
	    database_number("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
			    " WHERE VARIABLE_NAME = 'COM_STMT_PREPARE'");
	ck_assert_int_eq(after - before, 2);
}
END_TEST

TCase *claim_tests(void)
{
	TCase *tests = tcase_create("claim");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, the_first_claim_of_a_key_wins);
	tcase_add_test(tests, a_later_claim_is_shown_the_record_and_changes_nothing);
	tcase_add_test(tests, everything_about_the_claim_is_in_its_row);
	tcase_add_test(tests, keys_and_tenants_are_bytes_and_a_long_text_is_cut);
	tcase_add_test(tests, a_key_without_a_record_reads_as_no_row);
	tcase_add_test(tests, a_claim_of_a_locked_row_is_busy_at_once_and_reading_goes_on);
	tcase_add_test(tests, claims_of_other_keys_never_wait_for_a_locked_one);
	tcase_add_loop_test(tests, expiry_and_lapse_are_told_by_the_state_and_the_databases_clock,
			    0, (int)(sizeof(ages) / sizeof(ages[0])));
	tcase_add_test(tests, an_expired_answer_gives_way_to_a_new_life);
	tcase_add_loop_test(tests, what_has_not_expired_or_may_be_at_work_is_not_reclaimed, 0,
			    (int)(sizeof(kept) / sizeof(kept[0])));
	tcase_add_loop_test(tests,
			    how_long_a_record_has_been_expired_is_told_by_the_databases_clock, 0,
			    (int)(sizeof(expired_since) / sizeof(expired_since[0])));
	tcase_add_loop_test(tests, an_expired_answer_is_reclaimed_once_its_tombstone_is_over, 0,
			    (int)(sizeof(tombs) / sizeof(tombs[0])));
	tcase_add_test(tests, an_expired_record_in_flight_is_reclaimed_once_its_lease_is_closed);
	tcase_add_test(tests, a_record_that_moved_on_is_not_reclaimed_by_what_was_seen_of_it);
	tcase_add_loop_test(tests, hosts_whose_clocks_differ_see_the_same, 0,
			    (int)(sizeof(clocks) / sizeof(clocks[0])));
	tcase_add_test(tests, statements_are_prepared_once_a_connection);
	return tests;
}
