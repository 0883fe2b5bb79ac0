/* SPDX-License-Identifier: ISC */
/*
 * The script rule against what each web server sends. `@` in a table stands for the test's own
 * directory, which holds: www/            the document root, and an allowed root cgi-bin/ another
 * root, given by way of the symlink `root-link` outside/        no root
 */
#include <config.h>

#include "handler/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

/* Long enough to be no file name at all (NAME_MAX), as a PATH_INFO may well be. */
#define LONG_SEGMENT                                                                               \
	"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567" \
	"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567" \
	"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567"

static void make_tree(void)
{
	scratch_set_up();
	scratch_directory("www");
	scratch_directory("www/dir");
	scratch_directory("www/dir/s.cgi.d");
	scratch_directory("cgi-bin");
	scratch_directory("cgi-bin/sub dir");
	scratch_directory("outside");
	scratch_directory("www-beside");
	static const char *const programs[] = {
	    "www/dir/s.cgi",       "www/a b.cgi",     "www/50%.cgi",   "www/x%20y.cgi",
	    "www/caf\xc3\xa9.cgi", "www/nph-s.cgi",   "www/top",       "cgi-bin/orders",
	    "cgi-bin/sub dir/o+o", "outside/program", "www/dir/other", "www-beside/program",
	};
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		scratch_script(programs[i], "exit 0");
	scratch_file("www/data.txt", 0644, "not a program\n");
	scratch_directory("www/locked");
	ck_assert_int_eq(chmod(scratch_path("www/locked"), 0), 0);
	ck_assert_int_eq(mkfifo(scratch_path("www/fifo"), 0755), 0);
	scratch_link("root-link", "cgi-bin");
	scratch_link("www/inside.cgi", "dir/s.cgi");
	scratch_link("www/to-cgi-bin.cgi", "../cgi-bin/orders");
	scratch_link("www/escape.cgi", "../outside/program");
	scratch_link("www/escape", "../outside");
	scratch_link("www/dangling.cgi", "nowhere");
	scratch_link("www/loop.cgi", "loop.cgi");
}

/* Text with each `@` replaced by the scratch directory; NULL stays NULL. Owned by the caller. */
static char *expand(const char *text)
{
	if (text == NULL)
		return NULL;
	const char *root = scratch_path("");
	char *out = malloc(strlen(text) * (strlen(root) + 1) + 1);
	ck_assert_ptr_nonnull(out);
	size_t length = 0;
	for (; *text != '\0'; text++) {
		if (*text == '@')
			length += (size_t)sprintf(out + length, "%s", root);
		else
			out[length++] = *text;
	}
	out[length] = '\0';
	return out;
}

static enum script_result find(struct script *script, const char *const *sent, struct error *error)
{
	char *entries[8] = {NULL};
	struct params params = {.entries = (const char *const *)entries};
	for (; sent[params.count] != NULL; params.count++)
		entries[params.count] = expand(sent[params.count]);
	char *items[] = {expand("@/nowhere"), expand("@/www"), expand("@/root-link/")};
	struct string_list roots = {.items = items, .count = 3};
	enum script_result result = script_find(script, &params, &roots, error);
	for (size_t i = 0; i < params.count; i++)
		free(entries[i]);
	for (size_t i = 0; i < roots.count; i++)
		free(items[i]);
	return result;
}

#define MAX_SENT 6

