/* SPDX-License-Identifier: ISC */
/* once-doctor(8): looks whether all that oncewrap needs is as it should be, and tells what cures
 * what is not. Changes nothing. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "admin/common/connect.h"
#include "admin/common/options.h"
#include "admin/doctor/examination.h"
#include "admin/doctor/report.h"
#include "base/clock.h"
#include "config/load.h"

#define NAME "once-doctor"

/* The check that all others hang by. */
#define CONFIGURATION "configuration"

struct doctor {
	struct connect connect; /* --config and --timeout alone */
	const char *only;       /* --only; NULL: all */
	bool no_db;
	bool quiet;
	enum report_format format;
	struct examination examination;
};

static const char *const formats[] = {
    [REPORT_HUMAN] = "human", [REPORT_JSON] = "json", [REPORT_NAGIOS] = "nagios"};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static void offer_formats(const void *target, struct buffer *names)
{
	(void)target;
	for (size_t i = 0; i < FORMATS; i++)
		options_offer(names, formats[i]);
}

static int take_format(void *target, const char *argument, struct error *error)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(formats[i], argument) == 0) {
			((struct doctor *)target)->format = (enum report_format)i;
			return 0;
		}
	error_set(error, ERROR_INPUT, "\"%s\" is none of human, json, nagios", argument);
	return -1;
}

static int take_json(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct doctor *)target)->format = REPORT_JSON;
	return 0;
}

static void offer_checks(const void *target, struct buffer *names)
{
	(void)target;
	options_offer(names, CONFIGURATION);
	for (size_t i = 0; i < host_check_count; i++)
		options_offer(names, host_checks[i].name);
	for (size_t i = 0; i < store_check_count; i++)
		options_offer(names, store_checks[i].name);
}

static void append_name(struct buffer *names, const char *name)
{
	buffer_printf(names, "%s%s", names->length > 0 ? ", " : "", name);
}

static int refuse_check(const char *name, size_t length, struct error *error)
{
	struct buffer names = {0};
	append_name(&names, CONFIGURATION);
	for (size_t i = 0; i < host_check_count; i++)
		append_name(&names, host_checks[i].name);
	for (size_t i = 0; i < store_check_count; i++)
		append_name(&names, store_checks[i].name);
	error_set(error, ERROR_INPUT, "\"%.*s\" is none of %s", (int)length, name,
		  buffer_text(&names));
	buffer_free(&names);
	return -1;
}

static bool is_check(const char *name, size_t length, const char *known)
{
	return strlen(known) == length && memcmp(known, name, length) == 0;
}

static bool is_known(const char *name, size_t length)
{
	bool found = is_check(name, length, CONFIGURATION);
	for (size_t i = 0; !found && i < host_check_count; i++)
		found = is_check(name, length, host_checks[i].name);
	for (size_t i = 0; !found && i < store_check_count; i++)
		found = is_check(name, length, store_checks[i].name);
	return found;
}

static int take_only(void *target, const char *argument, struct error *error)
{
	for (const char *name = argument;; name++) {
		size_t length = strcspn(name, ",");
		if (!is_known(name, length))
			return refuse_check(name, length, error);
		name += length;
		if (*name == '\0')
			break;
	}
	((struct doctor *)target)->only = argument;
	return 0;
}

static int take_no_db(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct doctor *)target)->no_db = true;
	return 0;
}

static int take_quiet(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct doctor *)target)->quiet = true;
	return 0;
}

static const struct option_entry entries[] = {
    {.letter = 'o',
     .name = "output",
     .argument = "FORMAT",
     .help = "human, json or nagios (human)",
     .take = take_format,
     .offer = offer_formats},
    {.letter = 'j', .name = "json", .help = "the same as --output=json", .take = take_json},
    {.name = "only",
     .argument = "CHECK,...",
     .help = "make these checks, and no others",
     .take = take_only,
     .offer = offer_checks,
     .several = true},
    {.name = "no-db", .help = "leave out what needs the database", .take = take_no_db},
    {.letter = 'q', .name = "quiet", .help = "leave out what is ok", .take = take_quiet},
};

static bool is_wanted(const struct doctor *doctor, const char *check)
{
	for (const char *name = doctor->only; name != NULL;) {
		size_t length = strcspn(name, ",");
		if (is_check(name, length, check))
			return true;
		name = name[length] == ',' ? name + length + 1 : NULL;
	}
	return doctor->only == NULL;
}

/* Was any check asked for that --no-db leaves something of? */
static bool leaves_something(const struct doctor *doctor)
{
	bool found = is_wanted(doctor, CONFIGURATION);
	for (size_t i = 0; !found && i < host_check_count; i++)
		found = is_wanted(doctor, host_checks[i].name);
	return found;
}

