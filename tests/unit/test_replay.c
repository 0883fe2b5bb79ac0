/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/replay.h"
#include "tests/unit/recorder.h"
#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>

static char marker[] = "Idempotent-Replayed: true", second_marker[] = "X-Again: yes";
static char cookie[] = "Set-Cookie", date[] = "Date";
static char *markers[] = {marker, second_marker};
static char *dropped[] = {cookie, date};
static char none[] = "", first_seen[] = "X-First-Seen";
static const struct route route = {
    .replay_headers = {markers, 2},
    .drop_headers = {dropped, 2},
    .first_header = true,
    .first_seen_header = none,
};

/* Nothing shows that it is a replay, and all replays look alike. */
static const struct route silent = {.first_seen_header = none};
static const struct route fixed = {.first_seen_header = none, .replay_status = 200};
static const struct route empty = {.first_seen_header = none, .replay_status = 204};
static const struct route dated = {.first_seen_header = first_seen};

#define FIRST_MS INT64_C(1767323045678)

static struct buffer buffer_of(const char *text)
{
	struct buffer buffer = {0};
	ck_assert_int_eq(buffer_append_text(&buffer, text), 0);
	return buffer;
}

START_TEST(what_is_kept_leaves_out_dropped_fields_and_our_markers)
{
	struct buffer headers =
	    buffer_of("Location: /1\r\nset-cookie: a=b\r\nSet-Cookie: c=d\r\n"
		      "idempotent-replayed: lie\r\nDate: now\r\nETag: \"x\"\r\n");
	struct buffer kept = {0};
	ck_assert_int_eq(replay_keep_headers(&kept, &route, 201, "Made It", &headers), 0);
	ck_assert_str_eq(buffer_text(&kept),
			 "Status: 201 Made It\r\nLocation: /1\r\nETag: \"x\"\r\n");
	buffer_free(&kept);
	buffer_free(&headers);
}
END_TEST

START_TEST(the_time_of_the_first_one_is_ours_to_say_too)
{
	struct buffer headers = buffer_of("x-first-seen: lie\r\nX-First-Seen-By: me\r\n");
	struct buffer kept = {0}, first = {0};
	ck_assert_int_eq(replay_keep_headers(&kept, &dated, 200, "", &headers), 0);
	ck_assert_str_eq(buffer_text(&kept), "Status: 200\r\nX-First-Seen-By: me\r\n");
	ck_assert_int_eq(replay_strip_markers(&first, &dated, &headers), 0);
	ck_assert_str_eq(buffer_text(&first), "X-First-Seen-By: me\r\n");
	buffer_free(&kept);
	buffer_free(&first);
	buffer_free(&headers);
}
END_TEST

START_TEST(C27_the_first_answer_keeps_its_cookies_in_order_but_not_a_marker_of_its_own)
{
	struct buffer headers =
	    buffer_of("Set-Cookie: a=b\r\nX-AGAIN: maybe\r\nSet-Cookie: c=d\r\n");
	struct buffer first = {0};
	ck_assert_int_eq(replay_strip_markers(&first, &route, &headers), 0);
	ck_assert_int_eq(replay_first_markers(&first, &route), 0);
	ck_assert_str_eq(buffer_text(&first), "Set-Cookie: a=b\r\nSet-Cookie: c=d\r\n"
					      "Idempotent-Replayed: false\r\nX-Again: false\r\n");
	buffer_free(&first);
	buffer_free(&headers);
}
END_TEST

