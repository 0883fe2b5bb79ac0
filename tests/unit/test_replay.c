/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/replay.h"
#include "tests/unit/recorder.h"
#include "tests/unit/suite.h"

#include <string.h>

static char marker[] = "Idempotent-Replayed: true", second_marker[] = "X-Again: yes";
static char cookie[] = "Set-Cookie", date[] = "Date";
static char *markers[] = {marker, second_marker};
static char *dropped[] = {cookie, date};
static const struct route route = {
    .replay_headers = {markers, 2},
    .drop_headers = {dropped, 2},
    .first_header = true,
};

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
	const char *headers;
	int status;
	const char *body;
	const char *wire;
} replays[] = {
    {"C25: status, reason, fields and body as they were", "Status: 201 Made It\r\nLocation: /1\r\n",
     201, "id=1",
     "Status: 201 Made It\r\nLocation: /1\r\nIdempotent-Replayed: true\r\nX-Again: yes\r\n"
     "Content-Length: 4\r\n\r\nid=1"},
    {"an answer without a reason", "Status: 200\r\nA: b\r\n", 200, "",
     "Status: 200\r\nA: b\r\nIdempotent-Replayed: true\r\nX-Again: yes\r\n"
     "Content-Length: 0\r\n\r\n"},
    {"C56: a 204 is replayed without body and length", "Status: 204 No Content\r\n", 204, "",
     "Status: 204 No Content\r\nIdempotent-Replayed: true\r\nX-Again: yes\r\n\r\n"},
};

START_TEST(a_record_is_replayed_as_it_was_stored)
{
	struct recorder recorder;
	recorder_init(&recorder);
	struct request request = {.method = "POST"};
	struct exchange exchange = {.route = &route,
				    .request = &request,
				    .reply = &recorder.reply,
				    .record = {.state = RECORD_COMPLETE,
					       .status = replays[_i].status,
					       .headers = buffer_of(replays[_i].headers),
					       .body = buffer_of(replays[_i].body)}};
	replay_send(&exchange);
	ck_assert_int_eq(exchange.status, replays[_i].status);
	ck_assert_msg(strcmp(buffer_text(&recorder.wire), replays[_i].wire) == 0, "%s: got %s",
		      replays[_i].why, buffer_text(&recorder.wire));
	record_free(&exchange.record);
	recorder_free(&recorder);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("replay");
	TCase *cases = tcase_create("replay");
	tcase_add_test(cases, what_is_kept_leaves_out_dropped_fields_and_our_markers);
	tcase_add_test(cases,
		       C27_the_first_answer_keeps_its_cookies_in_order_but_not_a_marker_of_its_own);
	tcase_add_loop_test(cases, a_record_is_replayed_as_it_was_stored, 0,
			    sizeof(replays) / sizeof(replays[0]));
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
