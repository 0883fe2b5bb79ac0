/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/preset.h"

#include "broker/refusal.h"
#include "config/load.h"
#include "config/value.h"
#include "tests/unit/suite.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* Files, in a directory of the test's own. */

static char directory[] = "/tmp/oncewrap-preset-XXXXXX";

static void enter_directory(void)
{
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
}

static void leave_directory(void)
{
	char command[128];
	ck_assert_int_eq(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	ck_assert_int_eq(system(command), 0);
}

static void write_text(const char *name, const char *content)
{
	FILE *out = fopen(name, "w");
	ck_assert_ptr_nonnull(out);
	ck_assert_int_ge(fputs(content, out), 0);
	ck_assert_int_eq(fclose(out), 0);
}

/* With the test's directory for each "@"; owned by the caller. */
static char *place(const char *text)
{
	char *placed;
	size_t length;
	FILE *out = open_memstream(&placed, &length);
	for (; *text != '\0'; text++) {
		if (*text == '@')
			fputs(directory, out);
		else
			fputc(*text, out);
	}
	ck_assert_int_eq(fclose(out), 0);
	return placed;
}

/* A configuration whose presets lie in the test's directory; owned by the caller, NULL when there
 * are problems, which must be these. */
static struct config *load(const char *text, const char *problems)
{
	char *told, *placed = place(text), *expected = place(problems);
	char whole[4096];
	snprintf(whole, sizeof(whole), "preset_directory = \"%s\";\n%s", directory, placed);
	struct config *config = config_parse("t.conf", whole, &told);
	ck_assert_msg(strcmp(told, expected) == 0, "%s\nexpected:\n%s", told, expected);
	ck_assert((config == NULL) == (*problems != '\0'));
	free(told);
	free(placed);
	free(expected);
	return config;
}

START_TEST(a_preset_lies_under_defaults_and_they_under_the_route)
{
	write_text("all.conf",
		   "scope = \"tenant\"; times: { lease = \"41s\"; retention = \"41h\"; };\n"
		   "key: { max_length = 41; min_length = 4; };");
	write_text("own.conf", "scope = \"method+path\"; key: { max_length = 51; };");
	struct config *config =
	    load("defaults: { preset = \"all\"; times: { lease = \"42s\"; }; };\n"
		 "routes = ( { name = \"a\"; path = \"/a\"; key: { max_length = 43; }; },\n"
		 "{ name = \"b\"; path = \"/b\"; preset = \"own\"; },\n"
		 "{ name = \"c\"; path = \"/c\"; preset = \"@/all.conf\"; },\n"
		 "{ name = \"d\"; path = \"/d\"; preset = \"\"; } );",
		 "");
	const struct {
		const char *preset;
		enum route_scope scope;
		int max_length, min_length, lease, retention;
	} expected[] = {
	    {"all", SCOPE_TENANT, 43, 4, 42, 41},
	    {"own", SCOPE_METHOD_PATH, 51, 1, 42, 24},
	    {NULL, SCOPE_TENANT, 41, 4, 42, 41},
	    {"", SCOPE_ROUTE, 255, 1, 42, 24},
	};
	for (int i = 0; i < COUNT(expected); i++) {
		const struct route *route = &config->routes[i];
		if (expected[i].preset != NULL)
			ck_assert_str_eq(route->preset, expected[i].preset);
		ck_assert_int_eq(route->scope, expected[i].scope);
		ck_assert_int_eq(route->key_max_length, expected[i].max_length);
		ck_assert_int_eq(route->key_min_length, expected[i].min_length);
		ck_assert_int_eq(route->lease, expected[i].lease * 1000);
		ck_assert_int_eq(route->retention, expected[i].retention * 3600000);
	}
	config_free(config);
}
END_TEST

#define ROUTE(preset) "routes = ( { name = \"r\"; path = \"/\"; preset = \"" preset "\"; } );"
#define TWO_ROUTES(preset)                                                                         \
	"routes = ( { name = \"a\"; path = \"/a\"; preset = \"" preset "\"; },\n"                  \
	"{ name = \"b\"; path = \"/b\"; preset = \"" preset "\"; } );"

static const struct {
	const char *why;
	const char *preset; /* the file p.conf */
	const char *text;   /* from line 2 on */
	const char *problems;
} files[] = {
    {"a good one", "scope = \"tenant\";", ROUTE("p"), ""},
    {"an empty one", "", ROUTE("p"), ""},
    {"an unknown one", "", "\n" ROUTE("q"),
     "t.conf:3: routes[0].preset: \"q\" is no preset; in @ there are other, p\n"},
    {"an unknown one in defaults, with and without routes", "",
     "defaults: { preset = \"q\"; };\n" TWO_ROUTES("p"),
     "t.conf:2: defaults.preset: \"q\" is no preset; in @ there are other, p\n"},
    {"an unknown one in defaults is told once", "",
     "defaults: { preset = \"q\"; };\nroutes = ( { name = \"a\"; path = \"/a\"; }, { name = \"b\"; "
     "path = \"/b\"; } );",
     "t.conf:2: defaults.preset: \"q\" is no preset; in @ there are other, p\n"},
    {"a path that leads nowhere", "", ROUTE("@/q.conf"),
     "t.conf:2: routes[0].preset: \"@/q.conf\" does not exist\n"},
    {"a path that is no file", "", ROUTE("@"), "@: cannot be read: Is a directory\n"},
    {"the name of no setting", "\nscop = \"tenant\";", TWO_ROUTES("p"),
     "@/p.conf:2: scop: unknown setting; did you mean scope?\n"},
    {"a bad value", "key: {\nmax_length = 256; };", TWO_ROUTES("p"),
     "@/p.conf:2: key.max_length: 256 is above the maximum of 255\n"},
    {"no configuration", "scope = ;", TWO_ROUTES("p"),
     "@/p.conf:1: syntax error: look here and just above for a missing quote, bracket or \";\"\n"},
    {"all that is wrong", "keep = 1;\nscope = 2;", ROUTE("p") "\nworkers = 0;",
     "t.conf:3: workers: 0 is below the minimum of 1\n"
     "@/p.conf:1: keep: is a whole number, but takes one of \"full\", \"reference\", \"marker\", "
     "as "
     "\"full\"\n"
     "@/p.conf:2: scope: is a whole number, but takes one of \"tenant\", \"route\", "
     "\"method+path\", as \"route\"\n"},
    {"what each route has for itself", "name = \"x\";\npath = \"/x\";", ROUTE("p"),
     "@/p.conf:1: name: each route has its own: move it there\n"
     "@/p.conf:2: path: each route has its own: move it there\n"},
    {"one that lies on another", "preset = \"other\";", ROUTE("p"),
     "@/p.conf:1: preset: a preset lies on no other one: copy what it shall have of it\n"},
    {"the service's settings", "workers = 3;", ROUTE("p"),
     "@/p.conf:1: workers: unknown setting; it belongs to the whole service: write it outside of "
     "routes and presets\n"},
    {"a contradiction within", "times: { lease = \"5s\"; };", TWO_ROUTES("p"),
     "@/p.conf:1: times.lease: lease of 5s is below 21s, three times store.connect_timeout + "
     "store.read_timeout: a renewal that failed could not be tried again in time\n"},
    {"a contradiction to the site is told at the site", "times: { lease = \"25s\"; };",
     "store: { read_timeout = \"10s\"; };\n" TWO_ROUTES("p"),
     "t.conf:2: store.read_timeout: lease of 25s is below 36s, three times store.connect_timeout + "
     "store.read_timeout: a renewal that failed could not be tried again in time\n"},
    {"a contradiction to the route is told at the route",
     "fingerprint: { parts = [ \"method\", \"path\" ]; };",
     "routes = ( { name = \"r\"; path = \"/\"; preset = \"p\";\nrebuild = true; } );",
     "t.conf:3: routes[0].rebuild: an answer can be given again only to the same request, but "
     "fingerprint.parts lacks \"body\"; add it, or write rebuild = false\n"},
    {"nothing is known to contradict an unknown one", "",
     "routes = ( { name = \"r\"; path = \"/\"; preset = \"q\"; keep = \"marker\"; fingerprint: { "
     "parts = \"path\"; }; } );",
     "t.conf:2: routes[0].preset: \"q\" is no preset; in @ there are other, p\n"},
    {"a malformed name is told once", "", ROUTE("p/q"),
     "t.conf:2: routes[0].preset: \"p/q\" is no preset; write its name, as \"stripe\", or an "
     "absolute "
     "path\n"},
};

START_TEST(what_is_wrong_with_a_preset_is_told_once_where_it_stands)
{
	write_text("p.conf", files[_i].preset);
	write_text("other.conf", "");
	config_free(load(files[_i].text, files[_i].problems));
}
END_TEST

START_TEST(where_there_are_none_that_is_told)
{
	config_free(load(ROUTE("p"),
			 "t.conf:2: routes[0].preset: \"p\" is no preset: there are none in "
			 "@; write an absolute path or set preset_directory\n"));
}
END_TEST

START_TEST(a_directory_that_is_refused_makes_no_second_problem)
{
	char *problems;
	struct config *config =
	    config_parse("t.conf", "preset_directory = \"presets\";\n" ROUTE("p"), &problems);
	ck_assert_ptr_null(config);
	ck_assert_str_eq(problems,
			 "t.conf:1: preset_directory: \"presets\" is not an absolute path; "
			 "write one that begins with /\n");
	free(problems);
}
END_TEST

START_TEST(a_reload_reads_presets_again_and_routes_of_conf_d_have_them_too)
{
	char *problems, *text = place("preset_directory = \"@\";");
	write_text("m.conf", text);
	ck_assert_int_eq(mkdir("conf.d", 0755), 0);
	write_text("conf.d/r.conf", ROUTE("p"));
	static const char *const scopes[] = {"tenant", "method+path"};
	for (int i = 0; i < 2; i++) {
		char preset[64];
		snprintf(preset, sizeof(preset), "scope = \"%s\";", scopes[i]);
		write_text("p.conf", preset);
		struct config *config = config_load("m.conf", &problems);
		ck_assert_msg(config != NULL, "%s", problems);
		ck_assert_int_eq(config->routes[0].scope,
				 i == 0 ? SCOPE_TENANT : SCOPE_METHOD_PATH);
		config_free(config);
		free(problems);
	}
	free(text);
}
END_TEST

/* The presets that are installed. */

/* Absolute, as a configuration wants it. */
static const char *source_tree(void)
{
	static char path[PATH_MAX];
	const char *top = getenv("srcdir");
	ck_assert_ptr_nonnull(realpath(top != NULL ? top : ".", path));
	return path;
}

/* One route with that preset, or with "" for none. */
static struct config *load_installed(const char *preset)
{
	char text[PATH_MAX + 128], *problems;
	snprintf(
	    text, sizeof(text),
	    "preset_directory = \"%s/presets\";\nroutes = ( { name = \"r\"; path = \"/\"; preset = "
	    "\"%s\"; } );",
	    source_tree(), preset);
	struct config *config = config_parse("t.conf", text, &problems);
	ck_assert_msg(config != NULL, "%s", problems);
	free(problems);
	return config;
}

static const char *const installed[] = {"ietf", "stripe", "kobana", "gc", "payments"};

START_TEST(each_installed_preset_is_a_good_one)
{
	config_free(load_installed(installed[_i]));
}
END_TEST

START_TEST(ietf_is_the_default_in_every_setting)
{
	struct config *preset = load_installed("ietf"), *standard = load_installed("");
	for (size_t i = 0; i < settings_route.count; i++) {
		const struct setting *row = &settings_route.rows[i];
		ck_assert_msg(strcmp(row->path, "preset") == 0 ||
				  value_equal(row, &preset->routes[0], &standard->routes[0]),
			      "%s", row->path);
	}
	config_free(preset);
	config_free(standard);
}
END_TEST

/* The example is there to be copied into a route: its lines without their "#" are good ones. */
START_TEST(the_natural_key_that_gc_shows_is_a_good_one)
{
	char path[PATH_MAX + 32], text[1024] = "", line[256];
	snprintf(path, sizeof(path), "%s/presets/gc.conf", source_tree());
	FILE *in = fopen(path, "r");
	ck_assert_ptr_nonnull(in);
	bool within = false;
	while (fgets(line, sizeof(line), in) != NULL) {
		within |= strcmp(line, "# natural_key: {\n") == 0;
		if (within)
			strcat(text, line + 1);
		within &= strcmp(line, "# };\n") != 0;
	}
	fclose(in);
	char whole[PATH_MAX + 2048], *problems;
	snprintf(whole, sizeof(whole),
		 "routes = ( { name = \"r\"; path = \"/\"; preset = \"%s\"; %s } );", path, text);
	struct config *config = config_parse("t.conf", whole, &problems);
	ck_assert_msg(config != NULL, "%s", problems);
	ck_assert_uint_eq(config->routes[0].natural_values.count, 2);
	config_free(config);
	free(problems);
}
END_TEST

#define BEFORE_WORK "\"!401\", \"!407\", \"!429\""

static const struct {
	const char *preset, *path, *value;
} promises[] = {
    {"stripe", "methods", "[ \"POST\", \"PATCH\" ]"},
    {"stripe", "scope", "\"tenant\""},
    {"stripe", "in_flight", "\"reject\""},
    {"stripe", "keep", "\"full\""},
    {"stripe", "key.sources", "[ \"header:Idempotency-Key\" ]"},
    {"stripe", "key.required", "false"},
    {"stripe", "key.max_length", "255"},
    {"stripe", "tenant.sources", "[ \"env:REMOTE_USER\", \"header:Authorization\" ]"},
    {"stripe", "fingerprint.parts",
     "[ \"method\", \"path\", \"query\", \"content-type\", \"body\" ]"},
    {"stripe", "status.in_flight", "409"},
    {"stripe", "status.mismatch", "422"},
    {"stripe", "settle.store_statuses", "[ \"*\", " BEFORE_WORK " ]"},
    {"stripe", "settle.on_lapse", "\"rerun\""},
    {"stripe", "replay.status", "\"original\""},
    {"stripe", "replay.header", "[ \"Idempotent-Replayed: true\" ]"},
    {"stripe", "times.retention", "\"24h\""},
    {"stripe", "times.lease", "\"90s\""},

    {"kobana", "methods", "[ \"POST\", \"PUT\", \"PATCH\" ]"},
    {"kobana", "scope", "\"tenant\""},
    {"kobana", "in_flight", "\"reject\""},
    {"kobana", "require_json", "true"},
    {"kobana", "key.sources", "[ \"header:X-Idempotency-Key\" ]"},
    {"kobana", "key.required", "false"},
    {"kobana", "key.syntax", "\"raw\""},
    {"kobana", "key.charset", "\"utf8\""},
    {"kobana", "key.min_length", "1"},
    {"kobana", "key.max_length", "255"},
    {"kobana", "tenant.sources",
     "[ \"env:ORG_ID\", \"env:REMOTE_USER\", \"header:Authorization\" ]"},
    {"kobana", "fingerprint.parts", "[ \"method\", \"path\", \"body\" ]"},
    {"kobana", "fingerprint.body", "\"raw\""},
    {"kobana", "settle.store_statuses", "[ \"*\", " BEFORE_WORK " ]"},
    {"kobana", "settle.on_crash", "\"release\""},
    {"kobana", "settle.on_exit_nonzero", "\"release\""},
    {"kobana", "replay.status", "\"original\""},
    {"kobana", "replay.header", "[ \"X-Idempotent-Replay: true\" ]"},
    {"kobana", "times.retention", "\"24h\""},

    {"gc", "methods", "[ \"POST\", \"PATCH\", \"DELETE\" ]"},
    {"gc", "scope", "\"tenant\""},
    {"gc", "in_flight", "\"wait\""},
    {"gc", "key.sources", "[ \"header:Idempotency-Key\" ]"},
    {"gc", "key.required", "false"},
    {"gc", "tenant.sources", "[ \"header:ApiKey\" ]"},
    {"gc", "fingerprint.parts", "[ \"method\", \"path\" ]"},
    {"gc", "settle.store_statuses",
     "[ \"*\", " BEFORE_WORK ", \"!500\", \"!501\", \"!502\", \"!503\", \"!504\" ]"},
    {"gc", "settle.on_crash", "\"release\""},
    {"gc", "settle.on_timeout", "\"release\""},
    {"gc", "replay.status", "\"original\""},
    {"gc", "replay.header", "[]"},
    {"gc", "replay.first_seen_header", "\"\""},
    {"gc", "replay.drop_headers", "[ \"Date\" ]"},
    {"gc", "times.retention", "\"24h\""},
    {"gc", "natural_key.values", "[]"},

    {"payments", "methods", "[ \"POST\", \"PATCH\" ]"},
    {"payments", "scope", "\"tenant\""},
    {"payments", "in_flight", "\"wait\""},
    {"payments", "store_down", "\"refuse\""},
    {"payments", "key.required", "true"},
    {"payments", "key.max_length", "64"},
    {"payments", "fingerprint.parts", "[ \"method\", \"path\", \"body\" ]"},
    {"payments", "settle.store_statuses", "[ \"2xx\" ]"},
    {"payments", "settle.on_crash", "\"release\""},
    {"payments", "replay.status", "200"},
    {"payments", "replay.header", "[ \"X-Idempotent-Replayed: true\" ]"},
    {"payments", "times.retention", "\"24h\""},
    {"payments", "natural_key.values", "[ \"json:/pedido\", \"json:/valor\", \"json:/data\" ]"},
    {"payments", "natural_key.window", "\"forever\""},
};

START_TEST(an_installed_preset_says_what_its_source_promises)
{
	struct config *config = load_installed(promises[_i].preset);
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	value_write(settings_find(&settings_route, promises[_i].path), &config->routes[0], out);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_msg(strcmp(text, promises[_i].value) == 0, "%s: %s is %s", promises[_i].preset,
		      promises[_i].path, text);
	free(text);
	config_free(config);
}
END_TEST

/* Refusals. NULL: the detail, whatever it is; a field that is JSON's null is "null". */
static const struct {
	const char *preset;
	enum verdict verdict;
	int status;
	const char *code, *message, *last; /* the envelope's three texts */
} refusals[] = {
    {"kobana", VERDICT_IN_FLIGHT, 409, "conflict", NULL, "idempotency_request_in_progress"},
    {"kobana", VERDICT_MISMATCH, 409, "conflict",
     "X-Idempotency-Key was already used with different request parameters. Reuse the original "
     "parameters or generate a new key.",
     "idempotency_key_reused"},
    {"kobana", VERDICT_KEY_INVALID, 400, "bad_request", NULL, "invalid_idempotency_key"},
    {"kobana", VERDICT_KEY_MISSING, 400, "bad_request", NULL, "missing_idempotency_key"},
    {"kobana", VERDICT_BAD_BODY, 400, "bad_request", NULL, "invalid_json"},
    {"kobana", VERDICT_UNKNOWN, 409, "conflict", NULL, "idempotency_outcome_unknown"},
    {"kobana", VERDICT_NOT_KEPT, 409, "conflict", NULL, "idempotency_result_not_kept"},
    {"kobana", VERDICT_EXPIRED, 410, "gone", NULL, "idempotency_key_expired"},
    {"kobana", VERDICT_DUPLICATE, 409, "conflict", NULL, "duplicate_operation"},
    {"kobana", VERDICT_TENANT_MISSING, 401, "unauthorized", NULL, "missing_credentials"},
    {"kobana", VERDICT_TOO_LARGE, 413, "payload_too_large", NULL, "request_too_large"},
    {"kobana", VERDICT_STORE_DOWN, 503, "service_unavailable", NULL, "idempotency_unavailable"},
    {"kobana", VERDICT_HANDLER_FAILED, 502, "handler_failed", NULL, "handler_failed"},
    {"kobana", VERDICT_BODY_LENGTH, 400, "body_length", NULL, "body_length"},

    {"gc", VERDICT_IN_FLIGHT, 429, "IDEMPOTENCY_REQUEST_IN_PROGRESS", NULL, "Idempotency-Key"},
    {"gc", VERDICT_MISMATCH, 409, "IDEMPOTENCY_KEY_REUSED",
     "This Idempotency-Key was already used on a different request. Use a new one.",
     "Idempotency-Key"},
    {"gc", VERDICT_KEY_INVALID, 400, "IDEMPOTENCY_KEY_INVALID", NULL, "Idempotency-Key"},
    {"gc", VERDICT_KEY_MISSING, 400, "IDEMPOTENCY_KEY_REQUIRED", NULL, "Idempotency-Key"},
    {"gc", VERDICT_BAD_BODY, 400, "INVALID_JSON", NULL, "null"},
    {"gc", VERDICT_UNKNOWN, 409, "IDEMPOTENCY_OUTCOME_UNKNOWN", NULL, "Idempotency-Key"},
    {"gc", VERDICT_NOT_KEPT, 409, "IDEMPOTENCY_RESULT_NOT_KEPT", NULL, "Idempotency-Key"},
    {"gc", VERDICT_EXPIRED, 410, "IDEMPOTENCY_KEY_EXPIRED", NULL, "Idempotency-Key"},
    {"gc", VERDICT_DUPLICATE, 409, "DOCUMENT_ALREADY_EXISTS", NULL, "null"},
    {"gc", VERDICT_TENANT_MISSING, 401, "API_KEY_REQUIRED", NULL, "ApiKey"},
    {"gc", VERDICT_TOO_LARGE, 413, "REQUEST_TOO_LARGE", NULL, "null"},
    {"gc", VERDICT_STORE_DOWN, 503, "SERVICE_UNAVAILABLE", NULL, "null"},
    {"gc", VERDICT_HANDLER_TIMEOUT, 504, "REQUEST_FAILED", NULL, "null"},
    {"gc", VERDICT_UNSETTLED, 503, "REQUEST_FAILED", NULL, "null"},
};

static const char *text_of(const json_t *value)
{
	ck_assert(json_is_string(value) || json_is_null(value));
	return json_is_null(value) ? "null" : json_string_value(value);
}

START_TEST(a_refusal_is_in_the_envelope_of_the_presets_source)
{
	struct config *config = load_installed(refusals[_i].preset);
	struct refusal refusal;
	const struct refusal_facts facts = {.detail = "why \"so\""};
	ck_assert_int_eq(refusal_make(&refusal, refusals[_i].verdict, &config->routes[0], &facts),
			 0);
	ck_assert_int_eq(refusal.status, refusals[_i].status);
	ck_assert_ptr_nonnull(
	    strstr(buffer_text(&refusal.headers), "Content-Type: application/json\r\n"));

	json_t *body = json_loadb((const char *)refusal.body.data, refusal.body.length,
				  JSON_REJECT_DUPLICATES, NULL);
	bool is_gc = strcmp(refusals[_i].preset, "gc") == 0;
	const json_t *envelope = json_object_get(body, is_gc ? "Error" : "error");
	const json_t *last = is_gc
				 ? json_object_get(envelope, "Field")
				 : json_object_get(json_object_get(envelope, "details"), "reason");
	ck_assert_uint_eq(json_object_size(body), 1);
	ck_assert_uint_eq(json_object_size(envelope), 3);
	ck_assert_str_eq(text_of(json_object_get(envelope, is_gc ? "Code" : "code")),
			 refusals[_i].code);
	ck_assert_str_eq(text_of(last), refusals[_i].last);
	const char *message = text_of(json_object_get(envelope, is_gc ? "Message" : "message"));
	if (refusals[_i].message != NULL)
		ck_assert_str_eq(message, refusals[_i].message);
	else
		ck_assert_uint_ge(strlen(message), strlen(facts.detail));
	json_decref(body);
	refusal_free(&refusal);
	config_free(config);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("preset");
	TCase *cases = tcase_create("files");
	tcase_add_checked_fixture(cases, enter_directory, leave_directory);
	tcase_add_test(cases, a_preset_lies_under_defaults_and_they_under_the_route);
	tcase_add_loop_test(cases, what_is_wrong_with_a_preset_is_told_once_where_it_stands, 0,
			    COUNT(files));
	tcase_add_test(cases, where_there_are_none_that_is_told);
	tcase_add_test(cases, a_directory_that_is_refused_makes_no_second_problem);
	tcase_add_test(cases, a_reload_reads_presets_again_and_routes_of_conf_d_have_them_too);
	suite_add_tcase(suite, cases);

	TCase *shipped = tcase_create("installed");
	tcase_add_loop_test(shipped, each_installed_preset_is_a_good_one, 0, COUNT(installed));
	tcase_add_test(shipped, ietf_is_the_default_in_every_setting);
	tcase_add_test(shipped, the_natural_key_that_gc_shows_is_a_good_one);
	tcase_add_loop_test(shipped, an_installed_preset_says_what_its_source_promises, 0,
			    COUNT(promises));
	tcase_add_loop_test(shipped, a_refusal_is_in_the_envelope_of_the_presets_source, 0,
			    COUNT(refusals));
	suite_add_tcase(suite, shipped);
	return suite_run(suite);
}