/* What a front end sends, and what is meant. */
static const struct {
	const char *why;
	const char *sent[MAX_SENT];
	const char *file, *name, *path_info;
} found[] = {
    /* notes on web servers, table A: request /dir/s.cgi/extra/a%20c */
    {"lighttpd mod_fastcgi",
     {"SCRIPT_NAME=/dir/s.cgi", "SCRIPT_FILENAME=@/www/dir/s.cgi", "PATH_INFO=/extra/a c",
      "DOCUMENT_ROOT=@/www"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/extra/a c"},
    {"nginx, stock parameter file",
     {"SCRIPT_NAME=/dir/s.cgi/extra/a c", "DOCUMENT_ROOT=@/www"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/extra/a c"},
    {"nginx, split_path_info",
     {"SCRIPT_NAME=/dir/s.cgi", "SCRIPT_FILENAME=@/www/dir/s.cgi", "PATH_INFO=/extra/a c"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/extra/a c"},
    {"Apache ProxyPass, default type",
     {"SCRIPT_NAME=/dir/s.cgi/extra/a c",
      "SCRIPT_FILENAME=proxy:fcgi://127.0.0.1:9000@/www/dir/s.cgi/extra/a%20c"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/extra/a c"},
    {"Apache SetHandler, default type",
     {"SCRIPT_NAME=/dir/s.cgi", "SCRIPT_FILENAME=proxy:fcgi://localhost/@/www/dir/s.cgi",
      "PATH_INFO=/extra/a c"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/extra/a c"},
    {"Apache ProxyPass, GENERIC",
     {"SCRIPT_NAME=/dir/s.cgi/extra/a c", "SCRIPT_FILENAME=@/www/dir/s.cgi/extra/a%20c"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/extra/a c"},
    {"Apache SetHandler, GENERIC",
     {"SCRIPT_NAME=/dir/s.cgi", "SCRIPT_FILENAME=/@/www/dir/s.cgi", "PATH_INFO=/extra/a c"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/extra/a c"},
    {"mod_fcgid",
     {"SCRIPT_NAME=/dir/s.cgi", "SCRIPT_FILENAME=@/www/dir/s.cgi", "PATH_INFO=/extra/a c"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/extra/a c"},

    /* the same without anything behind the script */
    {"nginx, stock parameter file, no path info",
     {"SCRIPT_NAME=/dir/s.cgi", "DOCUMENT_ROOT=@/www", "PATH_INFO="},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     ""},
    {"Apache ProxyPass, no path info",
     {"SCRIPT_NAME=/dir/s.cgi", "SCRIPT_FILENAME=proxy:fcgi://localhost@/www/dir/s.cgi"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     ""},
    {"Apache balancer",
     {"SCRIPT_NAME=/dir/s.cgi/x", "SCRIPT_FILENAME=proxy:balancer://pool@/www/dir/s.cgi/x"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/x"},
    {"empty parameters count as absent",
     {"SCRIPT_FILENAME=", "SCRIPT_NAME=/dir/s.cgi", "DOCUMENT_ROOT=@/www", "PATH_INFO="},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     ""},

    /* where the slashes are */
    {"a slash alone is path info",
     {"SCRIPT_NAME=/dir/s.cgi/", "DOCUMENT_ROOT=@/www/"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/"},
    {"slashes in path info stay",
     {"SCRIPT_NAME=/dir/s.cgi//x//", "DOCUMENT_ROOT=@/www"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "//x//"},
    {"path info that looks like a script",
     {"SCRIPT_NAME=/dir/s.cgi", "SCRIPT_FILENAME=@/www/dir/s.cgi", "PATH_INFO=/s.cgi"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/s.cgi"},
    {"a script's name again in its path info",
     {"SCRIPT_NAME=/dir/s.cgi/dir/s.cgi", "DOCUMENT_ROOT=@/www"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/dir/s.cgi"},
    {"path info of a segment longer than any file name",
     {"SCRIPT_NAME=/dir/s.cgi/" LONG_SEGMENT, "DOCUMENT_ROOT=@/www"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/" LONG_SEGMENT},

    /* what is encoded, and what only looks so */
    {"a blank in the name, sent encoded",
     {"SCRIPT_NAME=/a b.cgi/c d", "SCRIPT_FILENAME=proxy:fcgi://h@/www/a%20b.cgi/c%20d"},
     "@/www/a b.cgi",
     "/a b.cgi",
     "/c d"},
    {"a blank in the name, sent decoded",
     {"SCRIPT_NAME=/a b.cgi", "SCRIPT_FILENAME=@/www/a b.cgi"},
     "@/www/a b.cgi",
     "/a b.cgi",
     ""},
    {"a directory with a blank, and a plus that is no blank",
     {"SCRIPT_NAME=/cgi-bin/sub dir/o+o/p+q", "SCRIPT_FILENAME=@/cgi-bin/sub%20dir/o+o/p+q"},
     "@/cgi-bin/sub dir/o+o",
     "/cgi-bin/sub dir/o+o",
     "/p+q"},
    {"UTF-8, sent encoded",
     {"SCRIPT_NAME=/caf\xc3\xa9.cgi", "SCRIPT_FILENAME=proxy:fcgi://h@/www/caf%C3%a9.cgi"},
     "@/www/caf\xc3\xa9.cgi",
     "/caf\xc3\xa9.cgi",
     ""},
    {"a name that holds what looks encoded is tried as it is first",
     {"SCRIPT_NAME=/x%20y.cgi", "SCRIPT_FILENAME=@/www/x%20y.cgi"},
     "@/www/x%20y.cgi",
     "/x%20y.cgi",
     ""},
    {"a per cent sign, sent decoded",
     {"SCRIPT_NAME=/50%.cgi", "SCRIPT_FILENAME=@/www/50%.cgi", "PATH_INFO=/100%"},
     "@/www/50%.cgi",
     "/50%.cgi",
     "/100%"},
    {"a per cent sign, sent encoded",
     {"SCRIPT_NAME=/50%.cgi/100%", "SCRIPT_FILENAME=@/www/50%25.cgi/100%25"},
     "@/www/50%.cgi",
     "/50%.cgi",
     "/100%"},
    {"path info that was encoded twice, sent encoded",
     {"SCRIPT_NAME=/dir/s.cgi/a%20b", "SCRIPT_FILENAME=@/www/dir/s.cgi/a%2520b"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/a%20b"},
    {"path info that was encoded twice, sent decoded in the file name",
     {"SCRIPT_NAME=/dir/s.cgi/a%20b", "SCRIPT_FILENAME=@/www/dir/s.cgi/a%20b"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/a%20b"},
    {"path info that was encoded twice, in SCRIPT_NAME, which is never decoded again",
     {"SCRIPT_NAME=/dir/s.cgi/a%20b%00", "DOCUMENT_ROOT=@/www"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/a%20b%00"},
    {"path info in the file name and beside it",
     {"SCRIPT_NAME=/dir/s.cgi", "SCRIPT_FILENAME=@/www/dir/s.cgi/a%20b", "PATH_INFO=/a b"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/a b"},

    /* SCRIPT_NAME and the file differ */
    {"path info beside a SCRIPT_NAME that still holds it",
     {"SCRIPT_NAME=/dir/s.cgi/extra", "SCRIPT_FILENAME=@/www/dir/s.cgi", "PATH_INFO=/extra"},
     "@/www/dir/s.cgi",
     "/dir/s.cgi",
     "/extra"},
    {"a program published under another name",
     {"SCRIPT_NAME=/api/extra", "SCRIPT_FILENAME=@/www/dir/s.cgi", "PATH_INFO=/extra"},
     "@/www/dir/s.cgi",
     "/api/extra",
     "/extra"},
    {"an alias for the root's directory",
     {"SCRIPT_NAME=/api/orders/7", "SCRIPT_FILENAME=proxy:fcgi://h@/cgi-bin/orders/7"},
     "@/cgi-bin/orders",
     "/api/orders",
     "/7"},
    {"no SCRIPT_NAME at all", {"SCRIPT_FILENAME=@/www/dir/s.cgi"}, "@/www/dir/s.cgi", "", ""},

    /* symlinks */
    {"a symlink within a root keeps its name",
     {"SCRIPT_NAME=/inside.cgi", "DOCUMENT_ROOT=@/www"},
     "@/www/inside.cgi",
     "/inside.cgi",
     ""},
    {"a symlink from one root into another",
     {"SCRIPT_NAME=/to-cgi-bin.cgi", "DOCUMENT_ROOT=@/www"},
     "@/www/to-cgi-bin.cgi",
     "/to-cgi-bin.cgi",
     ""},
    {"by way of a root that is a symlink",
     {"SCRIPT_NAME=/orders/7", "DOCUMENT_ROOT=@/root-link"},
     "@/root-link/orders",
     "/orders",
     "/7"},
    {"by the real path of a root that is a symlink",
     {"SCRIPT_NAME=/orders", "SCRIPT_FILENAME=@/cgi-bin/orders"},
     "@/cgi-bin/orders",
     "/orders",
     ""},
};

static void expect_text(const char *got, const char *expected, const char *what, const char *why)
{
	char *text = expand(expected);
	ck_assert_msg(strcmp(got, text) == 0, "%s: %s is %s, not %s", why, what, got, text);
	free(text);
}

START_TEST(every_web_server_leads_to_the_same_script)
{
	const char *why = found[_i].why;
	struct script script;
	struct error error;
	enum script_result result = find(&script, found[_i].sent, &error);
	ck_assert_msg(result == SCRIPT_FOUND, "%s: %d %s", why, (int)result, error.message);
	expect_text(script.file, found[_i].file, "file", why);
	expect_text(script.name, found[_i].name, "name", why);
	expect_text(script.path_info, found[_i].path_info, "path info", why);
	char *slash = strrchr(script.file, '/');
	*slash = '\0';
	ck_assert_str_eq(script.directory, script.file);
	script_free(&script);
	script_free(&script); /* harmless */
}
END_TEST

static const struct {
	const char *why;
	const char *sent[MAX_SENT];
	enum script_result result;
	const char *message; /* part of it */
} refused[] = {
    /* C49 */
    {"a file that is not there",
     {"SCRIPT_FILENAME=@/www/none.cgi"},
     SCRIPT_NOT_FOUND,
     "www/none.cgi"},
    {"a directory that is not there",
     {"SCRIPT_FILENAME=@/www/none/s.cgi"},
     SCRIPT_NOT_FOUND,
     "www/none/s.cgi"},
    {"a missing one is not looked for elsewhere",
     {"SCRIPT_FILENAME=@/www/none.cgi", "SCRIPT_NAME=/dir/s.cgi", "DOCUMENT_ROOT=@/www"},
     SCRIPT_NOT_FOUND,
     "www/none.cgi"},
    {"a directory", {"SCRIPT_FILENAME=@/www/dir"}, SCRIPT_NOT_FOUND, "is a directory"},
    {"a directory with a slash",
     {"SCRIPT_FILENAME=@/www/dir/"},
     SCRIPT_NOT_FOUND,
     "is a directory"},
    {"the root", {"SCRIPT_NAME=/", "DOCUMENT_ROOT=@/www"}, SCRIPT_NOT_FOUND, "is a directory"},
    {"a fifo", {"SCRIPT_FILENAME=@/www/fifo"}, SCRIPT_NOT_FOUND, "www/fifo"},
    {"a fifo with path info", {"SCRIPT_FILENAME=@/www/fifo/x"}, SCRIPT_NOT_FOUND, "www/fifo"},
    {"a name that only begins as a script's",
     {"SCRIPT_FILENAME=@/www/dir/s.cgi.d/x"},
     SCRIPT_NOT_FOUND,
     "s.cgi.d/x"},
    {"not executable", {"SCRIPT_FILENAME=@/www/data.txt"}, SCRIPT_FORBIDDEN, "cannot be executed"},
    {"not executable, with path info",
     {"SCRIPT_NAME=/data.txt/x", "DOCUMENT_ROOT=@/www"},
     SCRIPT_FORBIDDEN,
     "cannot be executed"},
    {"outside the roots",
     {"SCRIPT_FILENAME=@/outside/program"},
     SCRIPT_FORBIDDEN,
     "outside handlers.roots"},
    {"a directory whose name a root's begins",
     {"SCRIPT_FILENAME=@/www-beside/program"},
     SCRIPT_FORBIDDEN,
     "outside handlers.roots"},
    {"a symlink out of the roots",
     {"SCRIPT_NAME=/escape.cgi", "DOCUMENT_ROOT=@/www"},
     SCRIPT_FORBIDDEN,
     "outside/program"},
    {"a directory that is a symlink out of the roots",
     {"SCRIPT_FILENAME=@/www/escape/program/x"},
     SCRIPT_FORBIDDEN,
     "outside/program"},
    {"a symlink to nothing",
     {"SCRIPT_FILENAME=@/www/dangling.cgi"},
     SCRIPT_NOT_FOUND,
     "dangling.cgi"},
    {"a symlink to itself", {"SCRIPT_FILENAME=@/www/loop.cgi"}, SCRIPT_NOT_FOUND, "loop.cgi"},
    {"a script with non-parsed headers",
     {"SCRIPT_FILENAME=@/www/nph-s.cgi"},
     SCRIPT_FORBIDDEN,
     "non-parsed headers"},

    /* refused before looking */
    {"a way up", {"SCRIPT_FILENAME=@/www/dir/../dir/s.cgi"}, SCRIPT_FORBIDDEN, "`..`"},
    {"a way up, encoded", {"SCRIPT_FILENAME=@/www/dir/%2e%2E/dir/s.cgi"}, SCRIPT_FORBIDDEN, "`..`"},
    {"a way up behind an encoded slash",
     {"SCRIPT_FILENAME=@/www/dir/x%2f../s.cgi"},
     SCRIPT_FORBIDDEN,
     "`..`"},
    {"a way up in SCRIPT_NAME",
     {"SCRIPT_NAME=/dir/../dir/s.cgi", "DOCUMENT_ROOT=@/www"},
     SCRIPT_FORBIDDEN,
     "`..`"},
    {"a way up at the end", {"SCRIPT_FILENAME=@/www/dir/s.cgi/.."}, SCRIPT_FORBIDDEN, "`..`"},
    {"a way up in PATH_INFO",
     {"SCRIPT_FILENAME=@/www/dir/s.cgi", "PATH_INFO=/../x"},
     SCRIPT_FORBIDDEN,
     "`..`"},
    {"an encoded NUL", {"SCRIPT_FILENAME=@/www/dir/s.cgi%00.txt"}, SCRIPT_FORBIDDEN, "%00"},
    {"an encoded NUL in path info",
     {"SCRIPT_FILENAME=@/www/dir/s.cgi/%00"},
     SCRIPT_FORBIDDEN,
     "%00"},
    {"a line end", {"SCRIPT_FILENAME=@/www/dir/s.cgi/a\nb"}, SCRIPT_FORBIDDEN, "control byte"},
    {"a line end, encoded",
     {"SCRIPT_FILENAME=@/www/dir/s.cgi/a%0Ab"},
     SCRIPT_FORBIDDEN,
     "control byte"},
    {"a line end in PATH_INFO, which another server would leave in SCRIPT_NAME",
     {"SCRIPT_FILENAME=@/www/dir/s.cgi", "PATH_INFO=/a\nb"},
     SCRIPT_FORBIDDEN,
     "control byte"},
    {"DEL",
     {"SCRIPT_NAME=/dir/s.cgi\x7f", "DOCUMENT_ROOT=@/www"},
     SCRIPT_FORBIDDEN,
     "control byte"},

    /* nothing to go by */
    {"nothing sent", {NULL}, SCRIPT_NOT_FOUND, "neither"},
    {"no document root", {"SCRIPT_NAME=/dir/s.cgi"}, SCRIPT_NOT_FOUND, "neither"},
    {"no script name", {"DOCUMENT_ROOT=@/www"}, SCRIPT_NOT_FOUND, "neither"},
    {"a relative document root",
     {"SCRIPT_NAME=/dir/s.cgi", "DOCUMENT_ROOT=www"},
     SCRIPT_NOT_FOUND,
     "neither"},
    {"a relative file name",
     {"SCRIPT_FILENAME=www/dir/s.cgi"},
     SCRIPT_NOT_FOUND,
     "no absolute path"},
    {"a proxy without a path",
     {"SCRIPT_FILENAME=proxy:fcgi://localhost:9000"},
     SCRIPT_NOT_FOUND,
     "no absolute path"},
    {"a proxy without an authority",
     {"SCRIPT_FILENAME=proxy:fcgi"},
     SCRIPT_NOT_FOUND,
     "no absolute path"},
};

START_TEST(what_is_no_script_is_refused_and_the_file_is_named)
{
	struct script script;
	struct error error;
	enum script_result result = find(&script, refused[_i].sent, &error);
	ck_assert_msg(result == refused[_i].result, "%s: %d %s", refused[_i].why, (int)result,
		      error.message);
	ck_assert_msg(strstr(error.message, refused[_i].message) != NULL, "%s: %s", refused[_i].why,
		      error.message);
	ck_assert_ptr_null(script.file);
	ck_assert_ptr_null(script.name);
}
END_TEST

START_TEST(a_path_info_longer_than_any_path_may_be_is_left_over)
{
	char path[10000 + 32] = "SCRIPT_NAME=/dir/s.cgi";
	size_t length = strlen(path);
	for (int i = 0; i < 5000; i++)
		length += (size_t)sprintf(path + length, "/x");
	const char *sent[] = {path, "DOCUMENT_ROOT=@/www", NULL};
	struct script script;
	struct error error;
	ck_assert_int_eq(find(&script, sent, &error), SCRIPT_FOUND);
	ck_assert_str_eq(script.name, "/dir/s.cgi");
	ck_assert_uint_eq(strlen(script.path_info), 10000);
	script_free(&script);
}
END_TEST

START_TEST(a_directory_that_we_may_not_enter_is_forbidden)
{
	const char *sent[] = {"SCRIPT_FILENAME=@/www/locked/s.cgi", NULL};
	struct script script;
	struct error error;
	uid_t user = geteuid();
	if (user == 0)
		ck_assert_int_eq(seteuid(65534), 0);
	enum script_result result = find(&script, sent, &error);
	ck_assert_int_eq(seteuid(user), 0);
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0); /* for leak checkers */
	ck_assert_int_eq(result, SCRIPT_FORBIDDEN);
	ck_assert_ptr_nonnull(strstr(error.message, "locked/s.cgi: Permission denied"));
}
END_TEST

START_TEST(without_roots_nothing_may_run)
{
	char *entry = expand("SCRIPT_FILENAME=@/www/dir/s.cgi");
	struct params params = {.entries = (const char *const *)&entry, .count = 1};
	struct string_list none = {0};
	struct script script;
	struct error error;
	ck_assert_int_eq(script_find(&script, &params, &none, &error), SCRIPT_FORBIDDEN);
	free(entry);
}
END_TEST

START_TEST(the_root_of_all_is_a_root)
{
	char *entry = expand("SCRIPT_FILENAME=@/outside/program");
	struct params params = {.entries = (const char *const *)&entry, .count = 1};
	struct string_list roots = {.items = (char *[]){(char[]){"/"}}, .count = 1};
	struct script script;
	struct error error;
	ck_assert_int_eq(script_find(&script, &params, &roots, &error), SCRIPT_FOUND);
	script_free(&script);
	free(entry);
}
END_TEST

static enum script_result fix(struct script *script, const char *file, struct error *error)
{
	static const char *const entries[] = {"SCRIPT_FILENAME=/else/where", "SCRIPT_NAME=/front",
					      "PATH_INFO=/a b"};
	struct params params = {.entries = entries, .count = 3};
	return script_fixed(script, file, &params, error);
}

START_TEST(a_fixed_program_takes_the_names_as_they_were_sent)
{
	struct script script;
	struct error error;
	ck_assert_int_eq(fix(&script, scratch_path("outside/program"), &error), SCRIPT_FOUND);
	ck_assert_str_eq(script.file, scratch_path("outside/program"));
	ck_assert_str_eq(script.directory, scratch_path("outside"));
	ck_assert_str_eq(script.name, "/front");
	ck_assert_str_eq(script.path_info, "/a b");
	script_free(&script);
}
END_TEST

START_TEST(a_fixed_program_is_meant_from_the_working_directory)
{
	struct script script;
	struct error error;
	ck_assert_int_eq(chdir(scratch_path("www")), 0);
	ck_assert_int_eq(fix(&script, "dir/s.cgi", &error), SCRIPT_FOUND);
	ck_assert_str_eq(script.file, scratch_path("www/dir/s.cgi"));
	ck_assert_str_eq(script.directory, scratch_path("www/dir"));
	script_free(&script);
}
END_TEST

static const struct {
	const char *file;
	enum script_result result;
} unfit[] = {
    {"www/none.cgi", SCRIPT_NOT_FOUND}, {"www/dir", SCRIPT_NOT_FOUND},
    {"www/fifo", SCRIPT_NOT_FOUND},     {"www/dir/s.cgi/x", SCRIPT_NOT_FOUND},
    {"www/data.txt", SCRIPT_FORBIDDEN}, {"www/nph-s.cgi", SCRIPT_FORBIDDEN},
};

START_TEST(a_fixed_program_must_be_one)
{
	struct script script;
	struct error error;
	ck_assert_int_eq(fix(&script, scratch_path(unfit[_i].file), &error), unfit[_i].result);
	ck_assert_ptr_nonnull(strstr(error.message, unfit[_i].file));
	ck_assert_ptr_null(script.file);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("script");
	TCase *tests = tcase_create("script");
	tcase_add_unchecked_fixture(tests, make_tree, scratch_tear_down);
	tcase_add_loop_test(tests, every_web_server_leads_to_the_same_script, 0, COUNT(found));
	tcase_add_loop_test(tests, what_is_no_script_is_refused_and_the_file_is_named, 0,
			    COUNT(refused));
	tcase_add_test(tests, a_path_info_longer_than_any_path_may_be_is_left_over);
	tcase_add_test(tests, a_directory_that_we_may_not_enter_is_forbidden);
	tcase_add_test(tests, without_roots_nothing_may_run);
	tcase_add_test(tests, the_root_of_all_is_a_root);
	tcase_add_test(tests, a_fixed_program_takes_the_names_as_they_were_sent);
	tcase_add_test(tests, a_fixed_program_is_meant_from_the_working_directory);
	tcase_add_loop_test(tests, a_fixed_program_must_be_one, 0, COUNT(unfit));
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
