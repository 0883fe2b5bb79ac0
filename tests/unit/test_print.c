/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/print.h"

#include "config/load.h"
#include "config/settings.h"
#include "config/value.h"
#include "tests/unit/suite.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every setting at another value than its default, as --print-config writes it; "@" is the source
 * tree. */
static const char everything[] = "# " PACKAGE_STRING ": the configuration in force\n"
				 "listen = \"[::1]:9000\";\n"
				 "socket_mode = \"0600\";\n"
				 "socket_group = \"web\";\n"
				 "workers = 9;\n"
				 "user = \"cgi\";\n"
				 "core_dumps = true;\n"
				 "stop_timeout = \"11s\";\n"
				 "run_directory = \"/run/o\";\n"
				 "preset_directory = \"@/presets\";\n"
				 "log: {\n"
				 "\ttarget = \"syslog\";\n"
				 "\tsocket = \"/dev/log\";\n"
				 "\tlevel = \"error\";\n"
				 "\tkeys = true;\n"
				 "\trequest_id = [ \"header:X-Trace\" ];\n"
				 "\trequest_header = \"X-Trace\";\n"
				 "};\n"
				 "store: {\n"
				 "\tsocket = \"\";\n"
				 "\thost = \"db \\\"1\\\" \\\\\";\n"
				 "\tport = 3307;\n"
				 "\tdatabase = \"once\";\n"
				 "\tuser = \"wrap\";\n"
				 "\toption_file = \"/etc/o.cnf\";\n"
				 "\toption_group = \"o\";\n"
				 "\ttls = \"verify\";\n"
				 "\ttls_ca = \"/ca.pem\";\n"
				 "\tconnect_timeout = \"1s\";\n"
				 "\tread_timeout = \"4s\";\n"
				 "\tsettle_timeout = \"9s\";\n"
				 "};\n"
				 "handlers: {\n"
				 "\troots = [ \"/a\", \"/b\" ];\n"
				 "\tenvironment = [];\n"
				 "\ttimeout = \"54s\";\n"
				 "\tkill_grace = \"3s\";\n"
				 "\texit_grace = \"400ms\";\n"
				 "\tstderr_limit = \"63K\";\n"
				 "};\n"
				 "limits: {\n"
				 "\tmax_body = \"15M\";\n"
				 "\tbody_memory = \"1000\";\n"
				 "\tmax_answer = \"7M\";\n"
				 "\tmax_output = \"2G\";\n"
				 "\tmax_header_bytes = \"5K\";\n"
				 "\trequest_timeout = \"31s\";\n"
				 "\tsilent_timeout = \"6s\";\n"
				 "\treply_timeout = \"32s\";\n"
				 "};\n"
				 "spool: {\n"
				 "\tdirectory = \"/spool\";\n"
				 "};\n"
				 "routes = (\n"
				 "\t{\n"
				 "\t\tname = \"all\";\n"
				 "\t\tpath = \"/[!a]*\";\n"
				 "\t\tpreset = \"gc\";\n"
				 "\t\thost = \"*.example\";\n"
				 "\t\tmethods = [ \"PUT\" ];\n"
				 "\t\tmode = \"off\";\n"
				 "\t\tscope = \"method+path\";\n"
				 "\t\tin_flight = \"wait\";\n"
				 "\t\tstore_down = \"run\";\n"
				 "\t\tdocumentation = \"https://x.example/\";\n"
				 "\t\trequire_json = true;\n"
				 "\t\tkeep = \"marker\";\n"
				 "\t\toversize = \"reference\";\n"
				 "\t\trebuild = true;\n"
				 "\t\tkey: {\n"
				 "\t\t\tsources = [ \"env:KEY\", \"header:X-Key\", "
				 "\"json:/a\", \"form:b\", \"cookie:c\" ];\n"
				 "\t\t\trequired = [ \"PUT\" ];\n"
				 "\t\t\tsyntax = \"raw\";\n"
				 "\t\t\tcharset = \"utf8\";\n"
				 "\t\t\tmin_length = 2;\n"
				 "\t\t\tmax_length = 254;\n"
				 "\t\t};\n"
				 "\t\ttenant: {\n"
				 "\t\t\tsources = [ \"header:ApiKey\", \"literal:a \\\"b\\\"\" ];\n"
				 "\t\t\tmissing = \"refuse\";\n"
				 "\t\t};\n"
				 "\t\tfingerprint: {\n"
				 "\t\t\tparts = [ \"path\", \"body\", \"header:x-unit\", "
				 "\"header:b\" ];\n"
				 "\t\t\tbody = \"json\";\n"
				 "\t\t};\n"
				 "\t\twait: {\n"
				 "\t\t\ttimeout = \"12s\";\n"
				 "\t\t\tmax_waiters = 3;\n"
				 "\t\t};\n"
				 "\t\tstatus: {\n"
				 "\t\t\tin_flight = 500;\n"
				 "\t\t\tmismatch = 501;\n"
				 "\t\t\tunknown = 502;\n"
				 "\t\t\tnot_kept = 504;\n"
				 "\t\t\texpired = 510;\n"
				 "\t\t\tduplicate = 511;\n"
				 "\t\t\tkey_missing = 505;\n"
				 "\t\t\tkey_invalid = 506;\n"
				 "\t\t\ttenant_missing = 507;\n"
				 "\t\t\ttoo_large = 508;\n"
				 "\t\t\tbad_body = 512;\n"
				 "\t\t\tstore_down = 509;\n"
				 "\t\t};\n"
				 "\t\tsettle: {\n"
				 "\t\t\tstore_statuses = [ \"2xx\" ];\n"
				 "\t\t\ton_crash = \"unknown\";\n"
				 "\t\t\ton_timeout = \"store\";\n"
				 "\t\t\ton_exit_nonzero = \"release\";\n"
				 "\t\t\ton_lapse = \"unknown\";\n"
				 "\t\t\texit_not_done = 75;\n"
				 "\t\t};\n"
				 "\t\treplay: {\n"
				 "\t\t\tstatus = 200;\n"
				 "\t\t\theader = [ \"A: 1\", \"B: \\\"2\\\"\" ];\n"
				 "\t\t\tfirst_header = true;\n"
				 "\t\t\tfirst_seen_header = \"X-First\";\n"
				 "\t\t\tdrop_headers = [];\n"
				 "\t\t};\n"
				 "\t\ttimes: {\n"
				 "\t\t\tretention = \"7d\";\n"
				 "\t\t\tlease = \"45s\";\n"
				 "\t\t\ttombstone = \"30d\";\n"
				 "\t\t};\n"
				 "\t\tnatural_key: {\n"
				 "\t\t\tvalues = [ \"json:/n\", \"form:m\", \"header:N\", "
				 "\"env:M\" ];\n"
				 "\t\t\twindow = \"90d\";\n"
				 "\t\t};\n"
				 "\t\terrors: {\n"
				 "\t\t\tcontent_type = \"text/plain\";\n"
				 "\t\t\tbody = \"{\\\"a\\\":\\n\\t{code}\\\\}\";\n"
				 "\t\t\tin_flight = \"0 {code}\";\n"
				 "\t\t\tmismatch = \"1 {code}\";\n"
				 "\t\t\tunknown = \"2 {code}\";\n"
				 "\t\t\tnot_kept = \"3 {code}\";\n"
				 "\t\t\texpired = \"4 {code}\";\n"
				 "\t\t\tduplicate = \"5 {code}\";\n"
				 "\t\t\tkey_missing = \"6 {code}\";\n"
				 "\t\t\tkey_invalid = \"7 {code}\";\n"
				 "\t\t\ttenant_missing = \"8 {code}\";\n"
				 "\t\t\ttoo_large = \"9 {code}\";\n"
				 "\t\t\tbad_body = \"10 {code}\";\n"
				 "\t\t\tstore_down = \"11 {code}\";\n"
				 "\t\t};\n"
				 "\t}\n"
				 ");\n";

