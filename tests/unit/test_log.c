/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "base/log.h"

#include "tests/unit/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Standard error is a datagram socket here, so that each write(2) arrives by itself. */
static int sink = -1;

/* Where syslogd or journald would listen. */
static char socket_path[64];
static int daemon_end = -1;

static void serve_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	daemon_end = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	ck_assert_int_ne(daemon_end, -1);
	ck_assert_int_eq(bind(daemon_end, (struct sockaddr *)&address, sizeof(address)), 0);
}

static void end_socket(void)
{
	close(daemon_end);
	unlink(socket_path);
}

static void set_up(void)
{
	int ends[2];
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
	ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	close(ends[1]);
	sink = ends[0];
	ck_assert_int_eq(fcntl(sink, F_SETFL, O_NONBLOCK), 0);
	snprintf(socket_path, sizeof(socket_path), "%s/test_log.%ld",
		 getenv("TMPDIR") == NULL ? "/tmp" : getenv("TMPDIR"), (long)getpid());
}

static void tear_down(void)
{
	close(sink);
	unlink(socket_path);
}

/* One write, parsed: it must be one JSON object, one newline at its end, and whole within PIPE_BUF.
 */
static json_t *next_line(void)
{
	char text[65536];
	ssize_t length = recv(sink, text, sizeof(text) - 1, 0);
	ck_assert_int_gt(length, 0);
	ck_assert_int_le(length, PIPE_BUF);
	text[length] = '\0';
	ck_assert_uint_eq(strcspn(text, "\n"), (size_t)length - 1);
	json_error_t error;
	json_t *line = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	ck_assert_msg(line != NULL, "%s: %s", error.text, text);
	ck_assert(json_is_object(line));
	return line;
}

static void expect_silence(void)
{
	char byte;
	ck_assert_int_eq(recv(sink, &byte, 1, 0), -1);
	ck_assert_int_eq(errno, EAGAIN);
}

static const char *text_of(const json_t *line, const char *name)
{
	const char *text = json_string_value(json_object_get(line, name));
	ck_assert_msg(text != NULL, "no field %s", name);
	return text;
}

START_TEST(a_message_is_one_line_of_ts_level_event_and_message)
{
	log_message(LOG_LEVEL_WARNING, "store_down", "host %s: %d", "db1", 2002);
	json_t *line = next_line();
	ck_assert_uint_eq(json_object_size(line), 4);
	ck_assert_uint_eq(strlen(text_of(line, "ts")), strlen("2026-01-02T03:04:05.678Z"));
	ck_assert_str_eq(text_of(line, "level"), "warning");
	ck_assert_str_eq(text_of(line, "event"), "store_down");
	ck_assert_str_eq(text_of(line, "message"), "host db1: 2002");
	json_decref(line);
	expect_silence();
}
END_TEST

START_TEST(every_kind_of_field_reads_back)
{
	static const unsigned char id[] = {0x00, 0xab, 0xff};
	log_begin(LOG_LEVEL_INFO, "request");
	log_field_text("route", "orders");
	log_field_bytes("path", "/a\0b\xff\n", 6);
	log_field_number("status", 201);
	log_field_number("least", INT64_MIN);
	log_field_bool("replayed", true);
	log_field_bool("first", false);
	log_field_hex("record", id, sizeof(id));
	log_field_key("key", "abc", 3);
	log_field_bytes("empty", "", 0);
	log_end();
	json_t *line = next_line();
	ck_assert_str_eq(text_of(line, "level"), "info");
	ck_assert_str_eq(text_of(line, "route"), "orders");
	ck_assert_uint_eq(json_string_length(json_object_get(line, "path")), 8);
	ck_assert_mem_eq(text_of(line, "path"), "/a\0b\xef\xbf\xbd\n", 8);
	ck_assert_int_eq(json_integer_value(json_object_get(line, "status")), 201);
	ck_assert(json_integer_value(json_object_get(line, "least")) == INT64_MIN);
	ck_assert(json_is_true(json_object_get(line, "replayed")));
	ck_assert(json_is_false(json_object_get(line, "first")));
	ck_assert_str_eq(text_of(line, "record"), "00abff");
	ck_assert_str_eq(text_of(line, "key"), "sha256:ba7816bf8f01");
	ck_assert_str_eq(text_of(line, "empty"), "");
	json_decref(line);
}
END_TEST

