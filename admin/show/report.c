/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/show/report.h"

#include "admin/common/harmless.h"
#include "admin/common/lines.h"
#include "admin/show/advice.h"
#include "admin/show/field.h"
#include "admin/show/part.h"
#include "admin/show/report_json.h"

#include <string.h>

bool report_has_answer(const struct inspection *seen)
{
	return seen->record.state == RECORD_COMPLETE && (seen->record.flags & RECORD_NOT_KEPT) == 0;
}

/* Whatever bytes, what stands before each `end` as a line of ours. */
static void append_text(struct output *output, const struct buffer *text, const char *end)
{
	const unsigned char *next = text->data;
	for (size_t left = text->length; left > 0;) {
		const unsigned char *stop = memmem(next, left, end, strlen(end));
		size_t length = stop != NULL ? (size_t)(stop - next) : left;
		size_t eaten = stop != NULL ? length + strlen(end) : length;
		bool carriage_return = stop != NULL && length > 0 && next[length - 1] == '\r';
		buffer_append_text(&output->text, "  ");
		harmless_append(&output->text, next, length - carriage_return, output->style.utf8);
		buffer_append_byte(&output->text, '\n');
		next += eaten;
		left -= eaten;
	}
}

static void append_answer(struct output *output, const struct report *report, const char *name,
			  const struct buffer *text, const char *end)
{
	bool there = report_has_answer(report->seen);
	buffer_printf(&output->text, "%s:%s\n", name,
		      !there              ? " -"
		      : text->length == 0 ? " empty"
					  : "");
	if (there)
		append_text(output, text, end);
}

static const char *comparison(const unsigned char *stored, const unsigned char *ours)
{
	return memcmp(stored, ours, FINGERPRINT_PART_LENGTH) == 0 ? "same" : "differs";
}

static void append_hex(struct buffer *out, const unsigned char *digest)
{
	struct cell cell = cell_hash(digest, FINGERPRINT_PART_LENGTH);
	cell_for_eyes(out, &cell, &(struct cell_style){.full = true});
}

static int widest(const struct part *parts, size_t count)
{
	size_t width = 0;
	for (size_t i = 0; i < count; i++)
		width = parts[i].name_length > width ? parts[i].name_length : width;
	return (int)width;
}

static void append_parts(struct output *output, const struct report *report)
{
	const struct record *record = &report->seen->record;
	const struct explanation *explanation = report->explanation;
	struct part parts[FINGERPRINT_MOST_PARTS];
	size_t count = part_list(record->scheme, record->parts, record->parts_length, parts);
	bool compared = explanation != NULL && explanation->result != EXPLAIN_UNABLE;
	if (count == 0)
		return;
	buffer_append_text(&output->text, "parts:\n");
	for (size_t i = 0; i < count; i++) {
		const unsigned char *digest = parts[i].digest;
		buffer_append_text(&output->text, "  ");
		harmless_append(&output->text, parts[i].name, parts[i].name_length, false);
		buffer_printf(&output->text, "%*s  ",
			      widest(parts, count) - (int)parts[i].name_length, "");
		append_hex(&output->text, digest);
		if (compared)
			buffer_printf(&output->text, "  %s",
				      comparison(digest, explanation->ours.parts +
							     i * FINGERPRINT_PART_LENGTH));
		buffer_append_byte(&output->text, '\n');
	}
}

static void append_explanation(struct output *output, const struct report *report)
{
	const struct record *record = &report->seen->record;
	const struct explanation *explanation = report->explanation;
	char names[FINGERPRINT_SCHEME_LENGTH];
	buffer_append_text(&output->text, "explained: ");
	switch (explanation->result) {
	case EXPLAIN_SAME:
		buffer_append_text(&output->text, "the same request\n");
		return;
	case EXPLAIN_UNABLE:
		buffer_append_text(&output->text,
				   "this version does not know the record's scheme\n");
		return;
	case EXPLAIN_DIFFERENT:
		break;
	}
	if (fingerprint_difference(&explanation->ours, record->scheme, record->parts,
				   record->parts_length, names, sizeof(names)) > 0)
		buffer_printf(&output->text, "another request, a mismatch: it differs in %s\n",
			      names);
	else
		buffer_append_text(&output->text,
				   "another request, a mismatch; the record has no digests"
				   " that would tell parts\n");
}

static void append_advice(struct output *output, const struct report *report)
{
	struct advice advice[ADVICE_MOST];
	size_t count = advice_give(report->seen, report->connect, advice);
	buffer_append_text(&output->text, "next:\n");
	for (size_t i = 0; i < count; i++) {
		buffer_printf(&output->text, "  %s\n", advice[i].what);
		if (advice[i].command.length > 0)
			buffer_printf(&output->text, "    %s\n", buffer_text(&advice[i].command));
	}
	output->text.failed = output->text.failed || advice[0].command.failed;
	advice_free(advice);
}

static void append_sublist(struct output *output, const char *name, const struct sublist *list)
{
	buffer_printf(&output->text, "%s\n", name);
	output->text.failed = output->text.failed || list->text.failed;
	/* its cells are harmless already */
	for (size_t i = 0; i < list->text.length; i++) {
		if (i == 0 || list->text.data[i - 1] == '\n')
			buffer_append_text(&output->text, "  ");
		buffer_append_byte(&output->text, list->text.data[i]);
	}
}

static void append_lines(struct output *output, const struct report *report,
			 const struct cell *cells)
{
	const struct output_settings *settings = output->settings;
	const struct lines_layout layout = {
	    .names = !settings->no_header,
	    .nothing = settings->columns != NULL || settings->full,
	};
	if (output->begun)
		buffer_append_byte(&output->text, '\n');
	output->begun = true;
	lines_row(&output->text, output->columns, cells, output->count, &layout, &output->style);
	/* Who asks for columns wants those, and what else he asks for. */
	bool whole = settings->columns == NULL && !report->gone;
	if (whole || (report->explanation != NULL && !report->gone))
		append_parts(output, report);
	if (report->headers && !report->gone)
		append_answer(output, report, "headers", &report->seen->record.headers, "\r\n");
	if (report->body && !report->gone)
		append_answer(output, report, "body", &report->seen->record.body, "\n");
	if (report->naturals->count > 0)
		append_sublist(output, "natural keys:", report->naturals);
	if (report->history != NULL && report->history->list.count == 0)
		buffer_append_text(&output->text, "history: nobody has changed it\n");
	else if (report->history != NULL)
		append_sublist(output, "history:", &report->history->list);
	if (report->explanation != NULL && !report->gone)
		append_explanation(output, report);
	if (whole && !report->quiet)
		append_advice(output, report);
}

int report_print(struct output *output, const struct report *report)
{
	struct cell cells[OUTPUT_MOST_COLUMNS];
	enum output_format format = output->settings->format;
	if (!report->gone && format != OUTPUT_LINES && format != OUTPUT_JSON)
		return output_row(output, report->seen);
	output_cells(output, report->seen, cells);
	for (size_t i = 0; i < output->count && report->gone; i++)
		cells[i] = field_of_gone(output->columns[i], report->seen);
	if (format == OUTPUT_LINES)
		append_lines(output, report, cells);
	else
		report_json_append(output, report, cells);
	return output_flush(output);
}
