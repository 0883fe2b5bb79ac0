/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/route.h"

#include "config/config.h"
#include "config/load.h"
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* A configuration of one route with these settings besides its name. */
static struct config *one_route(const char *settings)
{
	char text[512], *problems;
	snprintf(text, sizeof(text), "routes = ( { name = \"r\"; %s } );", settings);
	struct config *config = config_parse("test.conf", text, &problems);
	ck_assert_msg(config != NULL, "%s", problems);
	free(problems);
	return config;
}

static const struct {
	const char *why, *pattern, *path;
	bool matches;
} paths[] = {
    {"itself", "/a", "/a", true},
    {"no more than itself", "/a", "/ab", false},
    {"no less than itself", "/ab", "/a", false},
    {"case counts in a path", "/a", "/A", false},
    {"a star stands for nothing", "/a*", "/a", true},
    {"a star stands for anything, slashes too", "/a*", "/a/b/c", true},
    {"a star at the front", "*.cgi", "/x/y.cgi", true},
    {"a star matches all of a path, so what follows must end it", "*.cgi", "/x.cgi/y", false},
    {"a star in the middle is tried again", "/a*bc", "/abxbc", true},
    {"the last star alone needs trying again", "/*a*b", "/xaxxb", true},
    {"two stars, no end", "/*a*b", "/xaxxbc", false},
    {"stars next to each other", "/a**b", "/ab", true},
    {"a question mark is one byte", "/?", "/x", true},
    {"a question mark is a slash too", "/a?b", "/a/b", true},
    {"a question mark is not none", "/?", "/", false},
    {"a question mark is not two", "/?", "/xy", false},
    {"a set", "/[abc]", "/b", true},
    {"outside of a set", "/[abc]", "/d", false},
    {"a range", "/[a-c]", "/b", true},
    {"the ends belong to a range", "/[a-c][a-c]", "/ac", true},
    {"outside of a range", "/[a-c]", "/d", false},
    {"an inverted set", "/[!a-c]", "/d", true},
    {"inside of an inverted set", "/[!a-c]", "/b", false},
    {"a bracket first stands for itself", "/[]]", "/]", true},
    {"a bracket first in an inverted set", "/[!]]", "/]", false},
    {"a dash last stands for itself", "/[a-]", "/-", true},
    {"a set is one byte", "/[ab]", "/ab", false},
    {"a set after a star", "/*[0-9]", "/order7", true},
    {"a literal star", "/[*]", "/*", true},
    {"a literal star is not any", "/[*]", "/x", false},
    {"a backslash stands for itself", "/a\\\\b", "/a\\b", true},
    {"bytes above ASCII are bytes", "/\xc3\xa9?", "/\xc3\xa9x", true},
    {"half a character is one byte", "/?", "/\xc3\xa9", false},
    {"a range of high bytes", "/[\x80-\xff]", "/\xa0", true},
    {"no path", "/*", "", false},
    {"a star takes an empty path", "*", "", true},
};

START_TEST(a_pattern_covers_the_whole_path)
{
	char settings[128];
	snprintf(settings, sizeof(settings), "path = \"%s\";", paths[_i].pattern);
	struct config *config = one_route(settings);
	const struct route *route = route_find(config, paths[_i].path, NULL);
	ck_assert_msg((route != NULL) == paths[_i].matches, "%s", paths[_i].why);
	config_free(config);
}
END_TEST

static const struct {
	const char *why, *pattern, *host;
	bool matches;
} hosts[] = {
    {"any", "", "shop.example", true},
    {"any, even none", "", NULL, true},
    {"itself", "shop.example", "shop.example", true},
    {"another", "shop.example", "shop.example.net", false},
    {"the port does not count", "shop.example", "shop.example:8443", true},
    {"case does not count", "Shop.Example", "sHOP.eXAMPLE", true},
    {"case does not count in a set", "[A-C].example", "b.example", true},
    {"the root's dot does not count", "shop.example", "shop.example.", true},
    {"the root's dot before a port", "shop.example", "shop.example.:80", true},
    {"a pattern", "*.example", "shop.example", true},
    {"a pattern ends with the host", "*.example", "shop.example.evil", false},
    {"IPv4", "127.0.0.*", "127.0.0.1:80", true},
    {"IPv6 with a port", "::1", "[::1]:80", true},
    {"IPv6 without", "::1", "[::1]", true},
    {"another IPv6", "::1", "[::11]:80", false},
    {"no host", "shop.example", NULL, false},
    {"an empty host", "shop.example", "", false},
    {"a star takes no host", "*", NULL, true},
    {"a port alone", "shop.example", ":80", false},
    {"an unclosed bracket", "::1", "[::1", false},
};

START_TEST(a_host_matches_without_port_brackets_and_case)
{
	char settings[128];
	snprintf(settings, sizeof(settings), "path = \"*\"; host = \"%s\";", hosts[_i].pattern);
	struct config *config = one_route(settings);
	const struct route *route = route_find(config, "/", hosts[_i].host);
	ck_assert_msg((route != NULL) == hosts[_i].matches, "%s", hosts[_i].why);
	config_free(config);
}
END_TEST

