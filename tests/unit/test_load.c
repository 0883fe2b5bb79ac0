/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/load.h"

#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

#define LIST "oncewrap.conf(5) lists what there is"

struct text {
	const char *why, *text;
	const char *problems; /* "" : it is fine */
};

/* Names and places. */
static const struct text structures[] = {
    {"nothing is a configuration", "", ""},
    {"comments are nothing", "# a\n// b\n/* c\n@include \"x\" 99999999999 */\n", ""},
    {"no routes", "routes = ();", ""},
    {"a syntax error", "listen = \"/run/x\"\nworkers = eight;",
     "t.conf:2: syntax error: look here and just above for a missing quote, bracket or \";\"\n"},
    {"a name that stands twice", "workers = 2;\nlog: { keys = true; };\nworkers = 3;",
     "t.conf:3: this setting stands twice in its group: keep one\n"},
    {"a list of two kinds", "handlers: { roots = [ \"/a\",\n1 ]; };",
     "t.conf:2: a list in [ ] holds values of one kind: quote all of them or none\n"},
    {"a file within", "workers = 2;\n@include \"/etc/passwd\"\n",
     "t.conf:2: @include is not supported: put routes into files of conf.d\n"},
    {"numbers and @ in texts are text", "store: { database = \"@12345678901\\\"@\"; };", ""},
    {"a number that libconfig would cut", "\n\nstore: { port =\n12345678901; };",
     "t.conf:4: 12345678901 is too large a number for any setting\n"},

    {"an unknown name", "\nwrokers = 8;",
     "t.conf:2: wrokers: unknown setting; did you mean workers?\n"},
    {"like nothing", "colour = 1;", "t.conf:1: colour: unknown setting; " LIST "\n"},
    {"within a group", "store: {\n conect_timeout = \"2s\"; };",
     "t.conf:2: store.conect_timeout: unknown setting; did you mean store.connect_timeout?\n"},
    {"without its group", "connect_timeout = \"2s\";",
     "t.conf:1: connect_timeout: unknown setting; did you mean store.connect_timeout?\n"},
    {"in another group", "store: { stderr_limit = 1; };",
     "t.conf:1: store.stderr_limit: unknown setting; did you mean handlers.stderr_limit?\n"},
    {"a group's name", "handler: { timeout = \"5s\"; };",
     "t.conf:1: handler: unknown setting; did you mean handlers?\n"},
    {"a section's name", "route = ();", "t.conf:1: route: unknown setting; did you mean routes?\n"},
    {"no passwords", "store: { password = \"secret\"; };",
     "t.conf:1: store.password: unknown setting; credentials never stand here: name an option file "
     "by store.option_file\n"},
    {"no passwords elsewhere either", "password = \"secret\";",
     "t.conf:1: password: unknown setting; credentials never stand here: name an option file by "
     "store.option_file\n"},
    {"a route's setting outside", "methods = [ \"POST\" ];",
     "t.conf:1: methods: unknown setting; it belongs to a route: write it there or in defaults\n"},
    {"a route's group outside", "key: { required = true; };",
     "t.conf:1: key: unknown setting; it belongs to a route: write it there or in defaults\n"},
    {"the service's setting in a route",
     "routes = ( { name = \"r\"; path = \"/\"; workers = 5; } );",
     "t.conf:1: routes[0].workers: unknown setting; it belongs to the whole service: write it "
     "outside of routes and presets\n"},
    {"in a route, without its group",
     "routes = (\n{ name = \"r\";\n path = \"/\";\n retention = \"1d\"; } );",
     "t.conf:4: routes[0].retention: unknown setting; did you mean times.retention?\n"},
    {"a long name", "a123456789b123456789c123456789d123456789e123456789f123456789g123456789 = 1;",
     "t.conf:1: a123456789b123456789c123456789d123456789e123456789f123456789g123: unknown "
     "setting; " LIST "\n"},
    {"a group below a setting", "log: { level: { x = 1; }; };",
     "t.conf:1: log.level: is a group, but takes one of \"debug\", \"info\", \"warning\", "
     "\"error\", as \"info\"\n"},
    {"a value for a group", "log = \"syslog\";",
     "t.conf:1: log: is a group of settings; write it as log: { ... }\n"},

    {"routes as a group", "routes: { name = \"r\"; };",
     "t.conf:1: routes: is not a list of groups; write routes = ( { ... }, { ... } )\n"},
    {"routes as an array", "routes = [];",
     "t.conf:1: routes: is not a list of groups; write routes = ( { ... }, { ... } )\n"},
    {"a route that is none", "routes = ( { name = \"r\"; path = \"/\"; },\n5 );",
     "t.conf:2: routes[1]: is not a group; write { name = \"orders\"; ... }\n"},
    {"defaults as a list", "defaults = ();",
     "t.conf:1: defaults: is not a group; write defaults: { ... }\n"},
    {"a name in defaults", "defaults: {\nname = \"r\";\npath = \"/\"; };",
     "t.conf:2: defaults.name: each route has its own: move it there\n"
     "t.conf:3: defaults.path: each route has its own: move it there\n"},
    {"a bad default is told once, however many routes",
     "defaults: {\n scope = \"all\"; };\nroutes = ( { name = \"a\"; path = \"/\"; }, { name = "
     "\"b\"; path = \"/b\"; } );",
     "t.conf:2: defaults.scope: is \"all\", but takes one of \"tenant\", \"route\", "
     "\"method+path\", as \"route\"\n"},
    {"all problems, in the order of their lines",
     "routes = ( {\n name = \"a\";\n scope = 1; } );\nworkers = 0;\nlisten = 1;\nx = 2;",
     "t.conf:1: routes[0]: path is missing; write path = \"/cgi-bin/orders*\"\n"
     "t.conf:3: routes[0].scope: is a whole number, but takes one of \"tenant\", \"route\", "
     "\"method+path\", as \"route\"\n"
     "t.conf:4: workers: 0 is below the minimum of 1\n"
     "t.conf:5: listen: is a whole number, but takes a text: socket path, HOST:PORT, [IPV6]:PORT "
     "or empty, as \"a text in quotes\"\n"
     "t.conf:6: x: unknown setting; " LIST "\n"},
};

