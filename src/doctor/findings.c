/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "doctor/findings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/shell.h"

static const char *const level_names[] = {
    [FINDING_OK] = "ok",
    [FINDING_SKIP] = "skip",
    [FINDING_WARN] = "warn",
    [FINDING_FAIL] = "fail",
};

const char *finding_level_name(enum finding_level level)
{
	return level_names[level];
}

void findings_begin(struct findings *findings, const char *check)
{
	findings->check = check;
}

/* The buffer's text as a string of its own; NULL and `failed` when there is no memory. */
static char *take_text(struct findings *findings, struct buffer *text)
{
	char *copy = text->failed ? NULL : strdup(buffer_text(text));
	buffer_free(text);
	if (copy == NULL)
		findings->failed = true;
	return copy;
}

static struct finding *add(struct findings *findings, enum finding_level level)
{
	struct finding *items =
	    reallocarray(findings->items, findings->count + 1, sizeof(*findings->items));
	if (items == NULL) {
		findings->failed = true;
		return NULL;
	}
	findings->items = items;
	items[findings->count] = (struct finding){.check = findings->check, .level = level};
	return &items[findings->count++];
}

void findings_add(struct findings *findings, enum finding_level level, const char *format, ...)
{
	struct buffer text = {0};
	va_list arguments;
	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	struct finding *finding = add(findings, level);
	char *reason = take_text(findings, &text);
	if (finding != NULL)
		finding->reason = reason;
	else
		free(reason);
}

void findings_add_message(struct findings *findings, enum finding_level level, const char *message)
{
	static const char mark[] = "; run: ";
	const char *cure = strstr(message, mark);
	if (cure == NULL) {
		findings_add(findings, level, "%s", message);
		return;
	}
	findings_add(findings, level, "%.*s", (int)(cure - message), message);
	findings_cure(findings, "%s", cure + strlen(mark));
}

static void set_cure(struct findings *findings, struct buffer *text)
{
	char *cure = take_text(findings, text);
	if (findings->count == 0 || cure == NULL) {
		free(cure);
		return;
	}
	struct finding *last = &findings->items[findings->count - 1];
	free(last->cure);
	last->cure = cure;
}

void findings_cure(struct findings *findings, const char *format, ...)
{
	struct buffer text = {0};
	va_list arguments;
	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	set_cure(findings, &text);
}

void findings_cure_file(struct findings *findings, const char *path, const char *format, ...)
{
	struct buffer text = {0};
	va_list arguments;
	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	buffer_append_byte(&text, ' ');
	shell_append(&text, path);
	set_cure(findings, &text);
}

enum finding_level findings_worst(const struct findings *findings, size_t first)
{
	enum finding_level worst = FINDING_OK;
	for (size_t i = first; i < findings->count; i++)
		if (findings->items[i].level > worst)
			worst = findings->items[i].level;
	return worst;
}

void findings_free(struct findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->items[i].reason);
		free(findings->items[i].cure);
	}
	free(findings->items);
	*findings = (struct findings){0};
}
