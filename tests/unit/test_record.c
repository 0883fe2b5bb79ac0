/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/record.h"

#include "tests/unit/suite.h"

#include <string.h>

#include "store/statements.h"

static const struct {
	const char *name;
	enum record_state state;
} names[] = {
    {"in_flight", RECORD_IN_FLIGHT}, {"complete", RECORD_COMPLETE}, {"unknown", RECORD_UNKNOWN},
    {"released", RECORD_RELEASED},   {"expired", RECORD_EXPIRED},
};

START_TEST(a_state_is_spelt_as_the_database_spells_it)
{
	const char *name = names[_i].name;
	ck_assert_str_eq(record_state_name(names[_i].state), name);
	ck_assert_int_eq(record_state_parse(name, strlen(name)), (int)names[_i].state);
}
END_TEST

static const char *const no_states[] = {"", "in_fligh", "in_flight2", "Complete", "complete "};

START_TEST(a_word_that_is_no_state_is_refused)
{
	ck_assert_int_eq(record_state_parse(no_states[_i], strlen(no_states[_i])), -1);
}
END_TEST

START_TEST(the_length_decides_where_a_state_ends)
{
	ck_assert_int_eq(record_state_parse("complete\0x", 8), (int)RECORD_COMPLETE);
	ck_assert_int_eq(record_state_parse("complete\0x", 10), -1);
}
END_TEST

/* docs/design.md section 3, the table of states, seen from each move. */
static const struct {
	enum record_move move;
	enum record_state from;
	bool allowed;
	const char *why;
} moves[] = {
    {MOVE_CLAIM, RECORD_IN_FLIGHT, false, "a claim makes a record and moves none"},
    {MOVE_CLAIM, RECORD_COMPLETE, false, "not even an expired one: that is a reclaim"},
    {MOVE_RECLAIM, RECORD_COMPLETE, true, "expired, it is like absent (case C9)"},
    {MOVE_RECLAIM, RECORD_IN_FLIGHT, true, "expired and its lease closed"},
    {MOVE_RECLAIM, RECORD_UNKNOWN, false, "unknown never expires (case C9)"},
    {MOVE_RECLAIM, RECORD_RELEASED, false, "claimable at once, by takeover"},
    {MOVE_RECLAIM, RECORD_EXPIRED, true, "a tombstone past its end"},
    {MOVE_TAKE_OVER, RECORD_IN_FLIGHT, true, "its lease closed"},
    {MOVE_TAKE_OVER, RECORD_RELEASED, true, "with its checkpoint"},
    {MOVE_TAKE_OVER, RECORD_COMPLETE, false, "its answer is there"},
    {MOVE_TAKE_OVER, RECORD_UNKNOWN, false, "it may have acted"},
    {MOVE_STORE, RECORD_IN_FLIGHT, true, "the owner's answer"},
    {MOVE_STORE, RECORD_UNKNOWN, true, "the owner's late answer"},
    {MOVE_STORE, RECORD_COMPLETE, false, "an answer is never replaced"},
    {MOVE_STORE, RECORD_RELEASED, false, "given up"},
    {MOVE_STORE, RECORD_EXPIRED, false, "a tombstone stays empty"},
    {MOVE_RELEASE, RECORD_IN_FLIGHT, true, "the owner gives up"},
    {MOVE_RELEASE, RECORD_UNKNOWN, false, "a person decides"},
    {MOVE_RELEASE, RECORD_COMPLETE, false, "the answer stays"},
    {MOVE_MARK_UNKNOWN, RECORD_IN_FLIGHT, true, "the owner does not know"},
    {MOVE_MARK_UNKNOWN, RECORD_COMPLETE, false, "the outcome is known"},
    {MOVE_LAPSE, RECORD_IN_FLIGHT, true, "a reader, its lease closed"},
    {MOVE_LAPSE, RECORD_COMPLETE, false, "the outcome is known"},
    {MOVE_LAPSE, RECORD_RELEASED, false, "nobody owns it"},
    {MOVE_FREE, RECORD_IN_FLIGHT, true, "a person, its lease closed"},
    {MOVE_FREE, RECORD_UNKNOWN, true, "a person has found out"},
    {MOVE_FREE, RECORD_COMPLETE, false, "an answer is never taken back"},
    {MOVE_FREE, RECORD_RELEASED, false, "free already"},
    {MOVE_FREE, RECORD_EXPIRED, false, "a tombstone goes by time"},
    {MOVE_RESOLVE, RECORD_IN_FLIGHT, true, "a person, its lease closed"},
    {MOVE_RESOLVE, RECORD_UNKNOWN, true, "a person has found out"},
    {MOVE_RESOLVE, RECORD_COMPLETE, false, "an answer is never replaced"},
    {MOVE_RESOLVE, RECORD_RELEASED, false, "nothing was done"},
    {MOVE_RESOLVE, RECORD_EXPIRED, false, "a tombstone stays empty"},
};