/* Settings that must agree. Each text has a route "r" behind it, from a new line on. */
static const struct text agreements[] = {
    {"socket and host", "store: { socket = \"/s\"; host = \"db\"; };",
     "t.conf:1: store.host: store.socket is given too, and would win; keep one of them\n"},
    {"an empty socket and a host", "store: { socket = \"\"; host = \"db\"; };", ""},
    {"a host alone", "store: { host = \"db\"; };", ""},
    {"certificates without TLS", "store: { tls_ca = \"/ca.pem\"; };",
     "t.conf:1: store.tls_ca: is not used while store.tls is \"off\"; set that to \"verify\"\n"},
    {"certificates with TLS", "store: { tls_ca = \"/ca.pem\"; tls = \"verify\"; };", ""},
    {"output below answer", "limits: {\nmax_output = \"1M\"; };",
     "t.conf:2: limits.max_output: max_output of 1M is below max_answer of 8M: no answer could "
     "reach that; raise the one or lower the other\n"},
    {"answer above output", "limits: { max_answer = \"1G\";\nmax_output = \"2G\"; };", ""},
    {"key lengths", "defaults: { key: { min_length = 20; max_length = 10; }; };",
     "t.conf:1: defaults.key.min_length: min_length of 20 is above max_length of 10: no key could "
     "be valid\n"},
    {"key lengths, equal", "defaults: { key: { min_length = 20; max_length = 20; }; };", ""},
    {"C13: as many waiters as workers", "workers = 4; defaults: { wait: { max_waiters = 4; }; };",
     "t.conf:1: defaults.wait.max_waiters: 4 is not below workers, which is 4: waiters could fill "
     "the pool\n"},
    {"C13: one worker stays free", "workers = 4; defaults: { wait: { max_waiters = 3; }; };", ""},
    {"one worker has no waiters", "workers = 1;", ""},
    {"a short lease", "defaults: { times: { lease = \"20999ms\"; }; };",
     "t.conf:1: defaults.times.lease: lease of 20999ms is below 21s, three times "
     "store.connect_timeout + store.read_timeout: a renewal that failed could not be tried again "
     "in time\n"},
    {"the shortest lease", "defaults: { times: { lease = \"21s\"; }; };", ""},
    {"long timeouts", "store: { connect_timeout = \"4s\";\nread_timeout = \"7s\"; };",
     "t.conf:1: store.connect_timeout: lease of 30s is below 33s, three times "
     "store.connect_timeout + store.read_timeout: a renewal that failed could not be tried again "
     "in time\n"},
    {"C57: a short retention", "defaults: { times: { retention = \"96999ms\"; }; };",
     "t.conf:1: defaults.times.retention: retention of 96999ms is below 97s, the sum of "
     "handlers.timeout, handlers.kill_grace, times.lease and store.settle_timeout: a record could "
     "expire under its own handler\n"},
    {"C57: the shortest retention", "defaults: { times: { retention = \"97s\"; }; };", ""},
    {"C57: a long handler", "handlers: { timeout = \"24h\"; };",
     "t.conf:1: handlers.timeout: retention of 24h is below 86442s, the sum of handlers.timeout, "
     "handlers.kill_grace, times.lease and store.settle_timeout: a record could expire under its "
     "own handler\n"},
    {"waiting for no time", "defaults: { in_flight = \"wait\";\nwait: { timeout = \"0s\"; }; };",
     "t.conf:2: defaults.wait.timeout: nobody waits for 0s; write a longer time, or in_flight = "
     "\"reject\"\n"},
    {"a key that is required of a method that is not guarded",
     "defaults: { key: { required = [ \"POST\", \"DELETE\" ]; }; };",
     "t.conf:1: defaults.key.required: names DELETE, which methods does not: such a request is not "
     "guarded at all; add it there, or leave it out here\n"},
    {"a tenant that is compulsory and looked for nowhere",
     "defaults: { tenant: { missing = \"refuse\";\nsources = []; }; };",
     "t.conf:2: defaults.tenant.sources: is empty, and tenant.missing = \"refuse\" then refuses "
     "every request; name a source, or write missing = \"anonymous\"\n"},
    {"a form of the body where it is not compared",
     "defaults: { fingerprint: { parts = [ \"path\" ];\nbody = \"json\"; }; };",
     "t.conf:2: defaults.fingerprint.body: says how the body is compared, but fingerprint.parts "
     "lacks \"body\"; add it there, or leave this out\n"},
    {"first answers marked by no name",
     "defaults: { replay: { header = [];\nfirst_header = true; }; };",
     "t.conf:2: defaults.replay.first_header: marks first answers by the names in replay.header, "
     "and there are none; write one, or first_header = false\n"},
    {"no time to wait where nobody does", "defaults: { wait: { timeout = \"0s\"; }; };", ""},
    {"a marker without the body",
     "defaults: { keep = \"marker\";\nfingerprint: { parts = [ \"method\", \"path\" ]; }; };",
     "t.conf:1: defaults.keep: a marker tells nothing of the request, and fingerprint.parts lacks "
     "\"body\"; add it, or keep more than a marker\n"},
    {"a marker with the body",
     "defaults: { keep = \"marker\"; fingerprint: { parts = [ \"body\" ]; }; };", ""},
    {"a reference without the body, which nobody rebuilds",
     "defaults: { keep = \"reference\"; fingerprint: { parts = [ \"path\" ]; }; };", ""},
    {"rebuilding without the body",
     "defaults: { rebuild = true;\nfingerprint: { parts = [ \"path\" ]; }; };",
     "t.conf:1: defaults.rebuild: an answer can be given again only to the same request, but "
     "fingerprint.parts lacks \"body\"; add it, or write rebuild = false\n"},
    {"rebuilding a marker without the body is told once",
     "defaults: { fingerprint: { parts = [ \"path\" ]; };\nkeep = \"marker\"; rebuild = true; };",
     "t.conf:2: defaults.rebuild: an answer can be given again only to the same request, but "
     "fingerprint.parts lacks \"body\"; add it, or write rebuild = false\n"},
    {"rebuilding what is kept whole", "defaults: { rebuild = true; };", ""},
    {"a first-seen header that marks replays as well",
     "defaults: { replay: { header = [ \"A: 1\", \"X-When: 2\" ];\nfirst_seen_header = \"x-when\"; "
     "}; };",
     "t.conf:2: defaults.replay.first_seen_header: x-when is set by replay.header too; write "
     "another name\n"},
    {"a first-seen header whose name begins like a marker's",
     "defaults: { replay: { header = \"X-When-Not: 2\"; first_seen_header = \"X-When\"; }; };", ""},
    {"a short window",
     "defaults: { natural_key: { values = \"json:/n\"; window = \"96999ms\"; }; };",
     "t.conf:1: defaults.natural_key.window: window of 96999ms is below 97s, the sum of "
     "handlers.timeout, handlers.kill_grace, times.lease and store.settle_timeout: a record could "
     "expire under its own handler\n"},
    {"a short window that is not used", "defaults: { natural_key: { window = \"5s\"; }; };", ""},
    {"values of both a form and JSON",
     "defaults: { natural_key: { values = [ \"json:/n\", \"form:n\" ]; }; };", ""},
    {"observing while the database may be away",
     "defaults: { mode = \"observe\"; store_down = \"run\"; };", ""},
    {"no second problem from a value that was refused",
     "defaults: { times: { retention = \"60s\"; lease = 5; }; };",
     "t.conf:1: defaults.times.lease: 5 has no unit; write \"5s\" for seconds (units: ms, s, m, h, "
     "d)\n"},
};