START_TEST(a_field_without_value_is_left_out)
{
	log_begin(LOG_LEVEL_INFO, "request");
	log_field_text("route", NULL);
	log_field_bytes("path", NULL, 5);
	log_field_hex("record", NULL, 5);
	log_field_key("key", NULL, 5);
	log_end();
	json_t *line = next_line();
	ck_assert_uint_eq(json_object_size(line), 3);
	json_decref(line);
}
END_TEST

static const struct {
	enum log_level level;
	const char *name;
	int priority; /* as syslog(3) numbers them */
} levels[] = {
    {LOG_LEVEL_DEBUG, "debug", 7},
    {LOG_LEVEL_INFO, "info", 6},
    {LOG_LEVEL_WARNING, "warning", 4},
    {LOG_LEVEL_ERROR, "error", 3},
};

START_TEST(what_is_below_the_least_level_is_not_told)
{
	enum log_level least = levels[_i].level;
	log_open(LOG_TARGET_STDERR, NULL, least);
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		log_message(levels[i].level, "message", "text");
		log_begin(levels[i].level, "fields");
		log_field_number("status", 200);
		log_field_key("key", "abc", 3);
		log_end();
		for (int k = 0; levels[i].level >= least && k < 2; k++) {
			json_t *line = next_line();
			ck_assert_str_eq(text_of(line, "level"), levels[i].name);
			json_decref(line);
		}
		expect_silence();
	}
}
END_TEST

START_TEST(until_it_is_opened_the_log_tells_from_info_on)
{
	log_message(LOG_LEVEL_DEBUG, "x", "text");
	expect_silence();
	log_message(LOG_LEVEL_INFO, "x", "text");
	json_decref(next_line());
}
END_TEST

/* One datagram that the daemon got, as text. */
static const char *next_datagram(void)
{
	static char text[65536];
	ssize_t length = recv(daemon_end, text, sizeof(text) - 1, 0);
	ck_assert_int_gt(length, 0);
	text[length] = '\0';
	return text;
}

static void expect_no_datagram(void)
{
	char byte;
	ck_assert_int_eq(recv(daemon_end, &byte, 1, 0), -1);
	ck_assert_int_eq(errno, EAGAIN);
}

START_TEST(to_syslog_a_line_goes_with_priority_time_name_and_pid)
{
	serve_socket();
	log_open(LOG_TARGET_SYSLOG, socket_path, LOG_LEVEL_DEBUG);
	log_message(levels[_i].level, "x", "100%% \n%s", "%n");
	expect_silence();
	const char *text = next_datagram();
	ck_assert_ptr_null(strchr(text, '\n'));
	int priority, day, hour, minute, second, end = 0;
	long pid;
	char month[4];
	/* RFC 3164 4.1: <13>Dec  1 02:03:04 oncewrap[123]: ... */
	ck_assert_int_eq(sscanf(text, "<%d>%3s %2d %2d:%2d:%2d oncewrap[%ld]: %n", &priority, month,
				&day, &hour, &minute, &second, &pid, &end),
			 7);
	ck_assert_int_eq(priority, 3 * 8 + levels[_i].priority);
	ck_assert_int_eq(pid, (long)getpid());
	json_t *line = json_loads(text + end, 0, NULL);
	ck_assert_ptr_nonnull(line);
	ck_assert_str_eq(text_of(line, "message"), "100% \n%n");
	json_decref(line);
	expect_no_datagram();
	log_open(LOG_TARGET_STDERR, NULL, LOG_LEVEL_DEBUG);
	log_message(LOG_LEVEL_INFO, "x", "back");
	json_decref(next_line());
	expect_no_datagram();
	end_socket();
}
END_TEST

