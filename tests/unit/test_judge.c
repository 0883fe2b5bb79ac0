/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/judge.h"
#include "tests/unit/suite.h"

#include <string.h>

/* A policy that tells every outcome from every other. */
static char star[] = "*", no_401[] = "!401", no_429[] = "!429";
static char *patterns[] = {star, no_401, no_429};
static const struct route_status statuses = {0};

struct situation {
	const char *why;
	struct run_result run;
	const char *output; /* NULL: none */
	uint64_t body_length;
	bool body_failed;
	enum route_outcome on_crash, on_timeout, on_exit_nonzero;
	enum settlement settlement;
	enum verdict refusal;
};

#define GOOD   "Status: 201 Created\n\n"
#define POLICY OUTCOME_RELEASE, OUTCOME_UNKNOWN, OUTCOME_BY_STATUS

/* clang-format off */
static const struct situation situations[] = {
    {"exit 0 with an answer: stored", {.end = RUN_EXITED}, GOOD, 0, false, POLICY, SETTLE_STORE,
     VERDICT_FIRST},
    {"C31: exec failed, nothing happened: released", {.end = RUN_NOT_STARTED}, NULL, 0, false,
     OUTCOME_STORE, OUTCOME_STORE, OUTCOME_STORE, SETTLE_RELEASE, VERDICT_HANDLER_FAILED},
    {"a status that is not kept releases", {.end = RUN_EXITED}, "Status: 401 No\n\n", 0, false,
     POLICY, SETTLE_RELEASE, VERDICT_FIRST},
    {"a 500 is kept like any other", {.end = RUN_EXITED}, "Status: 500 Oops\n\n", 0, false, POLICY,
     SETTLE_STORE, VERDICT_FIRST},
    {"C43: exit 7 with a full answer, by status", {.end = RUN_EXITED, .exit_status = 7}, GOOD, 0,
     false, POLICY, SETTLE_STORE, VERDICT_FIRST},
    {"exit 7, by status, of a status that is not kept", {.end = RUN_EXITED, .exit_status = 7},
     "Status: 429 Slow\n\n", 0, false, POLICY, SETTLE_RELEASE, VERDICT_FIRST},
    {"exit 7 on release: the client still gets the answer", {.end = RUN_EXITED, .exit_status = 7},
     GOOD, 0, false, OUTCOME_STORE, OUTCOME_STORE, OUTCOME_RELEASE, SETTLE_RELEASE, VERDICT_FIRST},
    {"exit 7 on store keeps even a status that is not kept otherwise",
     {.end = RUN_EXITED, .exit_status = 7}, "Status: 401 No\n\n", 0, false, OUTCOME_RELEASE,
     OUTCOME_RELEASE, OUTCOME_STORE, SETTLE_STORE, VERDICT_FIRST},
    {"exit 7 on unknown", {.end = RUN_EXITED, .exit_status = 7}, GOOD, 0, false, OUTCOME_RELEASE,
     OUTCOME_RELEASE, OUTCOME_UNKNOWN, SETTLE_UNKNOWN, VERDICT_FIRST},
    {"C44: no output and exit 3: a crash", {.end = RUN_EXITED, .exit_status = 3}, NULL, 0, false,
     POLICY, SETTLE_RELEASE, VERDICT_HANDLER_FAILED},
    {"C45: no header block: a crash", {.end = RUN_EXITED}, "hello\n\n", 0, false, POLICY,
     SETTLE_RELEASE, VERDICT_HANDLER_FAILED},
    {"half a header: a crash", {.end = RUN_EXITED}, "Status: 201 Crea", 0, false, POLICY,
     SETTLE_RELEASE, VERDICT_HANDLER_FAILED},
    {"a body shorter than declared: a crash", {.end = RUN_EXITED}, "Content-Length: 1000\n\n", 7,
     false, POLICY, SETTLE_RELEASE, VERDICT_HANDLER_FAILED},
    {"a body as long as declared", {.end = RUN_EXITED}, "Content-Length: 7\n\n", 7, false, POLICY,
     SETTLE_STORE, VERDICT_FIRST},
    {"a 304 may declare a body that it does not carry", {.end = RUN_EXITED},
     "Status: 304 Same\nContent-Length: 7\n\n", 0, false, POLICY, SETTLE_STORE, VERDICT_FIRST},
    {"C43: killed after a good header block: never final", {.end = RUN_SIGNALED, .signal = 9},
     "Content-Length: 1000\n\n", 7, false, POLICY, SETTLE_RELEASE, VERDICT_HANDLER_FAILED},
    {"killed, on_crash = store: our answer is kept", {.end = RUN_SIGNALED, .signal = 9}, GOOD, 0,
     false, OUTCOME_STORE, OUTCOME_RELEASE, OUTCOME_BY_STATUS, SETTLE_STORE,
     VERDICT_HANDLER_FAILED},
    {"killed, on_crash = unknown", {.end = RUN_SIGNALED, .signal = 9}, GOOD, 0, false,
     OUTCOME_UNKNOWN, OUTCOME_RELEASE, OUTCOME_BY_STATUS, SETTLE_UNKNOWN, VERDICT_HANDLER_FAILED},
    {"C53: timed out, on_timeout = unknown", {.end = RUN_TIMED_OUT}, GOOD, 0, false, POLICY,
     SETTLE_UNKNOWN, VERDICT_HANDLER_TIMEOUT},
    {"C53: timed out, on_timeout = release", {.end = RUN_TIMED_OUT}, GOOD, 0, false, OUTCOME_STORE,
     OUTCOME_RELEASE, OUTCOME_BY_STATUS, SETTLE_RELEASE, VERDICT_HANDLER_TIMEOUT},
    {"C53: timed out, on_timeout = store: our answer is kept", {.end = RUN_TIMED_OUT}, GOOD, 0,
     false, OUTCOME_RELEASE, OUTCOME_STORE, OUTCOME_BY_STATUS, SETTLE_STORE,
     VERDICT_HANDLER_TIMEOUT},
    {"C20: an answer too large to keep is still its client's", {.end = RUN_EXITED}, GOOD, 5000,
     false, POLICY, SETTLE_NOT_KEPT, VERDICT_FIRST},
    {"too large, of a status that is not kept: released", {.end = RUN_EXITED}, "Status: 401 No\n\n",
     5000, false, POLICY, SETTLE_RELEASE, VERDICT_FIRST},
    {"C29: output without end: a retry must not run it again", {.end = RUN_OUTPUT_REFUSED}, GOOD,
     5000, false, POLICY, SETTLE_NOT_KEPT, VERDICT_HANDLER_FAILED},
    {"an answer that could not be taken in: likewise", {.end = RUN_EXITED}, GOOD, 10, true, POLICY,
     SETTLE_NOT_KEPT, VERDICT_HANDLER_FAILED},
    {"the lease was lost under it: by on_crash, and no answer of its own", {.end = RUN_STOPPED},
     GOOD, 0, false, POLICY, SETTLE_RELEASE, VERDICT_UNSETTLED},
};
/* clang-format on */