static void expect(const struct text *text, const char *behind)
{
	char whole[2048], *problems;
	snprintf(whole, sizeof(whole), "%s%s", text->text, behind);
	struct config *config = config_parse("t.conf", whole, &problems);
	ck_assert_msg(strcmp(problems, text->problems) == 0, "%s:\n%s\nexpected:\n%s", text->why,
		      problems, text->problems);
	ck_assert((config == NULL) == (*text->problems != '\0'));
	config_free(config);
	free(problems);
}

START_TEST(every_name_is_known_and_in_its_place)
{
	expect(&structures[_i], "");
}
END_TEST

START_TEST(settings_that_contradict_each_other_are_refused)
{
	expect(&agreements[_i], "\nroutes = ( { name = \"r\"; path = \"/\"; } );");
}
END_TEST

/* "1 method path query content-type body:multipart" and " header:" twice leave 64 bytes for the two
 * names (FINGERPRINT_SCHEME_LENGTH). */
START_TEST(the_names_of_all_parts_together_fit_the_records_column)
{
	for (int length = 63; length <= 65; length++) {
		char text[512], expected[256] = "";
		snprintf(text, sizeof(text),
			 "defaults: { fingerprint: { body = \"multipart\";\nparts = [ \"method\", "
			 "\"path\", \"query\", \"content-type\", \"body\", \"header:X\", "
			 "\"header:%0*d\" ]; }; };",
			 length - 1, 0);
		if (length > 64)
			snprintf(expected, sizeof(expected),
				 "t.conf:2: defaults.fingerprint.parts: the names of all parts "
				 "together are %d bytes too long; leave out a header or two\n",
				 length - 64);
		expect(&(struct text){"", text, expected},
		       "\nroutes = ( { name = \"r\"; path = \"/\"; } );");
	}
}
END_TEST

