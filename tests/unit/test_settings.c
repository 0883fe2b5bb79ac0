/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/settings.h"

#include "config/config.h"
#include "config/load.h"
#include "config/value.h"
#include "config/value_type.h"
#include "tests/unit/suite.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

static const struct setting_table *const tables[] = {&settings_global, &settings_route};

/* A file of the source tree, whole; owned by the caller. */
static char *read_source(const char *name)
{
	const char *top = getenv("srcdir");
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", top != NULL ? top : ".", name);
	FILE *in = fopen(path, "r");
	ck_assert_msg(in != NULL, "cannot open %s", path);
	static char content[128 << 10];
	size_t length = fread(content, 1, sizeof(content) - 1, in);
	ck_assert(length > 0 && length < sizeof(content) - 1);
	fclose(in);
	content[length] = '\0';
	return strdup(content);
}

static char *print(const struct config *config)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	config_print(config, out);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

/* Fails when the two texts differ as configurations. */
static void expect_same(const char *name, const char *one, const char *other)
{
	char *texts[2];
	for (int i = 0; i < 2; i++) {
		char *problems;
		struct config *config = config_parse(name, i == 0 ? one : other, &problems);
		ck_assert_msg(config != NULL, "%s", problems);
		texts[i] = print(config);
		config_free(config);
		free(problems);
	}
	ck_assert_str_eq(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
}

static void check_row(const struct setting *row)
{
	bool has_words =
	    row->type == SETTING_WORD || row->type == SETTING_PARTS || row->type == SETTING_SOURCES;
	bool may_have_words = has_words || value_type_of(row)->format != NULL;
	bool given = row->type == SETTING_SECTION || row->route_only;
	ck_assert_msg(strlen(row->path) < SETTING_PATH_SIZE, "%s", row->path);
	ck_assert_msg(strchr(row->path, '.') == strrchr(row->path, '.'), "%s", row->path);
	ck_assert_msg((row->standard == NULL) == given, "%s", row->path);
	ck_assert_msg(row->words != NULL ? may_have_words : !has_words, "%s", row->path);
	ck_assert_msg(row->least <= row->most || row->most == 0, "%s", row->path);
	ck_assert_msg(strlen(row->help) > 10 && strlen(row->help) < 90, "%s", row->path);
	ck_assert_msg(row->help[strlen(row->help) - 1] == '.', "%s", row->path);
}

START_TEST(every_row_is_complete)
{
	for (int t = 0; t < COUNT(tables); t++)
		for (size_t i = 0; i < tables[t]->count; i++)
			check_row(&tables[t]->rows[i]);
}
END_TEST

/* print.c opens a group once. */
START_TEST(rows_of_a_group_stand_together_and_paths_are_unique)
{
	for (int t = 0; t < COUNT(tables); t++) {
		const struct setting *rows = tables[t]->rows;
		for (size_t i = 0; i < tables[t]->count; i++) {
			size_t group = strcspn(rows[i].path, ".") + 1;
			bool left = false;
			for (size_t k = i + 1; k < tables[t]->count; k++) {
				ck_assert_str_ne(rows[i].path, rows[k].path);
				bool same = strncmp(rows[i].path, rows[k].path, group) == 0;
				ck_assert_msg(!(left && same), "%s", rows[k].path);
				left |= !same;
			}
		}
	}
	for (size_t i = 0; i < settings_global.count; i++)
		ck_assert_ptr_null(settings_find(&settings_route, settings_global.rows[i].path));
}
END_TEST

START_TEST(the_defaults_are_what_the_design_says)
{
	struct config *config = config_default();
	ck_assert_ptr_nonnull(config);
	ck_assert_str_eq(config->listen, "");
	ck_assert_int_eq(config->socket_mode, 0660);
	ck_assert_int_eq(config->workers, 8);
	ck_assert_int_eq(config->stop_timeout, 10000);
	ck_assert_str_eq(config->run_directory, "/run/oncewrap");
	ck_assert_str_eq(config->preset_directory, PKGDATADIR "/presets");
	ck_assert_int_eq(config->log_target, LOG_TARGET_STDERR);
	ck_assert_int_eq(config->log_level, LOG_LEVEL_INFO);
	ck_assert(!config->log_keys);
	ck_assert_str_eq(config->store.socket, "/run/mysqld/mysqld.sock");
	ck_assert_int_eq(config->store.port, 3306);
	ck_assert_int_eq(config->store.tls, CONFIG_TLS_OFF);
	ck_assert_int_eq(config->store.settle_timeout, 10000);
	ck_assert_uint_eq(config->handlers.roots.count, 1);
	ck_assert_str_eq(config->handlers.roots.items[0], "/usr/lib/cgi-bin");
	ck_assert_int_eq(config->handlers.timeout, 55000);
	ck_assert_int_eq(config->handlers.exit_grace, 500);
	ck_assert_int_eq(config->limits.max_body, 16 << 20);
	ck_assert_int_eq(config->limits.max_answer, 8 << 20);
	ck_assert_int_eq(config->limits.max_output, 1 << 30);
	ck_assert_int_eq(config->limits.max_header_bytes, 4096);
	ck_assert_uint_eq(config->route_count, 0);
	config_free(config);
}
END_TEST

START_TEST(a_routes_defaults_are_those_of_the_draft)
{
	char *problems;
	struct config *config =
	    config_parse("t.conf", "routes = ( { name = \"r\"; path = \"/\"; } );", &problems);
	ck_assert_msg(config != NULL, "%s", problems);
	const struct route *route = &config->routes[0];
	ck_assert_uint_eq(route->methods.count, 2);
	ck_assert(route_guards(route, "POST") && route_guards(route, "PATCH"));
	ck_assert_int_eq(route->scope, SCOPE_ROUTE);
	ck_assert_uint_eq(route->key_sources.count, 1);
	ck_assert_int_eq(route->key_sources.items[0].kind, SOURCE_HEADER);
	ck_assert_str_eq(route->key_sources.items[0].name, "Idempotency-Key");
	ck_assert(!route_requires_key(route, "POST"));
	ck_assert_int_eq(route->key_max_length, 255);
	ck_assert_int_eq(route->tenant_sources.items[0].kind, SOURCE_ENV);
	ck_assert_int_eq(route->tenant_missing, TENANT_ANONYMOUS);
	ck_assert_int_eq(route->fingerprint_parts, (1 << FINGERPRINT_PARTS) - 1);
	ck_assert_uint_eq(route->fingerprint_headers.count, 0);
	ck_assert_int_eq(route->fingerprint_body, BODY_FORM_RAW);
	ck_assert_str_eq(route->preset, "");
	ck_assert_int_eq(route->mode, ROUTE_ENFORCE);
	ck_assert(!route->require_json && !route->rebuild);
	ck_assert_int_eq(route->keep, KEEP_FULL);
	ck_assert_int_eq(route->oversize, KEEP_MARKER);
	ck_assert_int_eq(route->exit_not_done, EXIT_NOT_DONE_NONE);
	ck_assert_int_eq(route->replay_status, REPLAY_STATUS_ORIGINAL);
	ck_assert_str_eq(route->first_seen_header, "");
	ck_assert_int_eq(route->tombstone, 0);
	ck_assert_uint_eq(route->natural_values.count, 0);
	ck_assert_int_eq(route->natural_window, WINDOW_FOR_EVER);
	ck_assert_str_eq(route->errors.content_type, "application/json");
	ck_assert_str_eq(route->errors.body, "");
	ck_assert_int_eq(route->status.expired, 410);
	ck_assert_int_eq(route->status.duplicate, 409);
	ck_assert_int_eq(route->status.bad_body, 400);
	ck_assert_int_eq(route->status.in_flight, 409);
	ck_assert_int_eq(route->status.mismatch, 422);
	ck_assert_int_eq(route->status.key_missing, 400);
	ck_assert_int_eq(route->on_crash, OUTCOME_RELEASE);
	ck_assert_int_eq(route->on_timeout, OUTCOME_UNKNOWN);
	ck_assert_int_eq(route->on_exit_nonzero, OUTCOME_BY_STATUS);
	ck_assert_int_eq(route->on_lapse, LAPSE_RERUN);
	ck_assert_str_eq(route->replay_headers.items[0], "Idempotent-Replayed: true");
	ck_assert_uint_eq(route->drop_headers.count, 3);
	ck_assert_int_eq(route->retention, 24 * 3600000);
	ck_assert_int_eq(route->lease, 30000);
	ck_assert_int_eq(route->store_down, STORE_DOWN_REFUSE);
	config_free(config);
	free(problems);
}
END_TEST

/* The example */

/* The row's lines in the example: its help, its words, its default. */
static void check_example(const char *example, const struct setting *row, const char *indent)
{
	const char *dot = strrchr(row->path, '.');
	const char *tab = dot != NULL ? "\t" : "";
	char lines[1024], takes[VALUE_DESCRIPTION_SIZE];
	int length = snprintf(lines, sizeof(lines), "\n%s%s# %s\n", indent, tab, row->help);
	if (row->type == SETTING_WORD) {
		value_describe(row, takes);
		length += snprintf(lines + length, sizeof(lines) - (size_t)length, "%s%s# O%s.\n",
				   indent, tab, takes + 1);
	}
	snprintf(lines + length, sizeof(lines) - (size_t)length, "%s%s%s = %s;\n", indent, tab,
		 dot != NULL ? dot + 1 : row->path, row->standard);
	ck_assert_msg(strstr(example, lines) != NULL, "the example lacks:%s", lines);
}

START_TEST(the_example_has_every_setting_with_its_help_words_and_default)
{
	char *example = read_source("docs/oncewrap.conf.example");
	for (int t = 0; t < COUNT(tables); t++)
		for (size_t i = 0; i < tables[t]->count; i++)
			if (tables[t]->rows[i].standard != NULL)
				check_example(example, &tables[t]->rows[i], t == 0 ? "" : "\t");
	free(example);
}
END_TEST

START_TEST(the_example_changes_nothing)
{
	char *example = read_source("docs/oncewrap.conf.example");
	expect_same("docs/oncewrap.conf.example", example, "");

	/* Its `defaults` too: with a route that they apply to, in place of the empty list. */
	static const char none[] = "\nroutes = ();\n";
	static const char one[] = "\nroutes = ( { name = \"r\"; path = \"/\"; } );\n";
	char *list = strstr(example, none);
	ck_assert_ptr_nonnull(list);
	char with_route[128 << 10];
	snprintf(with_route, sizeof(with_route), "%.*s%s", (int)(list - example), example, one);
	expect_same("docs/oncewrap.conf.example", with_route, one);
	free(example);
}
END_TEST

/* Takes the first `#` of each line away. */
static void uncomment(char *text)
{
	for (char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (*line == '#')
			*line = ' ';
	}
}

START_TEST(the_routes_that_the_example_shows_are_good_ones)
{
	char *example = read_source("docs/oncewrap.conf.example");
	char *routes = strstr(example, "# routes = (\n");
	ck_assert_ptr_nonnull(routes);
	char *end = strstr(routes, "\n# );\n");
	ck_assert_ptr_nonnull(end);
	end[6] = '\0';
	uncomment(routes);
	char *problems;
	struct config *config = config_parse("docs/oncewrap.conf.example", routes, &problems);
	ck_assert_msg(config != NULL, "%s", problems);
	ck_assert_uint_ge(config->route_count, 2);
	config_free(config);
	free(problems);
	free(example);
}
END_TEST

START_TEST(the_configurations_beside_the_web_servers_ones_load)
{
	const char *top = getenv("srcdir");
	char pattern[512];
	snprintf(pattern, sizeof(pattern), "%s/docs/deploy/oncewrap*.conf",
		 top != NULL ? top : ".");
	glob_t found;
	ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *problems;
		struct config *config = config_load(found.gl_pathv[i], &problems);
		ck_assert_msg(config != NULL, "%s", problems);
		config_free(config);
		free(problems);
	}
	globfree(&found);
}
END_TEST