static void parse(struct cgi_response *response, const char *output)
{
	cgi_response_init(response, 4096);
	if (output != NULL)
		cgi_response_feed(response, output, strlen(output));
	cgi_response_end(response);
}

START_TEST(each_end_of_a_handler_is_judged_by_its_evidence)
{
	const struct situation *situation = &situations[_i];
	struct route route = {
	    .status = statuses,
	    .exit_not_done = EXIT_NOT_DONE_NONE,
	    .oversize = KEEP_MARKER,
	    .store_statuses = {patterns, sizeof(patterns) / sizeof(patterns[0])},
	    .on_crash = situation->on_crash,
	    .on_timeout = situation->on_timeout,
	    .on_exit_nonzero = situation->on_exit_nonzero,
	};
	struct cgi_response response;
	parse(&response, situation->output);
	struct judgement judgement =
	    judge(&(struct evidence){.route = &route,
				     .method = "POST",
				     .run = &situation->run,
				     .response = &response,
				     .body_length = situation->body_length,
				     .largest = 4000,
				     .body_failed = situation->body_failed});
	ck_assert_msg(judgement.settlement == situation->settlement, "%s: settlement %d",
		      situation->why, (int)judgement.settlement);
	ck_assert_msg(judgement.refusal == situation->refusal, "%s: refusal %s", situation->why,
		      verdict_name(judgement.refusal));
	cgi_response_free(&response);
}
END_TEST

/* What the handler says, or the route asks to be kept, beside the above. */
struct saying {
	const char *why;
	struct run_result run;
	const char *output; /* NULL: none */
	uint64_t body_length;
	bool body_failed;
	enum route_outcome on_crash;
	enum route_keep keep, oversize;
	enum settlement settlement;
	enum verdict refusal;
	bool reference_missing;
};

#define SAYS(outcome) "Status: 201 Created\nOnce-Outcome: " outcome "\n\n"
#define REFERENCE     "Status: 201 Created\nOnce-Reference: order 7\n\n"

