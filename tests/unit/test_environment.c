/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "handler/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/suite.h"

#define MAX_SENT 6

static struct script script = {
    .file = (char[]){"/srv/cgi-bin/s.cgi"},
    .directory = (char[]){"/srv/cgi-bin"},
    .name = (char[]){"/cgi-bin/s.cgi"},
    .path_info = (char[]){"/a b"},
};

static const struct string_list passed = {
    .items = (char *[]){(char[]){"TEST_PASSED"}, (char[]){"TEST_EMPTY"}, (char[]){"TEST_UNSET"}},
    .count = 3,
};

static void set_own_environment(void)
{
	ck_assert_int_eq(clearenv(), 0);
	setenv("TEST_PASSED", "own", 1);
	setenv("TEST_EMPTY", "", 1);
	setenv("TEST_SECRET", "not to be seen", 1);
}

static void build(struct environment *environment, const char *const *sent, uint64_t length)
{
	struct params params = {.entries = sent};
	while (sent[params.count] != NULL)
		params.count++;
	ck_assert_int_eq(environment_build(environment, &params, &script, length, &passed), 0);
	ck_assert(!environment->failed);
	ck_assert_ptr_null(environment->entries[environment->count]);
}

/* The value of the one entry of that name; NULL when there is none. */
static const char *value_of(const struct environment *environment, const char *name)
{
	struct params entries = params_of(environment->entries);
	ck_assert_msg(params_count(&entries, name) <= 1, "%s is there more than once", name);
	return params_get(&entries, name);
}