static char *print(const struct config *config)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	config_print(config, out);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

static bool equal(const struct config *one, const struct config *other)
{
	for (size_t i = 0; i < settings_global.count; i++)
		if (!value_equal(&settings_global.rows[i], one, other))
			return false;
	for (size_t r = 0; r < one->route_count; r++)
		for (size_t i = 0; i < settings_route.count; i++)
			if (!value_equal(&settings_route.rows[i], &one->routes[r],
					 &other->routes[r]))
				return false;
	return one->route_count == other->route_count;
}

/* With the source tree's path for "@"; owned by the caller. */
static char *place(const char *text)
{
	const char *top = getenv("srcdir");
	char directory[PATH_MAX], *placed;
	size_t length;
	ck_assert_ptr_nonnull(realpath(top != NULL ? top : ".", directory));
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

static struct config *parse(const char *text)
{
	char *problems, *placed = place(text);
	struct config *config = config_parse("t.conf", placed, &problems);
	free(placed);
	ck_assert_msg(config != NULL, "%s", problems);
	free(problems);
	return config;
}

/* No two settings share a field, or the one would show the other's value. */
START_TEST(every_setting_has_a_field_of_its_own_and_is_printed_as_it_was_written)
{
	struct config *config = parse(everything);
	char *text = print(config), *expected = place(everything);
	const char *line = text;
	for (size_t i = 0; text[i] != '\0' && text[i] == expected[i]; i++)
		if (text[i] == '\n')
			line = text + i + 1;
	ck_assert_msg(strcmp(text, expected) == 0, "from here on:\n%.200s\nexpected:\n%.200s", line,
		      expected + (line - text));
	free(text);
	free(expected);
	config_free(config);
}
END_TEST

START_TEST(a_printed_configuration_reads_back_as_an_equal_one)
{
	static const char *const texts[] = {
	    "",
	    everything,
	    "store: { host = \"db\"; };",
	    "routes = ( { name = \"a\"; path = \"/\"; }, { name = \"b\"; path = \"/b\"; "
	    "key: { required = true; }; } ); defaults: { scope = \"tenant\"; };",
	};
	struct config *config = parse(texts[_i]);
	char *text = print(config);
	struct config *again = parse(text);
	ck_assert(equal(config, again));
	free(text);
	config_free(config);
	config_free(again);
}
END_TEST

START_TEST(everything_above_differs_from_its_default)
{
	struct config *config = parse(everything);
	struct config *standard = parse("routes = ( { name = \"r\"; path = \"/\"; } );");
	for (size_t i = 0; i < settings_global.count; i++) {
		const struct setting *row = &settings_global.rows[i];
		ck_assert_msg(row->type == SETTING_SECTION || !value_equal(row, config, standard),
			      "%s", row->path);
	}
	for (size_t i = 0; i < settings_route.count; i++) {
		const struct setting *row = &settings_route.rows[i];
		ck_assert_msg(!value_equal(row, &config->routes[0], &standard->routes[0]), "%s",
			      row->path);
	}
	config_free(config);
	config_free(standard);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("print");
	TCase *cases = tcase_create("print");
	tcase_add_test(cases,
		       every_setting_has_a_field_of_its_own_and_is_printed_as_it_was_written);
	tcase_add_loop_test(cases, a_printed_configuration_reads_back_as_an_equal_one, 0, 4);
	tcase_add_test(cases, everything_above_differs_from_its_default);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