static const struct saying sayings[] = {
    {"store beats a status that is not kept",
     {.end = RUN_EXITED},
     "Status: 429 Slow\nOnce-Outcome: store\n\n",
     .settlement = SETTLE_STORE},
    {"store beats an exit status",
     {.end = RUN_EXITED, .exit_status = 7},
     SAYS("store"),
     .settlement = SETTLE_STORE},
    {"C31: release beats a status that is kept; the client gets the answer",
     {.end = RUN_EXITED},
     SAYS("release"),
     .settlement = SETTLE_RELEASE},
    {"unknown likewise", {.end = RUN_EXITED}, SAYS("unknown"), .settlement = SETTLE_UNKNOWN},
    {"unknown, exit 7 on release",
     {.end = RUN_EXITED, .exit_status = 7},
     SAYS("unknown"),
     .settlement = SETTLE_UNKNOWN},
    {"what is not understood says nothing",
     {.end = RUN_EXITED},
     SAYS("perhaps"),
     .settlement = SETTLE_STORE},

    {"killed after saying store: by on_crash",
     {.end = RUN_SIGNALED, .signal = 9},
     SAYS("store"),
     .settlement = SETTLE_RELEASE,
     .refusal = VERDICT_HANDLER_FAILED},
    {"killed after saying release: by on_crash",
     {.end = RUN_SIGNALED, .signal = 9},
     SAYS("release"),
     .on_crash = OUTCOME_STORE,
     .settlement = SETTLE_STORE,
     .refusal = VERDICT_HANDLER_FAILED},
    {"killed after saying unknown: believed",
     {.end = RUN_SIGNALED, .signal = 9},
     SAYS("unknown"),
     .settlement = SETTLE_UNKNOWN,
     .refusal = VERDICT_HANDLER_FAILED},
    {"cut short after saying unknown",
     {.end = RUN_EXITED},
     "Content-Length: 9\nOnce-Outcome: unknown\n\n",
     3,
     .settlement = SETTLE_UNKNOWN,
     .refusal = VERDICT_HANDLER_FAILED},
    {"timed out after saying unknown, on_timeout = release",
     {.end = RUN_TIMED_OUT},
     SAYS("unknown"),
     .settlement = SETTLE_UNKNOWN,
     .refusal = VERDICT_HANDLER_TIMEOUT},
    {"unknown in a block that did not end is not said",
     {.end = RUN_SIGNALED, .signal = 9},
     "Once-Outcome: unknown\n",
     .settlement = SETTLE_RELEASE,
     .refusal = VERDICT_HANDLER_FAILED},
    {"an answer that could not be taken in, of a handler that said unknown",
     {.end = RUN_OUTPUT_REFUSED},
     SAYS("unknown"),
     .settlement = SETTLE_UNKNOWN,
     .refusal = VERDICT_HANDLER_FAILED},
    {"and of one that said release, which did not end",
     {.end = RUN_OUTPUT_REFUSED},
     SAYS("release"),
     .settlement = SETTLE_NOT_KEPT,
     .refusal = VERDICT_HANDLER_FAILED},

    {"keep = marker",
     {.end = RUN_EXITED},
     REFERENCE,
     .keep = KEEP_MARKER,
     .settlement = SETTLE_NOT_KEPT},
    {"keep = reference",
     {.end = RUN_EXITED},
     REFERENCE,
     .keep = KEEP_REFERENCE,
     .settlement = SETTLE_REFERENCE},
    {"keep = reference without one: a marker, and a line in the log",
     {.end = RUN_EXITED},
     GOOD,
     .keep = KEEP_REFERENCE,
     .settlement = SETTLE_NOT_KEPT,
     .reference_missing = true},
    {"keep = reference of an answer of any size",
     {.end = RUN_EXITED},
     REFERENCE,
     5000,
     .keep = KEEP_REFERENCE,
     .oversize = KEEP_MARKER,
     .settlement = SETTLE_REFERENCE},
    {"keep = marker whatever oversize says",
     {.end = RUN_EXITED},
     REFERENCE,
     5000,
     .keep = KEEP_MARKER,
     .oversize = KEEP_REFERENCE,
     .settlement = SETTLE_NOT_KEPT},
    {"keep = marker of a status that is not kept",
     {.end = RUN_EXITED},
     "Status: 401 No\n\n",
     .keep = KEEP_MARKER,
     .settlement = SETTLE_RELEASE},
    {"keep = marker of a success that was said to be stored",
     {.end = RUN_EXITED},
     "Status: 201 Yes\nOnce-Outcome: store\n\n",
     .keep = KEEP_MARKER,
     .settlement = SETTLE_NOT_KEPT},
    {"keep = marker: an error is kept in full, which nobody could give again",
     {.end = RUN_EXITED},
     "Status: 404 No\n\n",
     .keep = KEEP_MARKER,
     .settlement = SETTLE_STORE},
    {"keep = marker: our own answer is kept in full",
     {.end = RUN_SIGNALED, .signal = 9},
     GOOD,
     .on_crash = OUTCOME_STORE,
     .keep = KEEP_MARKER,
     .settlement = SETTLE_STORE,
     .refusal = VERDICT_HANDLER_FAILED},
    {"a reference is nothing where the answer is kept",
     {.end = RUN_EXITED},
     REFERENCE,
     .oversize = KEEP_REFERENCE,
     .settlement = SETTLE_STORE},
    {"oversize = reference",
     {.end = RUN_EXITED},
     REFERENCE,
     5000,
     .oversize = KEEP_REFERENCE,
     .settlement = SETTLE_REFERENCE},
    {"oversize = reference without one",
     {.end = RUN_EXITED},
     GOOD,
     5000,
     .oversize = KEEP_REFERENCE,
     .settlement = SETTLE_NOT_KEPT,
     .reference_missing = true},
    {"oversize = marker",
     {.end = RUN_EXITED},
     REFERENCE,
     5000,
     .oversize = KEEP_MARKER,
     .settlement = SETTLE_NOT_KEPT},
    {"C29: output without end, oversize = reference",
     {.end = RUN_OUTPUT_REFUSED},
     REFERENCE,
     5000,
     .oversize = KEEP_REFERENCE,
     .settlement = SETTLE_REFERENCE,
     .refusal = VERDICT_HANDLER_FAILED},
};