START_TEST(a_record_moves_only_along_the_life_cycle)
{
	ck_assert_msg(record_may_move(moves[_i].move, moves[_i].from) == moves[_i].allowed, "%s",
		      moves[_i].why);
}
END_TEST

START_TEST(a_freed_record_is_empty_and_usable)
{
	struct record record;
	record_init(&record);
	ck_assert_int_eq(buffer_append_text(&record.headers, "Status: 201\r\n"), 0);
	ck_assert_int_eq(buffer_append_text(&record.body, "made"), 0);
	ck_assert_int_eq(buffer_append_text(&record.reference, "invoice 7"), 0);
	record.attempt = 3;
	record_free(&record);
	ck_assert_uint_eq(record.body.length, 0);
	ck_assert_uint_eq(record.reference.length, 0);
	ck_assert_uint_eq(record.attempt, 0);
	ck_assert_int_eq(buffer_append_text(&record.body, "again"), 0);
	record_free(&record);
}
END_TEST

/* The states named by string literals in a piece of SQL, a bit each. */
static unsigned states_in(const char *text, size_t length)
{
	unsigned states = 0;
	for (const char *quote = text; quote < text + length; quote++) {
		if (*quote != '\'')
			continue;
		size_t word = strcspn(quote + 1, "'");
		int state = record_state_parse(quote + 1, word);
		if (state >= 0)
			states |= 1u << state;
		quote += word + 1;
	}
	return states;
}

static bool changes_records(const struct statement *statement)
{
	return statement->move != MOVE_NONE && statement->move != MOVE_CLAIM;
}

START_TEST(a_statement_moves_from_the_states_that_the_life_cycle_allows)
{
	const struct statement *statement = &statements[_i];
	if (!changes_records(statement))
		return;
	const char *where = strstr(statement->text, " WHERE ");
	ck_assert_ptr_nonnull(where);
	unsigned from = states_in(where, strlen(where));
	for (unsigned state = RECORD_IN_FLIGHT; state <= RECORD_EXPIRED; state++)
		ck_assert_msg(record_may_move(statement->move, (enum record_state)state) ==
				  ((from & 1u << state) != 0),
			      "%s: from %s", statement->name,
			      record_state_name((enum record_state)state));
}
END_TEST

START_TEST(a_statement_moves_to_the_state_that_the_life_cycle_says)
{
	const struct statement *statement = &statements[_i];
	if (statement->move == MOVE_NONE || strncmp(statement->text, "DELETE", 6) == 0)
		return;
	const char *end =
	    strstr(statement->text, statement->move == MOVE_CLAIM ? " ON DUPLICATE" : " WHERE ");
	ck_assert_ptr_nonnull(end);
	ck_assert_uint_eq(states_in(statement->text, (size_t)(end - statement->text)),
			  1u << record_move_target(statement->move));
}
END_TEST

START_TEST(a_statement_that_moves_a_record_names_its_id_and_token)
{
	const struct statement *statement = &statements[_i];
	if (!changes_records(statement))
		return;
	const char *own = " WHERE id = ? AND token = ? AND ";
	if (strstr(statement->text, "once_natural_key") != NULL)
		own = " WHERE once_record.id = ? AND once_record.token = ? AND ";
	ck_assert_ptr_nonnull(strstr(statement->text, own));
}
END_TEST

/* Two rows locked in two orders are a deadlock; an inner join with a natural key that was lost
 * would settle nothing. */
START_TEST(a_settlement_takes_the_record_first_and_the_natural_key_if_it_is_held)
{
	static const enum statement_name pairs[][2] = {
	    {STATEMENT_STORE, STATEMENT_STORE_NATURAL},
	    {STATEMENT_RELEASE, STATEMENT_RELEASE_NATURAL},
	    {STATEMENT_RELEASE_KEPT, STATEMENT_RELEASE_KEPT_NATURAL},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const struct statement *plain = &statements[pairs[i][0]];
		const struct statement *natural = &statements[pairs[i][1]];
		ck_assert_ptr_null(strstr(plain->text, "once_natural_key"));
		ck_assert_ptr_nonnull(
		    strstr(natural->text,
			   "once_record LEFT JOIN once_natural_key AS held ON held.natural_id = ?"
			   " AND held.record_id = once_record.id"
			   " AND held.token = once_record.token"));
		ck_assert(plain->move == natural->move);
	}
}
END_TEST