START_TEST(to_journald_a_line_goes_with_each_field_beside_it)
{
	static const unsigned char record[] = {0x01, 0x02};
	serve_socket();
	log_open(LOG_TARGET_JOURNALD, socket_path, LOG_LEVEL_DEBUG);
	log_set_request("id-1");
	log_begin(levels[_i].level, "request");
	log_field_text("route", "orders");
	log_field_text("tenant", "line\nPRIORITY=0\nMESSAGE=forged");
	log_field_hex("record", record, sizeof(record));
	log_field_number("elapsed_ms", 12);
	log_field_bool("replayed", true);
	log_field_text("message", "told");
	log_end();
	log_set_request(NULL);
	char entry[4096], head[128];
	snprintf(entry, sizeof(entry), "%s", next_datagram());
	snprintf(head, sizeof(head),
		 "PRIORITY=%d\nSYSLOG_FACILITY=3\nSYSLOG_IDENTIFIER=oncewrap\nMESSAGE={\"ts\":",
		 levels[_i].priority);
	ck_assert_msg(strncmp(entry, head, strlen(head)) == 0, "%s", entry);
	const char *rest = strchr(entry + strlen(head), '\n');
	ck_assert_ptr_nonnull(rest);
	ck_assert_str_eq(rest, "\nONCEWRAP_EVENT=request\n"
			       "ONCEWRAP_REQUEST_ID=id-1\n"
			       "ONCEWRAP_ROUTE=orders\n"
			       "ONCEWRAP_TENANT=line\\nPRIORITY=0\\nMESSAGE=forged\n"
			       "ONCEWRAP_RECORD=0102\n"
			       "ONCEWRAP_ELAPSED_MS=12\n"
			       "ONCEWRAP_REPLAYED=true\n");
	expect_silence();
	end_socket();
}
END_TEST