/* Zero in the tables: what would be seen if it were what counts. */
static struct route route_of(const struct saying *saying)
{
	return (struct route){
	    .store_statuses = {patterns, sizeof(patterns) / sizeof(patterns[0])},
	    .on_crash = saying->on_crash,
	    .on_timeout = OUTCOME_RELEASE,
	    .on_exit_nonzero = OUTCOME_RELEASE,
	    .exit_not_done = EXIT_NOT_DONE_NONE,
	    .keep = saying->keep,
	    .oversize = saying->oversize,
	};
}

START_TEST(the_handlers_word_and_the_routes_wish_count_where_they_may)
{
	const struct saying *saying = &sayings[_i];
	struct route route = route_of(saying);
	struct cgi_response response;
	enum verdict refusal = saying->refusal != 0 ? saying->refusal : VERDICT_FIRST;
	parse(&response, saying->output);
	struct judgement judgement = judge(&(struct evidence){.route = &route,
							      .method = "POST",
							      .run = &saying->run,
							      .response = &response,
							      .body_length = saying->body_length,
							      .largest = 4000,
							      .body_failed = saying->body_failed});
	ck_assert_msg(judgement.settlement == saying->settlement, "%s: settlement %d", saying->why,
		      (int)judgement.settlement);
	ck_assert_msg(judgement.refusal == refusal, "%s: refusal %s", saying->why,
		      verdict_name(judgement.refusal));
	ck_assert_msg(judgement.reference_missing == saying->reference_missing, "%s", saying->why);
	cgi_response_free(&response);
}
END_TEST

static const struct {
	const char *why;
	struct run_result run;
	const char *output;
	int64_t exit_not_done;
	const char *cause;
	enum settlement settlement;
} not_done[] = {
    {"C31: that exit status, no output, input unread",
     {.end = RUN_EXITED, .exit_status = 75},
     NULL,
     75,
     "not done",
     SETTLE_RELEASE},
    {"0 may be it", {.end = RUN_EXITED}, NULL, 0, "not done", SETTLE_RELEASE},
    {"another exit status",
     {.end = RUN_EXITED, .exit_status = 74},
     NULL,
     75,
     "no valid answer",
     SETTLE_UNKNOWN},
    {"its input was read",
     {.end = RUN_EXITED, .exit_status = 75, .input_read = true},
     NULL,
     75,
     "no valid answer",
     SETTLE_UNKNOWN},
    {"there was output, if none that is valid",
     {.end = RUN_EXITED, .exit_status = 75, .output_bytes = 1},
     "x",
     75,
     "no valid answer",
     SETTLE_UNKNOWN},
    {"there was an answer",
     {.end = RUN_EXITED, .exit_status = 75, .output_bytes = 21},
     GOOD,
     75,
     "exit status not zero",
     SETTLE_STORE},
    {"killed", {.end = RUN_SIGNALED, .exit_status = 75}, NULL, 75, "signal", SETTLE_UNKNOWN},
    {"none is configured",
     {.end = RUN_EXITED, .exit_status = -1},
     NULL,
     EXIT_NOT_DONE_NONE,
     "no valid answer",
     SETTLE_UNKNOWN},
};

