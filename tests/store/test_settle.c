/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "tests/store/themes.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tests/store/database.h"

static struct config_store config;
static struct store *store;
static struct record record;
static struct store_claim claim;

static void set_up(void)
{
	config = database_config();
	store = store_new(&config);
	ck_assert_ptr_nonnull(store);
	record_init(&record);
	claim = claim_new();
	claim_first(store, &claim);
}

static void tear_down(void)
{
	record_free(&record);
	store_free(store);
	database_leave();
}

static void read_now(void)
{
	expect(store_read(store, claim.id, &record, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
}

static enum store_result settle_now(const struct store_answer *answer)
{
	return store_settle(store, claim.id, claim.token, answer, clock_now() + PATIENCE,
			    test_error());
}

static enum store_result release_now(void)
{
	return store_release(store, claim.id, claim.token, NULL, false, clock_now() + PATIENCE,
			     test_error());
}

static enum store_result mark_now(void)
{
	return store_mark_unknown(store, claim.id, claim.token, clock_now() + PATIENCE,
				  test_error());
}

/* Cases C20, C28: sizes round the borders of the row format, of a packet and of TEXT; every byte
 * value. */
static const size_t sizes[] = {0, 1, 255, 256, 8000, 65535, 65536, 70000, 1048577, 10485760};

START_TEST(an_answer_is_stored_and_read_back_byte_for_byte)
{
	size_t size = sizes[_i];
	unsigned char *body = malloc(size + 1);
	ck_assert_ptr_nonnull(body);
	for (size_t i = 0; i < size; i++)
		body[i] = (unsigned char)(i + i / 251);
	static const char headers[] = "Status: 201 Created\r\nX: a\0b\xff\r\nX: c\r\n";
	struct store_answer answer = {
	    .status = 201,
	    .headers = headers,
	    .headers_length = sizeof(headers) - 1,
	    .body = body,
	    .body_length = size,
	    .retention = claim.retention,
	};
	expect(settle_now(&answer), STORE_DONE);
	read_now();
	ck_assert_int_eq(record.state, RECORD_COMPLETE);
	ck_assert_int_eq(record.status, 201);
	ck_assert_uint_eq(record.flags, 0);
	ck_assert_int_ge(record.settled_ms, record.created_ms);
	ck_assert_uint_eq(record.headers.length, sizeof(headers) - 1);
	ck_assert_mem_eq(record.headers.data, headers, sizeof(headers) - 1);
	ck_assert_uint_eq(record.body.length, size);
	if (size > 0)
		ck_assert_mem_eq(record.body.data, body, size);
	free(body);
}
END_TEST

START_TEST(an_answer_that_was_not_kept_says_so)
{
	struct store_answer answer = {
	    .status = 200, .headers = "", .body = "", .flags = RECORD_NOT_KEPT, .retention = 1};
	expect(settle_now(&answer), STORE_DONE);
	read_now();
	ck_assert_int_eq(record.state, RECORD_COMPLETE);
	ck_assert_uint_eq(record.flags, RECORD_NOT_KEPT);
}
END_TEST

START_TEST(an_answer_larger_than_a_packet_is_refused_before_it_is_sent)
{
	uint64_t largest = store_largest_answer(store);
	ck_assert_uint_gt(largest, 1 << 20);
	char *body = calloc(1, largest + 1);
	ck_assert_ptr_nonnull(body);
	struct store_answer answer = {.status = 200,
				      .headers = "",
				      .body = body,
				      .body_length = largest + 1,
				      .retention = claim.retention};
	int64_t session = database_number("SELECT MAX(ID) FROM information_schema.PROCESSLIST"
					  " WHERE USER = 'oncewrap'");
	expect(settle_now(&answer), STORE_DOWN);
	ck_assert_int_eq(test_error()->kind, ERROR_LIMIT);
	ck_assert_int_eq(database_number("SELECT MAX(ID) FROM information_schema.PROCESSLIST"
					 " WHERE USER = 'oncewrap'"),
			 session);
	answer.body_length = 0;
	answer.flags = RECORD_NOT_KEPT;
	expect(settle_now(&answer), STORE_DONE);
	free(body);
}
END_TEST

START_TEST(the_largest_answer_can_be_stored)
{
	size_t largest = store_largest_answer(store) - 1024; /* id, token and so on */
	char *body = calloc(1, largest);
	ck_assert_ptr_nonnull(body);
	struct store_answer answer = {.status = 200,
				      .headers = "",
				      .body = body,
				      .body_length = largest,
				      .retention = claim.retention};
	expect(settle_now(&answer), STORE_DONE);
	read_now();
	ck_assert_uint_eq(record.body.length, largest);
	free(body);
}
END_TEST

START_TEST(a_settlement_that_stands_is_not_replaced_and_not_an_error)
{
	settle_with(store, &claim, 201, "first");
	settle_with(store, &claim, 500, "second");
	read_now();
	ck_assert_int_eq(record.status, 201);
	expect(release_now(), STORE_NO_ROW);
	expect(mark_now(), STORE_NO_ROW);
}
END_TEST

/* What the handler does by CALL once_complete in its own transaction. */
START_TEST(an_answer_that_the_handler_has_committed_stands)
{
	database_run("UPDATE once_record SET state = 'complete', status = 202, body = 'its own',"
		     " settled_at = UTC_TIMESTAMP(6) WHERE %s",
		     where(&claim));
	settle_with(store, &claim, 200, "printed");
	read_now();
	ck_assert_int_eq(record.status, 202);
}
END_TEST

START_TEST(an_answer_is_kept_from_the_records_creation)
{
	database_run("UPDATE once_record SET created_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR,"
		     " expires_at = UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE WHERE %s",
		     where(&claim));
	claim.retention = 2 * 3600 * 1000;
	settle_with(store, &claim, 200, "");
	int64_t left = database_number("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), expires_at)"
				       " FROM once_record WHERE %s",
				       where(&claim));
	ck_assert_int_ge(left, 3500);
	ck_assert_int_le(left, 3600);
}
END_TEST

START_TEST(storing_does_not_shorten_what_is_kept)
{
	claim.retention = 1000;
	settle_with(store, &claim, 200, "");
	ck_assert_int_ge(
	    database_number("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), expires_at)"
			    " FROM once_record WHERE %s",
			    where(&claim)),
	    86000);
}
END_TEST

static int64_t seconds_kept(void)
{
	return database_number("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), expires_at)"
			       " FROM once_record WHERE %s",
			       where(&claim));
}

/* What a handler asks for by Once-Retention, of a record whose claim has said a day. */
static const struct {
	int64_t retention; /* s */
	unsigned attempt;
	int64_t least, most; /* seconds left, of a record made an hour ago */
	const char *why;
} wishes[] = {
    {2 * 3600, 1, 3500, 3600, "shorter than the claim's, from the creation"},
    {48 * 3600, 1, 47 * 3600 - 100, 47 * 3600, "longer"},
    {600, 1, -3100, -3000, "so short that it is over"},
    {600, 2, 500, 600, "taken over (case C57): from the settlement"},
};

START_TEST(the_handlers_own_retention_holds_exactly)
{
	struct store_answer answer = {.status = 200,
				      .headers = "",
				      .body = "",
				      .retention = wishes[_i].retention * 1000,
				      .retention_is_exact = true};
	database_run("UPDATE once_record SET created_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR,"
		     " attempt = %u WHERE %s",
		     wishes[_i].attempt, where(&claim));
	expect(settle_now(&answer), STORE_DONE);
	ck_assert_msg(seconds_kept() >= wishes[_i].least && seconds_kept() <= wishes[_i].most,
		      "%s: %d", wishes[_i].why, (int)seconds_kept());
}
END_TEST

START_TEST(a_reference_is_stored_and_read_back_with_its_answer_or_without)
{
	char reference[RECORD_REFERENCE_LENGTH];
	for (size_t i = 0; i < sizeof(reference); i++)
		reference[i] = (char)(255 - i % 256);
	struct store_answer answer = {.status = 200,
				      .headers = "",
				      .body = "",
				      .flags = _i == 0 ? RECORD_NOT_KEPT : 0,
				      .retention = claim.retention,
				      .reference = reference,
				      .reference_length = sizeof(reference)};
	expect(settle_now(&answer), STORE_DONE);
	read_now();
	ck_assert_uint_eq(record.reference.length, sizeof(reference));
	ck_assert_mem_eq(record.reference.data, reference, sizeof(reference));
	struct store_claim again = claim_again(&claim);
	expect(store_claim(store, &again, &record, clock_now() + PATIENCE, test_error()),
	       STORE_DONE);
	ck_assert_uint_eq(record.reference.length, sizeof(reference));
}
END_TEST

START_TEST(an_answer_without_a_reference_has_none)
{
	settle_with(store, &claim, 200, "made");
	read_now();
	ck_assert_uint_eq(record.reference.length, 0);
	ck_assert_int_eq(
	    database_number("SELECT reference IS NULL FROM once_record WHERE %s", where(&claim)),
	    1);
}
END_TEST

START_TEST(a_released_key_is_free)
{
	struct store_claim again = claim_again(&claim);
	expect(release_now(), STORE_DONE);
	claim_first(store, &again);
	expect(release_now(), STORE_NO_ROW); /* by the old token */
	read_now();
	ck_assert(is_mine(&record, &again));
}
END_TEST

START_TEST(a_release_may_keep_the_record_so_that_its_attempts_count_on)
{
	struct store_claim next = claim_again(&claim);
	uint32_t attempt = 0;
	expect(store_release(store, claim.id, claim.token, NULL, true, clock_now() + PATIENCE,
			     test_error()),
	       STORE_DONE);
	read_now();
	ck_assert_int_eq(record.state, RECORD_RELEASED);
	expect(store_take_over(store, &next, claim.token, &attempt, clock_now() + PATIENCE,
			       test_error()),
	       STORE_DONE);
	ck_assert_uint_eq(attempt, 2);
}
END_TEST

START_TEST(a_release_keeps_a_record_that_holds_a_checkpoint)
{
	database_run("UPDATE once_record SET checkpoint = 'half' WHERE %s", where(&claim));
	expect(release_now(), STORE_DONE);
	read_now();
	ck_assert_int_eq(record.state, RECORD_RELEASED);
	expect(release_now(), STORE_DONE); /* it is released, by this token */
}
END_TEST

START_TEST(an_owner_that_does_not_know_marks_unknown)
{
	expect(mark_now(), STORE_DONE);
	read_now();
	ck_assert_int_eq(record.state, RECORD_UNKNOWN);
	ck_assert(is_mine(&record, &claim));
	expect(mark_now(), STORE_DONE); /* it is unknown, by this token */
	expect(release_now(), STORE_NO_ROW);
	settle_with(store, &claim, 200, "late");
}
END_TEST

START_TEST(a_settlement_waits_for_a_row_that_is_locked)
{
	pid_t holder = database_hold_until_waited_for(&claim, NULL);
	settle_with(store, &claim, 201, "made");
	database_end(holder);
}
END_TEST

START_TEST(a_settlement_does_not_outlast_its_deadline)
{
	struct store_answer answer = {.status = 200, .headers = "", .body = "", .retention = 1};
	database_run("BEGIN");
	database_run("UPDATE once_record SET checkpoint_seq = 1 WHERE %s", where(&claim));
	int64_t begin = clock_now();
	expect(store_settle(store, claim.id, claim.token, &answer, begin + 300, test_error()),
	       STORE_UNCERTAIN);
	ck_assert_int_ge(clock_now() - begin, 300);
	ck_assert_int_lt(clock_now() - begin, config.read_timeout / 4);
	database_run("COMMIT");
	expect(settle_now(&answer), STORE_DONE);
}
END_TEST

START_TEST(a_settlement_forgets_the_lease_only_of_a_claim_that_was_renewed)
{
	/* Another store has renewed it: this one knows nothing of that, and saves the statement. */
	database_run("INSERT INTO once_lease VALUES (x'%s', UTC_TIMESTAMP(6))",
		     hex(claim.token, TOKEN_LENGTH));
	settle_with(store, &claim, 200, "");
	ck_assert_int_eq(database_number("SELECT COUNT(*) FROM once_lease WHERE token = x'%s'",
					 hex(claim.token, TOKEN_LENGTH)),
			 1);
}
END_TEST

TCase *settle_tests(void)
{
	TCase *tests = tcase_create("settle");
	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, an_answer_is_stored_and_read_back_byte_for_byte, 0,
			    (int)(sizeof(sizes) / sizeof(sizes[0])));
	tcase_add_test(tests, an_answer_that_was_not_kept_says_so);
	tcase_add_test(tests, an_answer_larger_than_a_packet_is_refused_before_it_is_sent);
	tcase_add_test(tests, the_largest_answer_can_be_stored);
	tcase_add_test(tests, a_settlement_that_stands_is_not_replaced_and_not_an_error);
	tcase_add_test(tests, an_answer_that_the_handler_has_committed_stands);
	tcase_add_test(tests, an_answer_is_kept_from_the_records_creation);
	tcase_add_test(tests, storing_does_not_shorten_what_is_kept);
	tcase_add_loop_test(tests, the_handlers_own_retention_holds_exactly, 0,
			    (int)(sizeof(wishes) / sizeof(wishes[0])));
	tcase_add_loop_test(tests, a_reference_is_stored_and_read_back_with_its_answer_or_without,
			    0, 2);
	tcase_add_test(tests, an_answer_without_a_reference_has_none);
	tcase_add_test(tests, a_released_key_is_free);
	tcase_add_test(tests, a_release_may_keep_the_record_so_that_its_attempts_count_on);
	tcase_add_test(tests, a_release_keeps_a_record_that_holds_a_checkpoint);
	tcase_add_test(tests, an_owner_that_does_not_know_marks_unknown);
	tcase_add_test(tests, a_settlement_waits_for_a_row_that_is_locked);
	tcase_add_test(tests, a_settlement_does_not_outlast_its_deadline);
	tcase_add_test(tests, a_settlement_forgets_the_lease_only_of_a_claim_that_was_renewed);
	return tests;
}