static const struct {
	const char *why;
	const struct route *route;
	const char *method;
	const char *headers;
	int status;
	const char *body;
	const char *wire;
} replays[] = {
    {"C25: status, reason, fields and body as they were", &route, "POST",
     "Status: 201 Made It\r\nLocation: /1\r\n", 201, "id=1",
     "Status: 201 Made It\r\nLocation: /1\r\nIdempotent-Replayed: true\r\nX-Again: yes\r\n"
     "Content-Length: 4\r\n\r\nid=1"},
    {"an answer without a reason", &route, "POST", "Status: 200\r\nA: b\r\n", 200, "",
     "Status: 200\r\nA: b\r\nIdempotent-Replayed: true\r\nX-Again: yes\r\n"
     "Content-Length: 0\r\n\r\n"},
    {"C56: a 204 is replayed without body and length", &route, "POST", "Status: 204 No Content\r\n",
     204, "", "Status: 204 No Content\r\nIdempotent-Replayed: true\r\nX-Again: yes\r\n\r\n"},
    {"C56: also where its handler wrote one", &silent, "POST", "Status: 204\r\n", 204, "never sent",
     "Status: 204\r\n\r\n"},
    {"a record without header lines", &silent, "POST", "", 200, "x",
     "Status: 200\r\nContent-Length: 1\r\n\r\nx"},
    {"no marker is configured: byte for byte the first one", &silent, "POST",
     "Status: 200 OK\r\nIdempotent-Replayed: handler's\r\n", 200, "x",
     "Status: 200 OK\r\nIdempotent-Replayed: handler's\r\nContent-Length: 1\r\n\r\nx"},
    {"what was stored before the marker was configured says it no more", &route, "POST",
     "Status: 200\r\nidempotent-replayed: false\r\n", 200, "x",
     "Status: 200\r\nIdempotent-Replayed: true\r\nX-Again: yes\r\nContent-Length: 1\r\n\r\nx"},
    {"the time of the first one", &dated, "POST", "Status: 200\r\nX-FIRST-SEEN: old\r\n", 200, "x",
     "Status: 200\r\nX-First-Seen: 2026-01-02T03:04:05.678Z\r\nContent-Length: 1\r\n\r\nx"},
    {"a fixed status, and no reason of another", &fixed, "POST",
     "Status: 201 Created\r\nLocation: /1\r\n", 201, "id=1",
     "Status: 200\r\nLocation: /1\r\nContent-Length: 4\r\n\r\nid=1"},
    {"that is the stored one", &fixed, "POST", "Status: 200 Fine\r\n", 200, "x",
     "Status: 200 Fine\r\nContent-Length: 1\r\n\r\nx"},
    {"is for a success alone", &fixed, "POST", "Status: 402 Pay\r\n", 402, "x",
     "Status: 402 Pay\r\nContent-Length: 1\r\n\r\nx"},
    {"nor for a redirection", &fixed, "POST", "Status: 303\r\nLocation: /1\r\n", 303, "",
     "Status: 303\r\nLocation: /1\r\nContent-Length: 0\r\n\r\n"},
    {"a 204 told by 200 has an empty body", &fixed, "POST", "Status: 204 No Content\r\n", 204, "",
     "Status: 200\r\nContent-Length: 0\r\n\r\n"},
    {"even where its handler wrote one that was not sent", &fixed, "POST", "Status: 204\r\n", 204,
     "never sent", "Status: 200\r\nContent-Length: 0\r\n\r\n"},
    {"a 201 told by 204 has none", &empty, "POST", "Status: 201\r\n", 201, "id=1",
     "Status: 204\r\n\r\n"},
    {"a HEAD tells the length", &silent, "HEAD", "Status: 200\r\n", 200, "four",
     "Status: 200\r\nContent-Length: 4\r\n\r\n"},
};

START_TEST(a_record_is_replayed_as_it_was_stored)
{
	struct recorder recorder;
	recorder_init(&recorder);
	struct request request = {.method = replays[_i].method};
	struct exchange exchange = {.route = replays[_i].route,
				    .request = &request,
				    .reply = &recorder.reply,
				    .record = {.state = RECORD_COMPLETE,
					       .created_ms = FIRST_MS,
					       .status = replays[_i].status,
					       .headers = buffer_of(replays[_i].headers),
					       .body = buffer_of(replays[_i].body)}};
	replay_send(&exchange);
	ck_assert_int_eq(exchange.status, atoi(replays[_i].wire + strlen("Status: ")));
	ck_assert_msg(strcmp(buffer_text(&recorder.wire), replays[_i].wire) == 0, "%s: got %s",
		      replays[_i].why, buffer_text(&recorder.wire));
	record_free(&exchange.record);
	recorder_free(&recorder);
}
END_TEST