START_TEST(an_exit_status_that_means_not_done_is_believed_of_one_that_did_nothing)
{
	struct saying policy = {.on_crash = OUTCOME_UNKNOWN};
	struct route route = route_of(&policy);
	struct cgi_response response;
	route.on_exit_nonzero = OUTCOME_STORE;
	route.exit_not_done = not_done[_i].exit_not_done;
	parse(&response, not_done[_i].output);
	struct judgement judgement = judge(&(struct evidence){.route = &route,
							      .method = "POST",
							      .run = &not_done[_i].run,
							      .response = &response,
							      .largest = 4000});
	ck_assert_msg(strcmp(judgement.cause, not_done[_i].cause) == 0, "%s: %s", not_done[_i].why,
		      judgement.cause);
	ck_assert_msg(judgement.settlement == not_done[_i].settlement, "%s: settlement %d",
		      not_done[_i].why, (int)judgement.settlement);
	ck_assert(
	    judgement.refusal ==
	    (not_done[_i].settlement == SETTLE_STORE ? VERDICT_FIRST : VERDICT_HANDLER_FAILED));
	cgi_response_free(&response);
}
END_TEST

static const struct {
	const char *why;
	struct run_result run;
	const char *output;
	bool body_failed;
	int first; /* the status that was told then */
	bool good;
} rebuilt[] = {
    {"as it was", {.end = RUN_EXITED}, GOOD, false, 201, true},
    {"another success", {.end = RUN_EXITED}, "Status: 200\n\n", false, 201, true},
    {"the same refusal", {.end = RUN_EXITED}, "Status: 422\n\n", false, 422, true},
    {"the same failure", {.end = RUN_EXITED}, "Status: 500\n\n", false, 500, true},
    {"said to be stored, which it is", {.end = RUN_EXITED}, SAYS("store"), false, 201, true},
    {"it cannot find it", {.end = RUN_EXITED}, "Status: 404\n\n", false, 201, false},
    {"it cannot work now", {.end = RUN_EXITED}, "Status: 500\n\n", false, 201, false},
    {"another refusal", {.end = RUN_EXITED}, "Status: 404\n\n", false, 422, false},
    {"a success in place of a failure", {.end = RUN_EXITED}, GOOD, false, 500, false},
    {"exit 1", {.end = RUN_EXITED, .exit_status = 1}, GOOD, false, 201, false},
    {"killed", {.end = RUN_SIGNALED, .signal = 9}, GOOD, false, 201, false},
    {"timed out", {.end = RUN_TIMED_OUT}, GOOD, false, 201, false},
    {"nothing", {.end = RUN_EXITED}, NULL, false, 201, false},
    {"cut short", {.end = RUN_EXITED}, "Status: 201\nContent-Length: 9\n\n", false, 201, false},
    {"not taken in", {.end = RUN_EXITED}, GOOD, true, 201, false},
    {"said to be none: release", {.end = RUN_EXITED}, SAYS("release"), false, 201, false},
    {"said to be none: unknown", {.end = RUN_EXITED}, SAYS("unknown"), false, 201, false},
};

START_TEST(a_rebuilt_answer_stands_for_the_first_where_it_says_the_same)
{
	struct cgi_response response;
	parse(&response, rebuilt[_i].output);
	const struct evidence evidence = {.method = "POST",
					  .run = &rebuilt[_i].run,
					  .response = &response,
					  .body_failed = rebuilt[_i].body_failed};
	ck_assert_msg(judge_is_rebuilt(&evidence, rebuilt[_i].first) == rebuilt[_i].good, "%s",
		      rebuilt[_i].why);
	cgi_response_free(&response);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("judge");
	TCase *cases = tcase_create("judge");
	tcase_add_loop_test(cases, each_end_of_a_handler_is_judged_by_its_evidence, 0,
			    COUNT(situations));
	tcase_add_loop_test(cases, the_handlers_word_and_the_routes_wish_count_where_they_may, 0,
			    COUNT(sayings));
	tcase_add_loop_test(cases,
			    an_exit_status_that_means_not_done_is_believed_of_one_that_did_nothing,
			    0, COUNT(not_done));
	tcase_add_loop_test(cases, a_rebuilt_answer_stands_for_the_first_where_it_says_the_same, 0,
			    COUNT(rebuilt));
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
