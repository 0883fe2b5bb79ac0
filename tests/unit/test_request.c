/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "broker/request.h"
#include "config/load.h"
#include "tests/unit/suite.h"

#include <stdlib.h>
#include <string.h>

static char *with_name(const char *name)
{
	char *entry = NULL;
	ck_assert_int_ge(asprintf(&entry, "SCRIPT_NAME=%s", name), 0);
	return entry;
}

static void prepare(struct request *request, const struct config *config, char **environment)
{
	struct params params = params_of(environment);
	struct error error = {0};
	ck_assert_msg(request_prepare(request, &params, config, "/bin/true", &error) == 0, "%s",
		      error.message);
}

static const struct {
	const char *why;
	const char *declared; /* NULL: no CONTENT_LENGTH */
	const char *body;
	bool proper;
	enum request_body_state state;
} bodies[] = {
    {"as long as it says", "5", "hello", true, REQUEST_BODY_WHOLE},
    {"C37: without a length, any is right", NULL, "hello", true, REQUEST_BODY_WHOLE},
    {"an empty length is none", "", "hello", true, REQUEST_BODY_WHOLE},
    {"no body at all", NULL, "", true, REQUEST_BODY_WHOLE},
    {"C36: shorter than it says", "6", "hello", true, REQUEST_BODY_MISMATCH},
    {"C36: longer than it says", "4", "hello", true, REQUEST_BODY_MISMATCH},
    {"a length that is no number", "5x", "hello", true, REQUEST_BODY_MISMATCH},
    {"a negative length", "-5", "hello", true, REQUEST_BODY_MISMATCH},
    {"a length beyond all numbers", "99999999999999999999999", "hello", true,
     REQUEST_BODY_MISMATCH},
    {"C35: cut off", "5", "hel", false, REQUEST_BODY_CUT},
    {"over max_body", "40", "0123456789012345678901234567890123456789", true,
     REQUEST_BODY_TOO_LARGE},
};

START_TEST(a_body_is_whole_only_when_it_is_as_long_as_it_says)
{
	struct config *config = config_default();
	ck_assert_ptr_nonnull(config);
	config->limits.max_body = 32;
	char length[64];
	snprintf(length, sizeof(length), "CONTENT_LENGTH=%s",
		 bodies[_i].declared == NULL ? "" : bodies[_i].declared);
	char method[] = "REQUEST_METHOD=POST", name[] = "SCRIPT_NAME=/x";
	char *environment[] = {method, name, bodies[_i].declared == NULL ? NULL : length, NULL};
	for (int bytewise = 0; bytewise < 2; bytewise++) {
		struct request request;
		prepare(&request, config, environment);
		size_t total = strlen(bodies[_i].body);
		size_t step = bytewise ? 1 : total;
		for (size_t at = 0; at < total; at += step)
			request_add_body(&request, bodies[_i].body + at, step);
		request_end_body(&request,
				 bodies[_i].proper ? NULL : &(struct error){.message = "cut"});
		ck_assert_msg(request.body_state == bodies[_i].state, "%s: state %d",
			      bodies[_i].why, (int)request.body_state);
		request_free(&request);
	}
	config_free(config);
}
END_TEST

static const struct {
	const char *why;
	const char *script_name;
	const char *path_info; /* NULL: none sent */
	const char *path;
} paths[] = {
    {"name and path info make the path", "/cgi-bin/x", "/a b", "/cgi-bin/x/a b"},
    {"no path info", "/cgi-bin/x", NULL, "/cgi-bin/x"},
    {"repeated slashes do not hide a script from its route", "//cgi-bin///x", NULL, "/cgi-bin/x"},
    {"path info stays as the handler sees it", "/x", "//a", "/x//a"},
};

START_TEST(the_path_is_what_the_script_is_known_by)
{
	struct config *config = config_default();
	char method[] = "REQUEST_METHOD=POST";
	char *name = with_name(paths[_i].script_name);
	char info[64];
	snprintf(info, sizeof(info), "PATH_INFO=%s",
		 paths[_i].path_info == NULL ? "" : paths[_i].path_info);
	char *environment[] = {method, name, paths[_i].path_info == NULL ? NULL : info, NULL};
	struct request request;
	prepare(&request, config, environment);
	ck_assert_msg(strcmp(request.path, paths[_i].path) == 0, "%s: got %s", paths[_i].why,
		      request.path);
	request_free(&request);
	config_free(config);
	free(name);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("request");
	TCase *cases = tcase_create("request");
	tcase_add_loop_test(cases, a_body_is_whole_only_when_it_is_as_long_as_it_says, 0,
			    sizeof(bodies) / sizeof(bodies[0]));
	tcase_add_loop_test(cases, the_path_is_what_the_script_is_known_by, 0,
			    sizeof(paths) / sizeof(paths[0]));
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