START_TEST(nobody_but_its_owner_moves_a_record_in_flight_whose_lease_is_not_closed)
{
	const struct statement *statement = &statements[_i];
	bool others = statement->move == MOVE_RECLAIM || statement->move == MOVE_TAKE_OVER ||
		      statement->move == MOVE_LAPSE;
	const char *closed = strstr(
	    statement->text, "state = 'in_flight' AND lease_until <= UTC_TIMESTAMP(6) AND EXISTS"
			     " (SELECT 1 FROM once_lease AS renewed WHERE renewed.token ="
			     " once_record.token AND renewed.lease_until = '1970-01-01')");
	ck_assert_msg((closed != NULL) == others, "%s", statement->name);
}
END_TEST

START_TEST(a_claim_changes_nothing_in_a_record_that_is_there)
{
	ck_assert_ptr_nonnull(strstr(statements[STATEMENT_CLAIM].text,
				     " ON DUPLICATE KEY UPDATE attempt = attempt RETURNING "));
}
END_TEST

START_TEST(the_owner_alone_waits_for_a_locked_row)
{
	const struct statement *statement = &statements[_i];
	bool settles = statement->move == MOVE_STORE || statement->move == MOVE_RELEASE ||
		       statement->move == MOVE_MARK_UNKNOWN || _i == STATEMENT_SETTLE_NATURAL;
	ck_assert_msg(statement->waits == settles, "%s", statement->name);
}
END_TEST

START_TEST(what_only_reads_is_a_plain_select)
{
	const char *text = statements[_i].text;
	bool selects = strncmp(text, "SELECT ", 7) == 0 && strstr(text, " FOR UPDATE") == NULL &&
		       strstr(text, " LOCK IN ") == NULL;
	ck_assert_msg(statements[_i].reads == selects, "%s", statements[_i].name);
}
END_TEST

START_TEST(times_are_the_databases_alone)
{
	const char *text = statements[_i].text;
	ck_assert_ptr_null(strstr(text, "NOW()"));
	ck_assert_ptr_null(strstr(text, "CURRENT_TIMESTAMP"));
	ck_assert_ptr_null(strstr(text, "_until = ?"));
	ck_assert_ptr_null(strstr(text, "_at = ?"));
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("record");
	TCase *states = tcase_create("states");
	tcase_add_loop_test(states, a_state_is_spelt_as_the_database_spells_it, 0, COUNT(names));
	tcase_add_loop_test(states, a_word_that_is_no_state_is_refused, 0, COUNT(no_states));
	tcase_add_test(states, the_length_decides_where_a_state_ends);
	tcase_add_loop_test(states, a_record_moves_only_along_the_life_cycle, 0, COUNT(moves));
	tcase_add_test(states, a_freed_record_is_empty_and_usable);
	suite_add_tcase(suite, states);
	TCase *sql = tcase_create("statements");
	tcase_add_loop_test(sql, a_statement_moves_from_the_states_that_the_life_cycle_allows, 0,
			    STATEMENT_COUNT);
	tcase_add_loop_test(sql, a_statement_moves_to_the_state_that_the_life_cycle_says, 0,
			    STATEMENT_COUNT);
	tcase_add_loop_test(sql, a_statement_that_moves_a_record_names_its_id_and_token, 0,
			    STATEMENT_COUNT);
	tcase_add_loop_test(sql,
			    nobody_but_its_owner_moves_a_record_in_flight_whose_lease_is_not_closed,
			    0, STATEMENT_COUNT);
	tcase_add_test(sql, a_settlement_takes_the_record_first_and_the_natural_key_if_it_is_held);
	tcase_add_loop_test(sql, what_only_reads_is_a_plain_select, 0, STATEMENT_COUNT);
	tcase_add_test(sql, a_claim_changes_nothing_in_a_record_that_is_there);
	tcase_add_loop_test(sql, the_owner_alone_waits_for_a_locked_row, 0, STATEMENT_COUNT);
	tcase_add_loop_test(sql, times_are_the_databases_alone, 0, STATEMENT_COUNT);
	suite_add_tcase(suite, sql);
	return suite_run(suite);
}