/* The manual page: `.It Ic "PATH = DEFAULT"`, what the setting takes, then prose. */

static void undo_mdoc_quotes(char *text)
{
	char *out = text;
	for (const char *in = text; *in != '\0'; in++) {
		if (strncmp(in, "\\(dq", 4) == 0) {
			*out++ = '"';
			in += 3;
		} else {
			*out++ = *in;
		}
	}
	*out = '\0';
}

/* `entry` is one item of the page, from its head to the next one's; returns its row. */
static const struct setting *check_entry(const char *entry, const struct setting_table *table)
{
	char head[256], path[SETTING_PATH_SIZE], takes[VALUE_DESCRIPTION_SIZE];
	snprintf(head, sizeof(head), "%.*s", (int)strcspn(entry, "\n"), entry);
	undo_mdoc_quotes(head);
	snprintf(path, sizeof(path), "%.*s", (int)strcspn(head, " \""), head);
	const struct setting *row = settings_find(table, path);
	ck_assert_msg(row != NULL, "the manual has \"%s\", which is no setting here", path);

	char expected[256];
	if (row->standard != NULL)
		snprintf(expected, sizeof(expected), "%s = %s\"", path, row->standard);
	else
		snprintf(expected, sizeof(expected), "%s\"", path);
	ck_assert_str_eq(head, expected);
	if (row->type != SETTING_SECTION) {
		value_describe(row, takes);
		takes[0] = (char)toupper((unsigned char)takes[0]);
		const char *second = entry + strcspn(entry, "\n") + 1;
		ck_assert_msg(strncmp(second, takes, strlen(takes)) == 0 &&
				  strncmp(second + strlen(takes), ".\n", 2) == 0,
			      "the manual on %s: not \"%s.\"", path, takes);
	}
	const char *restart = strstr(entry, "\nNot changed by a reload.\n");
	ck_assert_msg((restart != NULL) == row->needs_restart, "the manual on %s", path);
	return row;
}

