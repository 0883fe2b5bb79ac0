/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/show/report_json.h"

#include "admin/common/json_lines.h"
#include "admin/show/advice.h"
#include "admin/show/part.h"

#include <string.h>

static json_t *json_of(const struct output *output, struct cell cell)
{
	return cell_json(&cell, &output->style);
}

/* {"method": "5f2c...", ...}; null where they are not known. */
static json_t *json_parts(const struct output *output, const char *scheme,
			  const unsigned char *digests, size_t length)
{
	struct part parts[FINGERPRINT_MOST_PARTS];
	size_t count = part_list(scheme, digests, length, parts);
	if (count == 0)
		return json_null();
	json_t *object = json_object();
	for (size_t i = 0; i < count; i++) {
		json_t *digest =
		    json_of(output, cell_hash(parts[i].digest, FINGERPRINT_PART_LENGTH));
		/* names of a scheme are all of them single words */
		char name[FINGERPRINT_SCHEME_LENGTH];
		memcpy(name, parts[i].name, parts[i].name_length);
		name[parts[i].name_length] = '\0';
		if (json_object_set_new(object, name, digest) < 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

/* The names of the parts that differ; empty where that is not known either. */
static json_t *json_difference(const struct report *report)
{
	const struct record *record = &report->seen->record;
	const struct explanation *explanation = report->explanation;
	char names[FINGERPRINT_SCHEME_LENGTH] = "";
	json_t *array = json_array();
	fingerprint_difference(&explanation->ours, record->scheme, record->parts,
			       record->parts_length, names, sizeof(names));
	for (const char *name = names; *name != '\0'; name += strspn(name, ", ")) {
		size_t length = strcspn(name, ",");
		if (json_array_append_new(array, json_stringn(name, length)) < 0) {
			json_decref(array);
			return NULL;
		}
		name += length;
	}
	return array;
}

static json_t *json_explanation(const struct output *output, const struct report *report)
{
	const struct explanation *explanation = report->explanation;
	if (explanation->result == EXPLAIN_UNABLE)
		return json_pack("{s:n,s:[],s:n}", "same", "differs", "parts");
	return json_pack("{s:b,s:o,s:o}", "same", explanation->result == EXPLAIN_SAME, "differs",
			 json_difference(report), "parts",
			 json_parts(output, explanation->ours.scheme, explanation->ours.parts,
				    explanation->ours.parts_length));
}

/* A string each; null where no answer is stored. */
static json_t *json_headers(const struct output *output, const struct report *report)
{
	const struct buffer *headers = &report->seen->record.headers;
	if (!report_has_answer(report->seen))
		return json_null();
	json_t *array = json_array();
	const unsigned char *next = headers->data;
	for (size_t left = headers->length; left > 0;) {
		const unsigned char *stop = memmem(next, left, "\r\n", 2);
		size_t length = stop != NULL ? (size_t)(stop - next) : left;
		size_t eaten = stop != NULL ? length + 2 : length;
		if (json_array_append_new(array, json_of(output, cell_bytes(next, length))) < 0) {
			json_decref(array);
			return NULL;
		}
		next += eaten;
		left -= eaten;
	}
	return array;
}

static json_t *json_body(const struct output *output, const struct report *report)
{
	const struct buffer *body = &report->seen->record.body;
	return report_has_answer(report->seen)
		   ? json_of(output, cell_bytes(body->data, body->length))
		   : json_null();
}

static json_t *json_advice(const struct report *report)
{
	struct advice advice[ADVICE_MOST];
	size_t count = advice_give(report->seen, report->connect, advice);
	json_t *array = json_array();
	for (size_t i = 0; i < count && array != NULL; i++) {
		struct buffer *command = &advice[i].command;
		json_t *entry = json_pack("{s:s,s:s?}", "what", advice[i].what, "command",
					  command->length > 0 ? buffer_text(command) : NULL);
		if (command->failed || json_array_append_new(array, entry) < 0) {
			json_decref(array);
			array = NULL;
		}
	}
	advice_free(advice);
	return array;
}

static int add_sections(json_t *object, const struct output *output, const struct report *report)
{
	const struct record *record = &report->seen->record;
	bool whole = output->settings->columns == NULL;
	int failed = 0;
	if (whole)
		failed |= json_object_set_new(
		    object, "parts",
		    json_parts(output, record->scheme, record->parts, record->parts_length));
	if (whole)
		failed |= json_object_set(object, "natural_keys", report->naturals->array);
	if (report->headers)
		failed |= json_object_set_new(object, "headers", json_headers(output, report));
	if (report->body)
		failed |= json_object_set_new(object, "body", json_body(output, report));
	if (report->explanation != NULL)
		failed |= json_object_set_new(object, "explained",
					      report->gone ? json_null()
							   : json_explanation(output, report));
	if (report->history != NULL)
		failed |= json_object_set(object, "history", report->history->list.array);
	if (whole)
		failed |= json_object_set_new(object, "next",
					      report->gone ? json_array() : json_advice(report));
	return failed;
}

void report_json_append(struct output *output, const struct report *report,
			const struct cell *cells)
{
	json_t *object = json_lines_object(output->columns, cells, output->count, &output->style);
	if (object != NULL && add_sections(object, output, report) != 0) {
		json_decref(object);
		object = NULL;
	}
	json_lines_append(&output->text, object);
}
