/* SPDX-License-Identifier: ISC */
/* What a handler is told of its claim, and what is told of it in the log. */
#include <config.h>

#include "broker/launch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/recorder.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

#define HOUR_MS (60 * 60 * 1000)

static const struct config settings = {
    .handlers = {.timeout = HOUR_MS,
		 .kill_grace = HOUR_MS,
		 .exit_grace = HOUR_MS,
		 .stderr_limit = 1000},
    .limits = {.max_header_bytes = 4096},
};

/* A launch and all that it borrows. */
struct scene {
	struct recorder recorder;
	struct request request;
	struct exchange exchange;
	struct buffer body;
	struct launch launch;
};

static bool take(void *context, const void *data, size_t length)
{
	struct scene *scene = context;
	ck_assert_int_eq(buffer_append(&scene->body, data, length), 0);
	return false;
}

static void set(struct scene *scene, const char *lines)
{
	memset(scene, 0, sizeof(*scene));
	scratch_script("handler", lines);
	recorder_init(&scene->recorder);
	scene->request.script.file = strdup(scratch_path("handler"));
	scene->request.script.directory = strdup(scratch_path(""));
	scene->request.script.name = strdup("/handler");
	scene->request.script.path_info = strdup("");
	scene->request.method = "POST";
	scene->request.body = body_new(&(struct body_limits){.memory = 64}, false);
	ck_assert_ptr_nonnull(scene->request.body);
	scene->exchange.claim.key = "k-1";
	scene->exchange.claim.tenant = "acme";
	scene->exchange.attempt = 2;
	scene->exchange.record.attempt = 7;
	memset(scene->exchange.claim.id, 0xab, DIGEST_LENGTH);
	memset(scene->exchange.claim.token, 0xcd, TOKEN_LENGTH);
	scene->launch = (struct launch){.config = &settings,
					.request = &scene->request,
					.reply = &scene->recorder.reply,
					.exchange = &scene->exchange,
					.take = take,
					.context = scene};
}

static void clear(struct scene *scene)
{
	launch_free(&scene->launch);
	request_free(&scene->request);
	record_free(&scene->exchange.record);
	recorder_free(&scene->recorder);
	buffer_free(&scene->body);
}

#define TELL_ALL "echo; env | grep ^ONCE_ | sort"

#define TWICE(text) text text
#define ID          TWICE(TWICE(TWICE(TWICE(TWICE("ab")))))
#define TOKEN       TWICE(TWICE(TWICE(TWICE("cd"))))

static const struct {
	const char *why;
	bool claimed, rebuild;
	const char *reference;
	const char *told;
} tellings[] = {
    {"of a claim", true, false, "",
     "ONCE_ATTEMPT=2\nONCE_ID=" ID "\nONCE_KEY=k-1\nONCE_REPLAY=0\nONCE_TENANT=acme\n"
     "ONCE_TOKEN=" TOKEN "\n"},
    {"the reference of an earlier life is no matter of a first run", true, false, "old",
     "ONCE_ATTEMPT=2\nONCE_ID=" ID "\nONCE_KEY=k-1\nONCE_REPLAY=0\nONCE_TENANT=acme\n"
     "ONCE_TOKEN=" TOKEN "\n"},
    {"one that is asked again, by its reference", true, true, "order 7",
     "ONCE_ATTEMPT=7\nONCE_ID=" ID "\nONCE_KEY=k-1\nONCE_REFERENCE=order 7\nONCE_REPLAY=1\n"
     "ONCE_TENANT=acme\nONCE_TOKEN=" TOKEN "\n"},
    {"one that gave none", true, true, "",
     "ONCE_ATTEMPT=7\nONCE_ID=" ID "\nONCE_KEY=k-1\nONCE_REPLAY=1\nONCE_TENANT=acme\n"
     "ONCE_TOKEN=" TOKEN "\n"},
    {"nothing without a claim", false, false, "", ""},
};

START_TEST(a_handler_is_told_of_its_claim)
{
	struct scene scene;
	set(&scene, "echo 'A: b'; " TELL_ALL);
	if (!tellings[_i].claimed)
		scene.launch.exchange = NULL;
	scene.launch.rebuild = tellings[_i].rebuild;
	buffer_append_text(&scene.exchange.record.reference, tellings[_i].reference);
	ck_assert_int_eq(launch_run(&scene.launch), 0);
	ck_assert_int_eq(scene.launch.run.end, RUN_EXITED);
	ck_assert_msg(strcmp(buffer_text(&scene.body), tellings[_i].told) == 0, "%s: %s",
		      tellings[_i].why, buffer_text(&scene.body));
	clear(&scene);
}
END_TEST

static const struct {
	const char *lines;
	const char *part; /* of the log line; NULL: there is none */
	const char *why;
} lines[] = {
    {"echo 'Once-Outcome: store'; echo", NULL, "what is understood is no news"},
    {"echo 'Once-Outcome: stored'; echo",
     "\"message\":\"Once-Outcome is ignored: it is none of store, release and unknown\"",
     "what is not"},
    {"echo 'Once-Outcome: stored'; echo 'no header'",
     "\"message\":\"a header line is not a name, a colon and a value\"",
     "a malformed answer goes first"},
    {"echo 'A: b'; echo; echo complaint >&2", "\"stderr\":\"complaint\\n\"", "a complaint"},
    {"echo 'A: b'; echo; exit 3", "\"exit_status\":3", "an exit status"},
};

START_TEST(what_a_handler_did_wrong_is_told_in_one_line)
{
	struct scene scene;
	set(&scene, lines[_i].lines);
	ck_assert_int_eq(launch_run(&scene.launch), 0);
	fflush(stderr);
	int kept = dup(STDERR_FILENO);
	int fd = open(scratch_path("log"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	launch_log(&scene.launch);
	dup2(kept, STDERR_FILENO);
	close(kept);
	close(fd);
	const char *text = scratch_read("log");
	if (lines[_i].part == NULL)
		ck_assert_msg(text[0] == '\0', "%s: %s", lines[_i].why, text);
	else
		ck_assert_msg(strstr(text, lines[_i].part) != NULL, "%s: %s", lines[_i].why, text);
	clear(&scene);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("launch");
	TCase *cases = tcase_create("launch");
	tcase_add_unchecked_fixture(cases, scratch_set_up, scratch_tear_down);
	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, a_handler_is_told_of_its_claim, 0, COUNT(tellings));
	tcase_add_loop_test(cases, what_a_handler_did_wrong_is_told_in_one_line, 0, COUNT(lines));
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