/* The entries of one section of the page are the table's rows, each once, in the table's order. */
static void check_section(char *page, const char *title, const struct setting_table *table)
{
	char *section = strstr(page, title);
	ck_assert_ptr_nonnull(section);
	char *end = strstr(section + 1, "\n.Sh ");
	ck_assert_ptr_nonnull(end);
	size_t index = 0;
	static const char mark[] = "\n.It Ic \"";
	char *entry = strstr(section, mark);
	while (entry != NULL && entry < end) {
		char *next = strstr(entry + 1, mark);
		char *stop = next != NULL && next < end ? next : end;
		char kept = *stop;
		*stop = '\0';
		const struct setting *row = check_entry(entry + strlen(mark), table);
		ck_assert_str_eq(row->path, index < table->count ? table->rows[index].path : "");
		index++;
		*stop = kept;
		entry = next;
	}
	ck_assert_msg(index == table->count, "the manual lacks %s", table->rows[index].path);
}

START_TEST(the_manual_has_every_setting_with_default_bounds_and_unit_and_no_other)
{
	char *page = read_source("docs/man/oncewrap.conf.5");
	check_section(page, "\n.Sh SETTINGS OF THE SERVICE\n", &settings_global);
	check_section(page, "\n.Sh SETTINGS OF A ROUTE\n", &settings_route);
	free(page);
}
END_TEST