START_TEST(the_first_route_whose_path_and_host_match_serves)
{
	char *problems;
	struct config *config = config_parse(
	    "test.conf",
	    "routes = ( { name = \"one\"; path = \"/a*\"; host = \"x.example\"; },"
	    "{ name = \"two\"; path = \"/a*\"; }, { name = \"three\"; path = \"/*b\"; } );",
	    &problems);
	ck_assert_msg(config != NULL, "%s", problems);
	free(problems);
	ck_assert_str_eq(route_find(config, "/ab", "x.example")->name, "one");
	ck_assert_str_eq(route_find(config, "/ab", "y.example")->name, "two");
	ck_assert_str_eq(route_find(config, "/cb", "x.example")->name, "three");
	ck_assert_ptr_null(route_find(config, "/c", "x.example"));
	config_free(config);
}
END_TEST

/* A stranger chooses the path: a matcher that tries each star anew would take years for this. */
START_TEST(many_stars_against_a_long_path_take_no_time)
{
	struct config *config =
	    one_route("path = \"/*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\";");
	static char path[8192];
	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	clock_t before = clock();
	ck_assert_ptr_null(route_find(config, path, NULL));
	ck_assert_int_lt(clock() - before, CLOCKS_PER_SEC);
	config_free(config);
}
END_TEST

static const struct {
	const char *settings, *method;
	bool guards;
} methods[] = {
    {"", "POST", true},
    {"", "PATCH", true},
    {"", "PUT", false},
    {"", "GET", false},
    {"", "HEAD", false},
    {"", "post", false},
    {"", "POSTX", false},
    {"", "", false},
    {"methods = [ \"DELETE\", \"GET\" ];", "DELETE", true},
    {"methods = [ \"DELETE\", \"GET\" ];", "GET", true},
    {"methods = [ \"DELETE\", \"GET\" ];", "POST", false},
    {"mode = \"off\";", "POST", false},
    {"mode = \"observe\";", "POST", true},
    {"mode = \"observe\";", "GET", false},
};

START_TEST(a_route_guards_its_methods_unless_it_is_off)
{
	char settings[128];
	snprintf(settings, sizeof(settings), "path = \"*\"; %s", methods[_i].settings);
	struct config *config = one_route(settings);
	ck_assert(route_guards(&config->routes[0], methods[_i].method) == methods[_i].guards);
	config_free(config);
}
END_TEST

static const struct {
	const char *required, *method;
	bool requires;
} keys[] = {
    {"false", "POST", false},       {"true", "POST", true},           {"true", "PATCH", true},
    {"[ \"POST\" ]", "POST", true}, {"[ \"POST\" ]", "PATCH", false}, {"\"POST\"", "POST", true},
    {"[]", "POST", false},
};

START_TEST(a_key_is_compulsory_always_never_or_for_some_methods)
{
	char settings[128];
	snprintf(settings, sizeof(settings), "path = \"*\"; key: { required = %s; };",
		 keys[_i].required);
	struct config *config = one_route(settings);
	ck_assert(route_requires_key(&config->routes[0], keys[_i].method) == keys[_i].requires);
	config_free(config);
}
END_TEST

static const struct {
	const char *why, *patterns;
	int status;
	bool stores;
} statuses[] = {
    {"default: success", "[ \"*\", \"!401\", \"!407\", \"!429\" ]", 201, true},
    {"default: C30, 500 stays", "[ \"*\", \"!401\", \"!407\", \"!429\" ]", 500, true},
    {"default: C30, 429 is released", "[ \"*\", \"!401\", \"!407\", \"!429\" ]", 429, false},
    {"default: 401 is released", "[ \"*\", \"!401\", \"!407\", \"!429\" ]", 401, false},
    {"default: 407 is released", "[ \"*\", \"!401\", \"!407\", \"!429\" ]", 407, false},
    {"default: 400 stays", "[ \"*\", \"!401\", \"!407\", \"!429\" ]", 400, true},
    {"a class holds its first", "[ \"2xx\" ]", 200, true},
    {"a class holds its last", "[ \"2xx\" ]", 299, true},
    {"a class ends", "[ \"2xx\" ]", 300, false},
    {"one status", "[ \"404\" ]", 404, true},
    {"one status only", "[ \"404\" ]", 405, false},
    {"the last wins, here to except", "[ \"2xx\", \"!202\" ]", 202, false},
    {"the last wins, here to store", "[ \"!5xx\", \"*\" ]", 500, true},
    {"excepted, then stored again", "[ \"*\", \"!4xx\", \"404\" ]", 404, true},
    {"excepting alone stores nothing", "[ \"!404\" ]", 200, false},
    {"nothing", "[]", 200, false},
};

START_TEST(the_last_pattern_that_matches_a_status_decides)
{
	char settings[128];
	snprintf(settings, sizeof(settings), "path = \"*\"; settle: { store_statuses = %s; };",
		 statuses[_i].patterns);
	struct config *config = one_route(settings);
	ck_assert_msg(route_stores_status(&config->routes[0], statuses[_i].status) ==
			  statuses[_i].stores,
		      "%s", statuses[_i].why);
	config_free(config);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("route");
	TCase *cases = tcase_create("route");
	tcase_add_loop_test(cases, a_pattern_covers_the_whole_path, 0, COUNT(paths));
	tcase_add_loop_test(cases, a_host_matches_without_port_brackets_and_case, 0, COUNT(hosts));
	tcase_add_test(cases, the_first_route_whose_path_and_host_match_serves);
	tcase_add_test(cases, many_stars_against_a_long_path_take_no_time);
	tcase_add_loop_test(cases, a_route_guards_its_methods_unless_it_is_off, 0, COUNT(methods));
	tcase_add_loop_test(cases, a_key_is_compulsory_always_never_or_for_some_methods, 0,
			    COUNT(keys));
	tcase_add_loop_test(cases, the_last_pattern_that_matches_a_status_decides, 0,
			    COUNT(statuses));
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