static const struct {
	const char *why, *first, *second;
	bool reached;
} orders[] = {
    {"other paths", "path = \"/a\"", "path = \"/b\"", true},
    {"the same path", "path = \"/a\"", "path = \"/a\"", false},
    {"the narrower one first", "path = \"/a\"", "path = \"/*\"", true},
    {"the wider one first", "path = \"/*\"", "path = \"/a\"", false},
    {"any host, then one", "path = \"/*\"", "path = \"/a\"; host = \"x\"", false},
    {"one host, then any", "path = \"/*\"; host = \"x\"", "path = \"/a\"", true},
    {"all hosts, then any", "path = \"/*\"; host = \"*\"", "path = \"/a\"", false},
    {"two hosts", "path = \"/*\"; host = \"x\"", "path = \"/a\"; host = \"y\"", true},
    {"hosts have no case", "path = \"/*\"; host = \"*.X\"", "path = \"/a\"; host = \"a.x\"", false},
    {"paths have", "path = \"/A\"", "path = \"/a\"", true},
    {"other methods do not matter: the first that matches serves", "path = \"/a\"",
     "path = \"/a\"; methods = \"PUT\"", false},
    {"one that is off takes its paths all the same", "path = \"/a*\"; mode = \"off\"",
     "path = \"/ab\"", false},
};