/* "FILE:LINE: ...": an editor opens it there. */
static void tell_problem(struct findings *findings, const char *file, const char *problem)
{
	unsigned line = 0;
	size_t length = strcspn(problem, ":");
	findings_add(findings, FINDING_FAIL, "%s", problem);
	if (problem[length] == ':' && sscanf(problem + length, ":%u:", &line) == 1) {
		char *name = strndup(problem, length);
		if (name != NULL)
			findings_cure_file(findings, name, "${EDITOR:-vi} +%u", line);
		free(name);
	} else if (strstr(problem, file) == NULL) {
		findings_cure_file(findings, file, "${EDITOR:-vi}");
	}
}

static void read_configuration(struct doctor *doctor)
{
	struct examination *examination = &doctor->examination;
	struct findings *findings = &examination->findings;
	char *problems = NULL, *rest = NULL;
	examination->config = config_load(examination->file, &problems);
	findings_begin(findings, CONFIGURATION);
	if (examination->config != NULL && is_wanted(doctor, CONFIGURATION))
		findings_add(findings, FINDING_OK, "%s: %zu route%s", examination->file,
			     examination->config->route_count,
			     examination->config->route_count == 1 ? "" : "s");
	else if (examination->config == NULL && problems == NULL)
		findings->failed = true;
	else if (examination->config == NULL)
		for (char *line = strtok_r(problems, "\n", &rest); line != NULL;
		     line = strtok_r(NULL, "\n", &rest))
			tell_problem(findings, examination->file, line);
	free(problems);
}

/* What made a check slow is what a sysadmin looks for when all checks are fine. */
static void tell_time(const struct doctor *doctor, const char *check, int64_t began)
{
	int64_t spent = clock_now() - began;
	if (doctor->connect.verbose)
		fprintf(stderr, NAME ": %s: %" PRId64 ".%03" PRId64 " s\n", check, spent / 1000,
			spent % 1000);
}

static void skip(struct findings *findings, const char *check)
{
	findings_begin(findings, check);
	findings_add(findings, FINDING_SKIP, "the configuration is wrong");
}

static void examine(struct doctor *doctor)
{
	struct examination *examination = &doctor->examination;
	struct findings *findings = &examination->findings;
	read_configuration(doctor);
	bool configured = examination->config != NULL;
	if (configured)
		host_init(&examination->host, examination->file, examination->config, NULL);
	for (size_t i = 0; i < host_check_count; i++) {
		int64_t began = clock_now();
		if (!is_wanted(doctor, host_checks[i].name))
			continue;
		if (configured)
			host_examine(&examination->host, &host_checks[i], findings);
		else
			skip(findings, host_checks[i].name);
		tell_time(doctor, host_checks[i].name, began);
	}
	for (size_t i = 0; i < store_check_count && !doctor->no_db; i++) {
		int64_t began = clock_now();
		if (!is_wanted(doctor, store_checks[i].name))
			continue;
		if (configured)
			examination_run(examination, &store_checks[i]);
		else
			skip(findings, store_checks[i].name);
		tell_time(doctor, store_checks[i].name, began);
	}
}

int main(int argc, char **argv)
{
	options_begin();
	struct doctor doctor = {0};
	connect_init(&doctor.connect);
	doctor.examination.standard_file = doctor.connect.file;
	const struct option_group groups[] = {
	    OPTION_GROUP(entries, &doctor),
	    connect_options(&doctor.connect),
	};
	const struct program program = {
	    .name = NAME,
	    .arguments = "",
	    .summary = "Look whether all that oncewrap needs is as it should be, and tell what "
		       "cures\nwhat is not. Changes nothing.",
	    .see = "once-doctor(8)",
	    .groups = groups,
	    .group_count = sizeof(groups) / sizeof(groups[0]),
	};
	int first;
	int status = options_parse(&program, argc, argv, &first);
	if (status != GO_ON)
		return status;
	if (first < argc)
		return options_refuse(&program, "\"%s\": takes no arguments", argv[first]);
	if (doctor.no_db && !leaves_something(&doctor))
		return options_refuse(&program, "--no-db leaves out all that --only asks for");
	doctor.examination.file = doctor.connect.file;
	doctor.examination.timeout = doctor.connect.timeout * 1000;
	doctor.examination.admin.group = "oncewrap-admin";
	examine(&doctor);
	status = report_print(NAME, &doctor.examination.findings, doctor.format, doctor.quiet);
	if (status == GO_ON)
		status = report_status(&doctor.examination.findings);
	examination_free(&doctor.examination);
	return status;
}