static const struct {
	const char *why;
	const char *sent[MAX_SENT];
	uint64_t length;
	const char *name;
	const char *value; /* NULL: not there */
} cases[] = {
    /* what the standard wants, whatever was sent */
    {"the version of CGI", {NULL}, 0, "GATEWAY_INTERFACE", "CGI/1.1"},
    {"and of no other gateway",
     {"GATEWAY_INTERFACE=FastCGI/1.0"},
     0,
     "GATEWAY_INTERFACE",
     "CGI/1.1"},
    {"RFC 3875 4.1.7: always there", {NULL}, 0, "QUERY_STRING", ""},
    {"empty stays empty", {"QUERY_STRING="}, 0, "QUERY_STRING", ""},
    {"the query", {"QUERY_STRING=a=b&c=%20"}, 0, "QUERY_STRING", "a=b&c=%20"},
    {"the rebuilt name", {"SCRIPT_NAME=/cgi-bin/s.cgi/a b"}, 0, "SCRIPT_NAME", "/cgi-bin/s.cgi"},
    {"the file found",
     {"SCRIPT_FILENAME=proxy:fcgi://h/srv"},
     0,
     "SCRIPT_FILENAME",
     "/srv/cgi-bin/s.cgi"},
    {"the rebuilt path info", {"PATH_INFO="}, 0, "PATH_INFO", "/a b"},
    {"only the server knows it",
     {"PATH_TRANSLATED=/srv/www/a b"},
     0,
     "PATH_TRANSLATED",
     "/srv/www/a b"},
    {"none is made up", {NULL}, 0, "PATH_TRANSLATED", NULL},

    /* the body's length is what was received */
    {"as sent", {"CONTENT_LENGTH=5"}, 5, "CONTENT_LENGTH", "5"},
    {"C37: none was sent", {"HTTP_TRANSFER_ENCODING=chunked"}, 900000, "CONTENT_LENGTH", "900000"},
    {"nginx sends it empty", {"CONTENT_LENGTH="}, 7, "CONTENT_LENGTH", "7"},
    {"none was sent, nothing came", {NULL}, 0, "CONTENT_LENGTH", NULL},
    {"nginx sends it empty for GET", {"CONTENT_LENGTH="}, 0, "CONTENT_LENGTH", NULL},
    {"a body of nothing", {"CONTENT_LENGTH=0"}, 0, "CONTENT_LENGTH", "0"},
    {"the largest", {NULL}, UINT64_MAX, "CONTENT_LENGTH", "18446744073709551615"},
    {"no longer true", {"HTTP_TRANSFER_ENCODING=chunked"}, 1, "HTTP_TRANSFER_ENCODING", NULL},
    {"a second opinion",
     {"HTTP_CONTENT_LENGTH=6", "CONTENT_LENGTH=5"},
     5,
     "HTTP_CONTENT_LENGTH",
     NULL},
    {"its type",
     {"CONTENT_TYPE=text/plain; charset=\"a=b\""},
     0,
     "CONTENT_TYPE",
     "text/plain; charset=\"a=b\""},

    /* what is empty */
    {"an empty parameter is absent", {"REMOTE_IDENT="}, 0, "REMOTE_IDENT", NULL},
    {"an empty header is present", {"HTTP_X="}, 0, "HTTP_X", ""},
    {"filled later", {"AUTH_TYPE=", "AUTH_TYPE=Basic"}, 0, "AUTH_TYPE", "Basic"},

    /* what comes twice */
    {"nginx 1.22 sends repeated headers apart",
     {"HTTP_X=a", "HTTP_Y=-", "HTTP_X=b", "HTTP_X=c"},
     0,
     "HTTP_X",
     "a, b, c"},
    {"an empty one among them", {"HTTP_X=", "HTTP_X=b"}, 0, "HTTP_X", ", b"},
    {"RFC 9113 8.2.3: a cookie's comma is data",
     {"HTTP_COOKIE=a=1", "HTTP_COOKIE=b=2"},
     0,
     "HTTP_COOKIE",
     "a=1; b=2"},
    {"only the cookie's name", {"HTTP_COOKIES=a", "HTTP_COOKIES=b"}, 0, "HTTP_COOKIES", "a, b"},
    {"the broker decided on the first",
     {"REQUEST_METHOD=POST", "REQUEST_METHOD=GET"},
     0,
     "REQUEST_METHOD",
     "POST"},

    /* names that pass */
    {"a usual extra", {"REQUEST_URI=/a%20b?c"}, 0, "REQUEST_URI", "/a%20b?c"},
    {"of TLS", {"SSL_CLIENT_S_DN=CN=me,O=us"}, 0, "SSL_CLIENT_S_DN", "CN=me,O=us"},
    {"the site's own", {"SITE_2=x"}, 0, "SITE_2", "x"},
    {"git-http-backend's", {"GIT_HTTP_EXPORT_ALL=1"}, 0, "GIT_HTTP_EXPORT_ALL", "1"},
    {"underscore first", {"_X=1"}, 0, "_X", "1"},
    {"by redirection", {"REDIRECT_STATUS=200"}, 0, "REDIRECT_STATUS", "200"},
    {"a credential, where the server hands it on",
     {"HTTP_AUTHORIZATION=Basic eA=="},
     0,
     "HTTP_AUTHORIZATION",
     "Basic eA=="},
    {"longer than a refused one", {"ENVIRONMENT=test"}, 0, "ENVIRONMENT", "test"},
    {"PATH is not a beginning", {"PATHOLOGY=x"}, 0, "PATHOLOGY", "x"},
    {"a header like a refused name", {"HTTP_PROXY_CONNECTION=x"}, 0, "HTTP_PROXY_CONNECTION", "x"},
    {"a header called Env", {"HTTP_ENV=x"}, 0, "HTTP_ENV", "x"},

    /* our own environment */
    {"passed on as configured", {NULL}, 0, "TEST_PASSED", "own"},
    {"set and empty", {NULL}, 0, "TEST_EMPTY", ""},
    {"not set", {NULL}, 0, "TEST_UNSET", NULL},
    {"not configured", {NULL}, 0, "TEST_SECRET", NULL},
    {"the request's own is nearer", {"TEST_PASSED=request"}, 0, "TEST_PASSED", "request"},
};

START_TEST(the_handler_sees_what_is_true)
{
	struct environment environment;
	set_own_environment();
	build(&environment, cases[_i].sent, cases[_i].length);
	const char *value = value_of(&environment, cases[_i].name);
	if (cases[_i].value == NULL)
		ck_assert_msg(value == NULL, "%s: %s", cases[_i].why, value);
	else
		ck_assert_msg(value != NULL && strcmp(value, cases[_i].value) == 0, "%s: %s",
			      cases[_i].why, value != NULL ? value : "nothing");
	environment_free(&environment);
}
END_TEST