START_TEST(a_line_of_any_fields_is_an_entry_whose_every_line_is_a_field)
{
	char value[3000];
	memset(value, '\n', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	serve_socket();
	log_open(LOG_TARGET_JOURNALD, socket_path, LOG_LEVEL_DEBUG);
	log_begin(LOG_LEVEL_INFO, "many");
	for (int i = 0; i < 100; i++)
		log_field_text("value", value + 29 * (size_t)i);
	log_end();
	const char *at = next_datagram();
	int lines = 0;
	for (; *at != '\0'; at = strchr(at, '\n') + 1, lines++) {
		size_t name = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
		ck_assert_uint_gt(name, 0);
		ck_assert_int_eq(at[name], '=');
		ck_assert_ptr_nonnull(strchr(at, '\n'));
	}
	ck_assert_int_ge(lines, 5);
	end_socket();
}
END_TEST

static const enum log_target daemons[] = {LOG_TARGET_SYSLOG, LOG_TARGET_JOURNALD};

START_TEST(a_daemon_that_is_not_there_is_told_once_and_standard_error_has_the_lines)
{
	log_open(daemons[_i], socket_path, LOG_LEVEL_INFO);
	for (int round = 0; round < 2; round++) {
		log_message(LOG_LEVEL_INFO, "first", "text");
		log_message(LOG_LEVEL_INFO, "second", "text");
		static const char *const expected[] = {"first", "log", "second"};
		for (int i = 0; i < 3; i++) {
			json_t *line = next_line();
			ck_assert_str_eq(text_of(line, "event"), expected[i]);
			if (i == 1) {
				ck_assert_str_eq(text_of(line, "level"), "warning");
				ck_assert_ptr_nonnull(
				    strstr(text_of(line, "message"), socket_path));
			}
			json_decref(line);
		}
		expect_silence();
		/* It comes, and goes again. */
		serve_socket();
		log_message(LOG_LEVEL_INFO, "third", "text");
		ck_assert_ptr_nonnull(strstr(next_datagram(), "\"third\""));
		expect_silence();
		end_socket();
	}
}
END_TEST

START_TEST(a_daemon_that_was_started_anew_misses_nothing)
{
	serve_socket();
	log_open(daemons[_i], socket_path, LOG_LEVEL_INFO);
	log_message(LOG_LEVEL_INFO, "first", "text");
	end_socket();
	serve_socket();
	log_message(LOG_LEVEL_INFO, "second", "text");
	ck_assert_ptr_nonnull(strstr(next_datagram(), "\"second\""));
	expect_silence();
	end_socket();
}
END_TEST

static int64_t milliseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

START_TEST(a_daemon_that_takes_nothing_holds_nobody_up_and_what_it_misses_is_counted)
{
	serve_socket();
	log_open(daemons[_i], socket_path, LOG_LEVEL_INFO);
	int64_t from = milliseconds();
	for (int i = 0; i < 5000; i++)
		log_message(LOG_LEVEL_INFO, "lines", "number %d", i);
	/* One wait, of a second; not 5000. */
	ck_assert_int_lt(milliseconds() - from, 5000);
	expect_silence();
	int got = 0;
	for (char text[65536]; recv(daemon_end, text, sizeof(text), 0) > 0;)
		got++;
	ck_assert_int_gt(got, 0);
	log_message(LOG_LEVEL_INFO, "again", "text");
	ck_assert_ptr_nonnull(strstr(next_datagram(), "\"again\""));
	char expected[64];
	snprintf(expected, sizeof(expected), "\"%d lines of the log are lost", 5000 - got);
	const char *told = next_datagram();
	ck_assert_msg(strstr(told, expected) != NULL, "%s", told);
	expect_no_datagram();
	end_socket();
}
END_TEST

START_TEST(a_pipe_that_nobody_reads_holds_nobody_up_and_gets_whole_lines_only)
{
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	close(ends[1]);
	log_open(LOG_TARGET_STDERR, NULL, LOG_LEVEL_INFO);
	int64_t from = milliseconds();
	for (int i = 0; i < 5000; i++)
		log_message(LOG_LEVEL_INFO, "lines", "number %d of 5000", i);
	ck_assert_int_lt(milliseconds() - from, 5000);
	static char text[1 << 20];
	ck_assert_int_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	ssize_t length = read(ends[0], text, sizeof(text) - 1);
	ck_assert_int_gt(length, 0);
	text[length] = '\0';
	for (char *at = text, *end; *at != '\0'; at = end + 1) {
		end = strchr(at, '\n');
		ck_assert_ptr_nonnull(end);
		*end = '\0';
		json_t *line = json_loads(at, 0, NULL);
		ck_assert_ptr_nonnull(line);
		json_decref(line);
	}
	close(ends[0]);
}
END_TEST

START_TEST(each_line_of_a_request_carries_its_id)
{
	log_set_request("abc-1");
	log_message(LOG_LEVEL_INFO, "takeover", "text");
	json_t *line = next_line();
	ck_assert_str_eq(text_of(line, "request_id"), "abc-1");
	json_decref(line);
	for (int i = 0; i < 2; i++) {
		log_set_request(i == 0 ? NULL : "");
		log_message(LOG_LEVEL_INFO, "stop", "text");
		line = next_line();
		ck_assert_ptr_null(json_object_get(line, "request_id"));
		json_decref(line);
	}
}
END_TEST

static int counted[4];

static void count(unsigned level)
{
	counted[level]++;
}

START_TEST(each_line_that_is_told_is_counted_by_its_level)
{
	log_open(LOG_TARGET_STDERR, NULL, LOG_LEVEL_INFO);
	log_count_by(count);
	for (int i = 0; i < 4; i++)
		log_message(levels[i].level, "x", "text");
	log_count_by(NULL);
	log_message(LOG_LEVEL_ERROR, "x", "text");
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(counted[i], i == LOG_LEVEL_DEBUG ? 0 : 1);
}
END_TEST

/* Sixteen processes, lines of every length up to the longest, one pipe. */
START_TEST(lines_of_many_processes_are_never_split)
{
	enum { WRITERS = 16, LINES = 200 };
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	close(ends[1]);
	for (int i = 0; i < WRITERS; i++) {
		if (fork() != 0)
			continue;
		char value[6000];
		memset(value, 'a' + i, sizeof(value));
		for (size_t k = 0; k < LINES; k++) {
			log_begin(LOG_LEVEL_INFO, "long");
			log_field_bytes("first", value, k * 37 % sizeof(value));
			log_field_bytes("second", value, k * 101 % sizeof(value));
			log_end();
		}
		_exit(0);
	}
	close(STDERR_FILENO);
	FILE *lines = fdopen(ends[0], "r");
	ck_assert_ptr_nonnull(lines);
	int count_of_lines = 0;
	for (char text[2 * PIPE_BUF]; fgets(text, sizeof(text), lines) != NULL; count_of_lines++) {
		json_t *line = json_loads(text, 0, NULL);
		ck_assert_msg(line != NULL, "%s", text);
		const char *first = text_of(line, "first");
		ck_assert_uint_eq(strspn(first, (char[]){*first, '.', '\0'}), strlen(first));
		json_decref(line);
	}
	ck_assert_int_eq(count_of_lines, WRITERS * LINES);
	fclose(lines);
}
END_TEST

static const struct {
	const char *unit; /* repeated to fill the value */
	const char *why;
} fillings[] = {
    {"x", "plain text"},
    {"\n", "two bytes for one"},
    {"\x01", "six bytes for one"},
    {"\xf0\x9f\x98\x80", "a character of four bytes"},
    {"\xe2\x82\xac", "a character of three bytes"},
    {"\xff", "no UTF-8 at all"},
    {"\n23456789012345678901234567890123456789", "long runs of plain text between escapes"},
};

/* Around every edge: lengths from well inside to well over what a value and a line may take. */
START_TEST(a_value_of_any_length_leaves_a_whole_line_that_ends_it_or_marks_the_cut)
{
	const char *unit = fillings[_i].unit;
	size_t unit_length = strlen(unit);
	char value[5000];
	for (size_t i = 0; i < sizeof(value); i++)
		value[i] = unit[i % unit_length];
	for (size_t length = 0; length + 8 * unit_length < sizeof(value);
	     length += unit_length * (1 + length % 7)) {
		log_begin(LOG_LEVEL_INFO, "long");
		log_field_bytes("first", value, length);
		log_field_bytes("second", value, length);
		log_field_bytes("third", value, length);
		log_field_number("status", 200);
		log_end();
		json_t *line = next_line();
		const char *first = text_of(line, "first");
		size_t told = strlen(first);
		bool cut = told >= 3 && strcmp(first + told - 3, "...") == 0;
		if (!cut && *unit != '\xff')
			ck_assert_msg(told == length, "%s: %zu of %zu", fillings[_i].why, told,
				      length);
		if (cut && *unit != '\xff')
			ck_assert_msg(memcmp(first, value, told - 3) == 0, "%s", fillings[_i].why);
		if (length > 4096)
			ck_assert_msg(cut, "%s", fillings[_i].why);
		if (length < 100)
			ck_assert_int_eq(json_integer_value(json_object_get(line, "status")), 200);
		json_decref(line);
	}
}
END_TEST

START_TEST(one_long_value_does_not_cost_the_fields_behind_it)
{
	char value[20000];
	memset(value, 'x', sizeof(value));
	log_begin(LOG_LEVEL_INFO, "long");
	log_field_bytes("path", value, sizeof(value));
	log_field_text("route", "orders");
	log_field_number("status", 200);
	log_field_bool("replayed", false);
	log_field_hex("record", (const unsigned char *)value, 32);
	log_end();
	json_t *line = next_line();
	ck_assert_str_eq(text_of(line, "route"), "orders");
	ck_assert_int_eq(json_integer_value(json_object_get(line, "status")), 200);
	ck_assert(json_is_false(json_object_get(line, "replayed")));
	ck_assert_uint_eq(strlen(text_of(line, "record")), 64);
	json_decref(line);
}
END_TEST

/* One byte more in front each time, so that every kind of field meets the line's end at each of its
 * bytes. */
START_TEST(a_line_that_is_full_takes_no_half_field)
{
	static const unsigned char record[32];
	static char names[400][16];
	char front[] = "................................................................";
	log_begin(LOG_LEVEL_INFO, "full");
	log_field_text("front", front + _i);
	for (int i = 0; i < 400; i++) {
		char *name = names[i];
		snprintf(name, sizeof(names[i]), "f%d", i);
		if (i % 4 == 0)
			log_field_number(name, 1234567890 + i);
		else if (i % 4 == 1)
			log_field_bool(name, true);
		else if (i % 4 == 2)
			log_field_hex(name, record, sizeof(record));
		else
			log_field_text(name, "some text");
	}
	log_end();
	json_decref(next_line());
}
END_TEST

START_TEST(a_line_begun_within_another_loses_neither)
{
	log_begin(LOG_LEVEL_INFO, "outer");
	log_field_number("before", 1);
	log_message(LOG_LEVEL_ERROR, "inner", "text");
	log_field_number("after", 1);
	log_end();
	json_t *line = next_line();
	ck_assert_str_eq(text_of(line, "event"), "outer");
	ck_assert_ptr_nonnull(json_object_get(line, "before"));
	json_decref(line);
	line = next_line();
	ck_assert_str_eq(text_of(line, "event"), "inner");
	ck_assert_ptr_null(json_object_get(line, "after"));
	json_decref(line);
	expect_silence();
}
END_TEST

START_TEST(a_long_message_is_cut_and_the_line_stays_whole)
{
	char text[20000];
	memset(text, '"', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	log_message(LOG_LEVEL_INFO, "long", "%s", text);
	json_t *line = next_line();
	ck_assert_uint_gt(strlen(text_of(line, "message")), 900);
	json_decref(line);
}
END_TEST

START_TEST(a_log_that_cannot_be_written_is_dropped)
{
	int full = open("/dev/full", O_WRONLY);
	ck_assert_int_ge(full, 0);
	ck_assert_int_eq(dup2(full, STDERR_FILENO), STDERR_FILENO);
	close(full);
	log_message(LOG_LEVEL_ERROR, "x", "to nobody");
	set_up();
	log_message(LOG_LEVEL_ERROR, "x", "to somebody");
	json_t *line = next_line();
	ck_assert_str_eq(text_of(line, "message"), "to somebody");
	json_decref(line);
	expect_silence();
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
	Suite *suite = suite_create("log");
	TCase *cases = tcase_create("log");
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, a_message_is_one_line_of_ts_level_event_and_message);
	tcase_add_test(cases, every_kind_of_field_reads_back);
	tcase_add_test(cases, a_field_without_value_is_left_out);
	tcase_add_loop_test(cases, what_is_below_the_least_level_is_not_told, 0, COUNT(levels));
	tcase_add_test(cases, until_it_is_opened_the_log_tells_from_info_on);
	tcase_add_loop_test(cases, to_syslog_a_line_goes_with_priority_time_name_and_pid, 0,
			    COUNT(levels));
	tcase_add_loop_test(cases, to_journald_a_line_goes_with_each_field_beside_it, 0,
			    COUNT(levels));
	tcase_add_test(cases, a_line_of_any_fields_is_an_entry_whose_every_line_is_a_field);
	tcase_add_loop_test(
	    cases, a_daemon_that_is_not_there_is_told_once_and_standard_error_has_the_lines, 0,
	    COUNT(daemons));
	tcase_add_loop_test(cases, a_daemon_that_was_started_anew_misses_nothing, 0,
			    COUNT(daemons));
	tcase_add_loop_test(
	    cases, a_daemon_that_takes_nothing_holds_nobody_up_and_what_it_misses_is_counted, 0,
	    COUNT(daemons));
	tcase_add_test(cases, a_pipe_that_nobody_reads_holds_nobody_up_and_gets_whole_lines_only);
	tcase_add_test(cases, each_line_of_a_request_carries_its_id);
	tcase_add_test(cases, each_line_that_is_told_is_counted_by_its_level);
	tcase_add_test(cases, lines_of_many_processes_are_never_split);
	tcase_add_loop_test(cases,
			    a_value_of_any_length_leaves_a_whole_line_that_ends_it_or_marks_the_cut,
			    0, COUNT(fillings));
	tcase_add_test(cases, one_long_value_does_not_cost_the_fields_behind_it);
	tcase_add_loop_test(cases, a_line_that_is_full_takes_no_half_field, 0, 64);
	tcase_add_test(cases, a_line_begun_within_another_loses_neither);
	tcase_add_test(cases, a_long_message_is_cut_and_the_line_stays_whole);
	tcase_add_test(cases, a_log_that_cannot_be_written_is_dropped);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