static const struct {
	const char *why;
	const struct route *route;
	int first; /* status then */
	const char *output, *body;
	const char *wire;
} rebuilt[] = {
    {"with our markers and not its own, without what is dropped", &route, 201,
     "Status: 201 Made\nLocation: /1\nDate: now\nX-Again: no\nSet-Cookie: a=b\n\n", "id=1",
     "Status: 201 Made\r\nLocation: /1\r\nIdempotent-Replayed: true\r\nX-Again: yes\r\n"
     "Content-Length: 4\r\n\r\nid=1"},
    {"the time is the first one's", &dated, 200, "Status: 200\n\n", "x",
     "Status: 200\r\nX-First-Seen: 2026-01-02T03:04:05.678Z\r\nContent-Length: 1\r\n\r\nx"},
    {"of a handler that says 200 for what was 201", &silent, 201, "Status: 200 OK\n\n", "x",
     "Status: 201\r\nContent-Length: 1\r\n\r\nx"},
    {"that gives a body for what had none", &silent, 204, "Status: 200 OK\n\n", "x",
     "Status: 200 OK\r\nContent-Length: 1\r\n\r\nx"},
    {"by the fixed status", &fixed, 201, "Status: 201 Created\n\n", "x",
     "Status: 200\r\nContent-Length: 1\r\n\r\nx"},
    {"of a refusal", &fixed, 422, "Status: 422 No\n\n", "x",
     "Status: 422 No\r\nContent-Length: 1\r\n\r\nx"},
};

START_TEST(a_rebuilt_answer_is_sent_as_a_replay)
{
	struct recorder recorder;
	recorder_init(&recorder);
	struct request request = {.method = "POST"};
	struct cgi_response response;
	cgi_response_init(&response, 4096);
	cgi_response_feed(&response, rebuilt[_i].output, strlen(rebuilt[_i].output));
	struct exchange exchange = {.route = rebuilt[_i].route,
				    .request = &request,
				    .reply = &recorder.reply,
				    .record = {.state = RECORD_COMPLETE,
					       .created_ms = FIRST_MS,
					       .flags = RECORD_NOT_KEPT,
					       .status = rebuilt[_i].first}};
	replay_send_rebuilt(&exchange, &response, rebuilt[_i].body, strlen(rebuilt[_i].body));
	ck_assert_int_eq(exchange.status, atoi(rebuilt[_i].wire + strlen("Status: ")));
	ck_assert_msg(strcmp(buffer_text(&recorder.wire), rebuilt[_i].wire) == 0, "%s: got %s",
		      rebuilt[_i].why, buffer_text(&recorder.wire));
	cgi_response_free(&response);
	recorder_free(&recorder);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("replay");
	TCase *cases = tcase_create("replay");
	tcase_add_test(cases, what_is_kept_leaves_out_dropped_fields_and_our_markers);
	tcase_add_test(cases, the_time_of_the_first_one_is_ours_to_say_too);
	tcase_add_test(cases,
		       C27_the_first_answer_keeps_its_cookies_in_order_but_not_a_marker_of_its_own);
	tcase_add_loop_test(cases, a_record_is_replayed_as_it_was_stored, 0,
			    sizeof(replays) / sizeof(replays[0]));
	tcase_add_loop_test(cases, a_rebuilt_answer_is_sent_as_a_replay, 0,
			    sizeof(rebuilt) / sizeof(rebuilt[0]));
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