START_TEST(a_route_that_an_earlier_one_takes_whole_is_refused)
{
	char text[512], expected[512] = "";
	snprintf(text, sizeof(text),
		 "routes = (\n{ name = \"one\"; %s; },\n{ name = \"two\"; %s; } );",
		 orders[_i].first, orders[_i].second);
	if (!orders[_i].reached) {
		const char *outer = strchr(orders[_i].first, '"'),
			   *inner = strchr(orders[_i].second, '"');
		snprintf(expected, sizeof(expected),
			 "t.conf:3: routes[1].path: %.*s is never reached: route one with %.*s "
			 "(t.conf:2) comes first and takes all of it; put this one first, or "
			 "narrow that one\n",
			 (int)strcspn(inner + 1, "\"") + 2, inner,
			 (int)strcspn(outer + 1, "\"") + 2, outer);
	}
	expect(&(struct text){orders[_i].why, text, expected}, "");
}
END_TEST

START_TEST(a_contradiction_within_defaults_is_told_once_however_many_routes)
{
	expect(&(struct text){"",
			      "defaults: { times: { lease = \"9s\"; }; };\n"
			      "routes = ( { name = \"a\"; path = \"/\"; },\n"
			      "{ name = \"b\"; path = \"/b\"; } );",
			      "t.conf:1: defaults.times.lease: lease of 9s is below 21s, three "
			      "times store.connect_timeout + store.read_timeout: a renewal that "
			      "failed could not be tried again in time\n"},
	       "");
}
END_TEST

START_TEST(a_routes_name_is_its_own)
{
	expect(&(struct text){"",
			      "routes = (\n{ name = \"a\"; path = \"/\"; },\n"
			      "{ name = \"b\"; path = \"/b\"; },\n"
			      "{ name = \"a\"; path = \"/c\"; } );",
			      "t.conf:4: routes[2].name: \"a\" is the name of a route already "
			      "(t.conf:2); give each its own\n"},
	       "");
}
END_TEST

START_TEST(the_routes_own_setting_wins_over_defaults_and_they_over_the_table)
{
	char *problems;
	struct config *config =
	    config_parse("t.conf",
			 "routes = ( { name = \"own\"; path = \"/\"; methods = [ \"PUT\" ];"
			 "             times: { lease = \"50s\"; }; },"
			 "           { name = \"plain\"; path = \"/plain\"; } );"
			 "defaults: { methods = [ \"DELETE\", \"POST\" ];"
			 "            times: { lease = \"40s\"; retention = \"48h\"; }; };",
			 &problems);
	ck_assert_msg(config != NULL, "%s", problems);
	free(problems);
	const struct route *own = &config->routes[0], *plain = &config->routes[1];
	ck_assert_uint_eq(own->methods.count, 1);
	ck_assert_str_eq(own->methods.items[0], "PUT");
	ck_assert_int_eq(own->lease, 50000);
	ck_assert_int_eq(own->retention, 48 * 3600000);
	ck_assert_int_eq(own->wait_timeout, 10000);
	ck_assert_uint_eq(plain->methods.count, 2);
	ck_assert_str_eq(plain->methods.items[0], "DELETE");
	ck_assert_int_eq(plain->lease, 40000);
	ck_assert_int_eq(plain->wait_timeout, 10000);
	config_free(config);
}
END_TEST

START_TEST(a_host_alone_means_tcp)
{
	char *problems;
	struct config *config = config_parse("t.conf", "store: { host = \"db\"; };", &problems);
	free(problems);
	ck_assert_ptr_nonnull(config);
	ck_assert_str_eq(config->store.socket, "");
	ck_assert_str_eq(config->store.host, "db");
	config_free(config);
}
END_TEST

/* Files, in a directory of the test's own. */

static char directory[] = "/tmp/oncewrap-load-XXXXXX";

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

static void write_file(const char *name, const void *content, size_t length)
{
	FILE *out = fopen(name, "w");
	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(content, 1, length, out), length);
	ck_assert_int_eq(fclose(out), 0);
}

static void write_text(const char *name, const char *content)
{
	write_file(name, content, strlen(content));
}

static void expect_load(const char *name, const char *expected)
{
	char *problems;
	struct config *config = config_load(name, &problems);
	ck_assert_str_eq(problems, expected);
	ck_assert((config == NULL) == (*expected != '\0'));
	config_free(config);
	free(problems);
}

