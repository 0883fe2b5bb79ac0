/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/doctor/report.h"

#include <jansson.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "admin/common/harmless.h"
#include "admin/common/writer.h"

enum { STATUS_OK, STATUS_WARN, STATUS_FAIL, STATUS_SKIP };

static size_t count_of(const struct findings *findings, enum finding_level level)
{
	size_t count = 0;
	for (size_t i = 0; i < findings->count; i++)
		count += findings->items[i].level == level;
	return count;
}

int report_status(const struct findings *findings)
{
	if (count_of(findings, FINDING_FAIL) > 0)
		return STATUS_FAIL;
	if (count_of(findings, FINDING_WARN) > 0)
		return STATUS_WARN;
	return count_of(findings, FINDING_SKIP) > 0 ? STATUS_SKIP : STATUS_OK;
}

static const char *text_of(const char *text)
{
	return text != NULL ? text : "";
}

/* One line of it, whatever bytes are in there. A backslash of a cure is to be typed as it is. */
static void append_text(struct buffer *out, const char *text)
{
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	for (;;) {
		size_t length = strcspn(text, "\\\n");
		harmless_append(out, text, length, utf8);
		text += length;
		if (*text == '\0')
			return;
		buffer_append_byte(out, *text == '\n' ? ' ' : '\\');
		text++;
	}
}

static void append_human(struct buffer *out, const struct finding *finding)
{
	buffer_printf(out, "%-4s  %-13s  ", finding_level_name(finding->level), finding->check);
	append_text(out, text_of(finding->reason));
	if (finding->cure != NULL) {
		buffer_append_text(out, "\n                     run: ");
		append_text(out, finding->cure);
	}
	buffer_append_byte(out, '\n');
}

static json_t *json_text(const char *text)
{
	if (text == NULL)
		return json_null();
	if (harmless_is_utf8(text, strlen(text)))
		return json_string(text);
	struct buffer escaped = {0};
	harmless_append(&escaped, text, strlen(text), true);
	json_t *value = json_string(buffer_text(&escaped));
	buffer_free(&escaped);
	return value;
}

static void append_json(struct buffer *out, const struct finding *finding)
{
	json_t *object = json_pack("{s:s, s:s, s:o, s:o}", "check", finding->check, "level",
				   finding_level_name(finding->level), "reason",
				   json_text(finding->reason), "cure", json_text(finding->cure));
	char *line = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	if (line == NULL)
		out->failed = true;
	else
		buffer_printf(out, "%s\n", line);
	free(line);
	json_decref(object);
}

static void append_nagios_finding(struct buffer *out, const struct finding *finding)
{
	buffer_printf(out, "%s %s: ", finding_level_name(finding->level), finding->check);
	size_t start = out->length;
	append_text(out, text_of(finding->reason));
	if (finding->cure != NULL) {
		buffer_append_text(out, "; run: ");
		append_text(out, finding->cure);
	}
	/* What stands behind a bar is taken for figures. */
	for (size_t i = start; i < out->length; i++)
		if (out->data[i] == '|')
			out->data[i] = '/';
}

static const struct finding *worst_of(const struct findings *findings)
{
	const struct finding *worst = NULL;
	for (size_t i = 0; i < findings->count; i++)
		if (worst == NULL || findings->items[i].level > worst->level)
			worst = &findings->items[i];
	return worst;
}

/* Monitoring plugins: a line with the worst of it and the figures, then the others. */
static void append_nagios(struct buffer *out, const struct findings *findings)
{
	static const char *const words[] = {
	    [STATUS_OK] = "OK",
	    [STATUS_WARN] = "WARNING",
	    [STATUS_FAIL] = "CRITICAL",
	    [STATUS_SKIP] = "UNKNOWN",
	};
	const struct finding *worst = worst_of(findings);
	size_t fails = count_of(findings, FINDING_FAIL), warns = count_of(findings, FINDING_WARN),
	       skips = count_of(findings, FINDING_SKIP);
	buffer_printf(out, "ONCEWRAP %s - ", words[report_status(findings)]);
	if (worst == NULL || worst->level == FINDING_OK)
		buffer_printf(out, "%zu checks", findings->count);
	else
		append_nagios_finding(out, worst);
	buffer_printf(out, " | failures=%zu warnings=%zu skipped=%zu\n", fails, warns, skips);
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];
		if (finding == worst || finding->level == FINDING_OK)
			continue;
		append_nagios_finding(out, finding);
		buffer_append_byte(out, '\n');
	}
}

int report_print(const char *program, const struct findings *findings, enum report_format format,
		 bool quiet)
{
	struct buffer out = {.failed = findings->failed};
	if (format == REPORT_NAGIOS)
		append_nagios(&out, findings);
	for (size_t i = 0; format != REPORT_NAGIOS && i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];
		if (quiet && finding->level == FINDING_OK)
			continue;
		if (format == REPORT_JSON)
			append_json(&out, finding);
		else
			append_human(&out, finding);
	}
	int status = writer_write(program, &out);
	buffer_free(&out);
	return status;
}