/* Sent as NAME=VALUE; not one of them may arrive. */
static const char *const refused[] = {
    /* C50 */
    "HTTP_PROXY=evil",
    "LD_PRELOAD=/tmp/evil.so",
    "LD_LIBRARY_PATH=/tmp",
    "LD_=x",
    "BASH_ENV=/tmp/x",
    "ENV=/tmp/x",
    "IFS=x",
    "SHELLOPTS=xtrace",
    "PS4=$(x)",
    "BASH_FUNC_x=() { :; }",
    "PATH=/tmp",
    "PERL5OPT=-Mx",
    "PERL5LIB=/tmp",
    "PERLLIB=/tmp",
    "PYTHONPATH=/tmp",
    "PYTHONSTARTUP=/tmp/x",
    "RUBYOPT=-rx",
    "RUBYLIB=/tmp",
    "NODE_OPTIONS=--require x",
    "GCONV_PATH=/tmp",
    "GLIBC_TUNABLES=x",
    "MALLOC_CHECK_=3",
    "LOCPATH=/tmp",
    "NLSPATH=/tmp",
    "TMPDIR=/tmp/x",
    "SSL_CERT_FILE=/tmp/x",
    "OPENSSL_CONF=/tmp/x",
    "HTTPS_PROXY=evil",
    /* ours to say */
    "ONCE_TOKEN=00",
    "ONCE_REPLAY=1",
    "ONCEWRAP_FAULT_FILE=/tmp/x",
    "FCGI_ROLE=RESPONDER",
    "LISTEN_FDS=1",
    "LISTEN_PID=1",
    "NOTIFY_SOCKET=/x",
    /* by another name */
    "REDIRECT_HTTP_PROXY=evil",
    "REDIRECT_REDIRECT_LD_PRELOAD=/tmp/evil.so",
    /* no names */
    "http_x=1",
    "Mixed=1",
    "HTTP_X-Y=1",
    "1X=1",
    "A B=1",
    "A.B=1",
    "BASH_FUNC_x%%=() { :; }",
    "CAF\xc3\x89=1",
    "=1",
    "NOVALUE",
    "",
};

START_TEST(what_could_do_harm_is_not_passed_on)
{
	struct environment environment, plain;
	set_own_environment();
	build(&plain, (const char *[]){NULL}, 0);
	build(&environment, (const char *[]){refused[_i], NULL}, 0);
	ck_assert_msg(environment.count == plain.count, "%s", refused[_i]);
	for (size_t i = 0; i < environment.count; i++)
		ck_assert_str_eq(environment.entries[i], plain.entries[i]);
	environment_free(&environment);
	environment_free(&plain);
}
END_TEST

START_TEST(without_path_info_there_is_no_path_translated)
{
	struct environment environment;
	char *path_info = script.path_info;
	script.path_info = (char[]){""};
	build(&environment, (const char *[]){"PATH_TRANSLATED=/srv/www", "PATH_INFO=/sent", NULL},
	      0);
	ck_assert_ptr_null(value_of(&environment, "PATH_INFO"));
	ck_assert_ptr_null(value_of(&environment, "PATH_TRANSLATED"));
	environment_free(&environment);
	script.path_info = path_info;
}
END_TEST

START_TEST(adding_replaces_what_is_there)
{
	struct environment environment;
	build(&environment, (const char *[]){"SITE=a", "SITES=b", NULL}, 0);
	size_t count = environment.count;
	ck_assert_int_eq(environment_add(&environment, "ONCE_KEY", "k=1\n"), 0);
	ck_assert_int_eq(environment_add(&environment, "SITE", ""), 0);
	ck_assert_int_eq(environment_add(&environment, "ONCE_KEY", "k2"), 0);
	ck_assert_uint_eq(environment.count, count + 1);
	ck_assert_str_eq(value_of(&environment, "ONCE_KEY"), "k2");
	ck_assert_str_eq(value_of(&environment, "SITE"), "");
	ck_assert_str_eq(value_of(&environment, "SITES"), "b");
	ck_assert_ptr_null(environment.entries[environment.count]);
	environment_free(&environment);
}
END_TEST

START_TEST(any_number_of_parameters_fits)
{
	static char texts[1000][24];
	const char *sent[1001] = {NULL};
	struct environment environment;
	for (int i = 0; i < 1000; i++) {
		sprintf(texts[i], "HTTP_X%d=%d", i, i);
		sent[i] = texts[i];
	}
	build(&environment, sent, 0);
	ck_assert_uint_ge(environment.count, 1000);
	ck_assert_str_eq(value_of(&environment, "HTTP_X0"), "0");
	ck_assert_str_eq(value_of(&environment, "HTTP_X999"), "999");
	environment_free(&environment);
	environment_free(&environment); /* harmless */
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("environment");
	TCase *tests = tcase_create("environment");
	tcase_add_loop_test(tests, the_handler_sees_what_is_true, 0, COUNT(cases));
	tcase_add_loop_test(tests, what_could_do_harm_is_not_passed_on, 0, COUNT(refused));
	tcase_add_test(tests, without_path_info_there_is_no_path_translated);
	tcase_add_test(tests, adding_replaces_what_is_there);
	tcase_add_test(tests, any_number_of_parameters_fits);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