START_TEST(what_is_no_readable_file_is_told_apart)
{
	static char large[(1 << 20) + 1];
	memset(large, ' ', sizeof(large));
	write_file("large.conf", large, sizeof(large));
	write_file("fits.conf", large, sizeof(large) - 1);
	write_file("nul.conf", "workers = 2;\0workers = 3;", 26);
	ck_assert_int_eq(mkdir("sub", 0755), 0);
	ck_assert_int_eq(mkfifo("fifo.conf", 0644), 0);
	expect_load("none.conf", "none.conf: cannot be read: No such file or directory\n");
	expect_load("sub", "sub: cannot be read: Is a directory\n");
	expect_load("fifo.conf", "fifo.conf: cannot be read: not a regular file\n");
	expect_load("large.conf",
		    "large.conf: cannot be read: larger than 1 MiB; no configuration is\n");
	expect_load("fits.conf", "");
	expect_load("nul.conf", "nul.conf: holds a NUL byte; a configuration is text\n");
	expect_load("sub/x.conf", "sub/x.conf: cannot be read: No such file or directory\n");
	expect_load("large.conf/x", "large.conf/x: cannot be read: Not a directory\n");
}
END_TEST

START_TEST(routes_of_conf_d_come_after_in_name_order_under_the_same_defaults)
{
	char *problems;
	ck_assert_int_eq(mkdir("conf.d", 0755), 0);
	write_text("m.conf", "routes = ( { name = \"main\"; path = \"/\"; } );"
			     "defaults: { scope = \"tenant\"; };");
	write_text("conf.d/20-b.conf", "routes = ( { name = \"b\"; path = \"/b\"; } );");
	write_text("conf.d/10-a.conf", "routes = ( { name = \"a\"; path = \"/a\"; },"
				       "{ name = \"z\"; path = \"/z\"; scope = \"route\"; } );");
	write_text("conf.d/30-empty.conf", "");
	write_text("conf.d/.hidden.conf", "nonsense");
	write_text("conf.d/old.conf.bak", "nonsense");
	write_text("conf.d/.conf", "nonsense");
	char path[64];
	snprintf(path, sizeof(path), "%s/m.conf", directory);
	const char *names[] = {"m.conf", "./m.conf", path};
	for (int i = 0; i < COUNT(names); i++) {
		struct config *config = config_load(names[i], &problems);
		ck_assert_msg(config != NULL, "%s", problems);
		free(problems);
		ck_assert_uint_eq(config->route_count, 4);
		ck_assert_str_eq(config->routes[0].name, "main");
		ck_assert_str_eq(config->routes[1].name, "a");
		ck_assert_str_eq(config->routes[2].name, "z");
		ck_assert_str_eq(config->routes[3].name, "b");
		ck_assert_int_eq(config->routes[1].scope, SCOPE_TENANT);
		ck_assert_int_eq(config->routes[2].scope, SCOPE_ROUTE);
		config_free(config);
	}
}
END_TEST

START_TEST(problems_of_conf_d_name_their_file)
{
	ck_assert_int_eq(mkdir("conf.d", 0755), 0);
	ck_assert_int_eq(mkdir("conf.d/90.conf", 0755), 0);
	write_text("m.conf", "workers = 0;\nroutes = ( { name = \"a\"; path = \"/\"; } );");
	write_text("conf.d/10.conf", "routes = (\n{ name = \"a\"; path = \"/a\"; } );");
	write_text("conf.d/20.conf", "workers = 5;\ndefaults: { };\nroutes = ();\ncolour = 1;");
	write_text("conf.d/30.conf", "routes = ( {\n");
	expect_load(
	    "m.conf",
	    "m.conf:1: workers: 0 is below the minimum of 1\n"
	    "conf.d/10.conf:2: routes[0].name: \"a\" is the name of a route already "
	    "(m.conf:2); give each its own\n"
	    "conf.d/20.conf:1: workers: a file of conf.d holds routes only; move it to "
	    "m.conf\n"
	    "conf.d/20.conf:2: defaults: a file of conf.d holds routes only; move it to "
	    "m.conf\n"
	    "conf.d/20.conf:4: colour: a file of conf.d holds routes only; move it to m.conf\n"
	    "conf.d/30.conf:2: syntax error: look here and just above for a missing quote, "
	    "bracket or \";\"\n"
	    "conf.d/90.conf: cannot be read: Is a directory\n");
}
END_TEST