/* The last literal block of the page's section EXAMPLES. */
START_TEST(the_manuals_example_is_a_good_configuration)
{
	char *page = read_source("docs/man/oncewrap.conf.5");
	char *section = strstr(page, "\n.Sh EXAMPLES\n");
	ck_assert_ptr_nonnull(section);
	char *start = strstr(section, "\n.Bd -literal -offset indent\n");
	ck_assert_ptr_nonnull(start);
	start = strchr(start + 1, '\n');
	char *end = strstr(start, "\n.Ed\n");
	ck_assert_ptr_nonnull(end);
	end[1] = '\0';
	char *problems;
	struct config *config = config_parse("oncewrap.conf.5", start, &problems);
	ck_assert_msg(config != NULL, "%s", problems);
	ck_assert_uint_eq(config->route_count, 2);
	config_free(config);
	free(problems);
	free(page);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("settings");
	TCase *cases = tcase_create("table");
	tcase_add_test(cases, every_row_is_complete);
	tcase_add_test(cases, rows_of_a_group_stand_together_and_paths_are_unique);
	tcase_add_test(cases, the_defaults_are_what_the_design_says);
	tcase_add_test(cases, a_routes_defaults_are_those_of_the_draft);
	suite_add_tcase(suite, cases);

	TCase *docs = tcase_create("docs");
	tcase_add_test(docs, the_example_has_every_setting_with_its_help_words_and_default);
	tcase_add_test(docs, the_example_changes_nothing);
	tcase_add_test(docs, the_routes_that_the_example_shows_are_good_ones);
	tcase_add_test(docs, the_configurations_beside_the_web_servers_ones_load);
	tcase_add_test(docs,
		       the_manual_has_every_setting_with_default_bounds_and_unit_and_no_other);
	tcase_add_test(docs, the_manuals_example_is_a_good_configuration);
	suite_add_tcase(suite, docs);
	return suite_run(suite);
}