START_TEST(a_conf_d_that_is_no_directory_is_told)
{
	write_text("conf.d", "");
	write_text("m.conf", "");
	expect_load("m.conf", "conf.d: cannot be read: Not a directory\n");
}
END_TEST

/* As much of a configuration as a crash while saving would leave. */
START_TEST(a_file_cut_anywhere_is_taken_or_told_and_never_worse)
{
	static const char whole[] =
	    "# c\nlisten = \"/run/x\"; /* d */ workers = 2;\n"
	    "store: { host = \"db\"; };\nhandlers: { roots = [ \"/a\" ]; };\n"
	    "defaults: { times: { lease = \"40s\"; }; };\n"
	    "routes = ( { name = \"r\"; path = \"/\"; key: { required = "
	    "true; }; } );\n";
	for (size_t length = 0; length < sizeof(whole); length++) {
		char text[sizeof(whole)], *problems;
		memcpy(text, whole, length);
		text[length] = '\0';
		struct config *config = config_parse("t.conf", text, &problems);
		ck_assert_ptr_nonnull(problems);
		ck_assert((config == NULL) == (*problems != '\0'));
		config_free(config);
		free(problems);
	}
}
END_TEST

static const struct {
	const char *old, *new_one, *names;
} changes[] = {
    {"", "", ""},
    {"listen = \"/a\";", "listen = \"/a\";", ""},
    {"listen = \"/a\";", "listen = \"/b\";", "listen"},
    {"", "user = \"cgi\"; socket_mode = \"0600\"; socket_group = \"web\"; listen = \"/a\";",
     "listen, socket_mode, socket_group, user"},
    {"", "workers = 2; log: { target = \"syslog\"; }; store: { host = \"db\"; };", ""},
    {"", "routes = ( { name = \"r\"; path = \"/\"; } );", ""},
};

START_TEST(what_a_reload_cannot_change_is_named)
{
	char *problems;
	struct config *old = config_parse("old", changes[_i].old, &problems);
	free(problems);
	struct config *new_one = config_parse("new", changes[_i].new_one, &problems);
	free(problems);
	ck_assert(old != NULL && new_one != NULL);
	char *names = config_needs_restart(old, new_one);
	ck_assert_str_eq(names, changes[_i].names);
	free(names);
	config_free(old);
	config_free(new_one);
}
END_TEST

START_TEST(nothing_is_freed_without_complaint)
{
	config_free(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("load");
	TCase *cases = tcase_create("text");
	tcase_add_loop_test(cases, every_name_is_known_and_in_its_place, 0, COUNT(structures));
	tcase_add_loop_test(cases, settings_that_contradict_each_other_are_refused, 0,
			    COUNT(agreements));
	tcase_add_test(cases, the_names_of_all_parts_together_fit_the_records_column);
	tcase_add_loop_test(cases, a_route_that_an_earlier_one_takes_whole_is_refused, 0,
			    COUNT(orders));
	tcase_add_test(cases, a_contradiction_within_defaults_is_told_once_however_many_routes);
	tcase_add_test(cases, a_routes_name_is_its_own);
	tcase_add_test(cases, the_routes_own_setting_wins_over_defaults_and_they_over_the_table);
	tcase_add_test(cases, a_host_alone_means_tcp);
	tcase_add_test(cases, a_file_cut_anywhere_is_taken_or_told_and_never_worse);
	tcase_add_loop_test(cases, what_a_reload_cannot_change_is_named, 0, COUNT(changes));
	tcase_add_test(cases, nothing_is_freed_without_complaint);
	suite_add_tcase(suite, cases);

	TCase *files = tcase_create("files");
	tcase_add_checked_fixture(files, enter_directory, leave_directory);
	tcase_add_test(files, what_is_no_readable_file_is_told_apart);
	tcase_add_test(files, routes_of_conf_d_come_after_in_name_order_under_the_same_defaults);
	tcase_add_test(files, problems_of_conf_d_name_their_file);
	tcase_add_test(files, a_conf_d_that_is_no_directory_is_told);
	suite_add_tcase(suite, files);
	return suite_run(suite);
}
