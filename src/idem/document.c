/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/document.h"

#include "idem/field_value.h"
#include "idem/form.h"
#include "idem/json.h"
#include "idem/multipart.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum reading {
	READING_NONE, /* nothing has asked yet */
	READING_GOOD,
	READING_BAD, /* not of that form: the trouble says why */
};

/* What came of reading the body in one form. */
struct view {
	enum reading reading;
	struct error trouble;
};

struct document {
	const void *body;
	size_t length;
	const char *content_type;
	struct view json_view, form_view, multipart_view;
	struct json *json; /* owned */
	struct form form;
	struct multipart multipart;
};

struct document *document_new(const void *body, size_t length, const char *content_type)
{
	struct document *document = calloc(1, sizeof(*document));
	if (document == NULL)
		return NULL;
	document->body = body;
	document->length = length;
	document->content_type = content_type;
	return document;
}

void document_free(struct document *document)
{
	if (document == NULL)
		return;
	json_free(document->json);
	form_free(&document->form);
	multipart_free(&document->multipart);
	free(document);
}

static bool claims_form(const struct document *document)
{
	struct field_value field;
	field_value_open(&field, document->content_type, strlen(document->content_type));
	return field_value_is(&field, "application/x-www-form-urlencoded");
}

/* A type that is none of JSON's; none at all claims nothing. */
static bool claims_other_than_json(const struct document *document)
{
	static const char suffix[] = "+json";
	struct field_value field;
	field_value_open(&field, document->content_type, strlen(document->content_type));
	size_t suffix_length = sizeof(suffix) - 1;
	bool has_suffix =
	    field.word_length > suffix_length &&
	    strncasecmp(field.word + field.word_length - suffix_length, suffix, suffix_length) == 0;
	return field.word_length > 0 && !has_suffix &&
	       !field_value_is(&field, "application/json") && !field_value_is(&field, "text/json");
}

static int read_json(struct document *document, struct error *why)
{
	if (document->length == 0) {
		error_set(why, ERROR_INPUT, "there is none");
		return -1;
	}
	document->json = json_parse(document->body, document->length, why);
	return document->json != NULL ? 0 : -1;
}

static int read_form(struct document *document, struct error *why)
{
	if (!claims_form(document)) {
		error_set(why, ERROR_INPUT,
			  "the content type is not application/x-www-form-urlencoded");
		return -1;
	}
	return form_parse(&document->form, document->body, document->length, why);
}

static int read_multipart(struct document *document, struct error *why)
{
	return multipart_parse(&document->multipart, document->content_type, document->body,
			       document->length, why);
}

/* Was the body, read once by `read`, of that form? */
static bool look(struct document *document, struct view *view,
		 int (*read)(struct document *document, struct error *why))
{
	if (view->reading == READING_NONE)
		view->reading = read(document, &view->trouble) == 0 ? READING_GOOD : READING_BAD;
	return view->reading == READING_GOOD;
}

static bool has_json(struct document *document)
{
	return look(document, &document->json_view, read_json);
}

static bool has_form(struct document *document)
{
	return look(document, &document->form_view, read_form);
}

static bool has_multipart(struct document *document)
{
	return look(document, &document->multipart_view, read_multipart);
}

static enum document_lookup why_not(const struct view *view)
{
	return view->trouble.kind == ERROR_MEMORY ? DOCUMENT_FAILED : DOCUMENT_MALFORMED;
}

enum document_lookup document_json(struct document *document, const char *pointer,
				   struct document_value *value)
{
	if (document->length == 0)
		return DOCUMENT_ABSENT;
	if (!has_json(document)) {
		enum document_lookup lookup = why_not(&document->json_view);
		bool other = claims_other_than_json(document);
		return lookup == DOCUMENT_MALFORMED && other ? DOCUMENT_ABSENT : lookup;
	}
	struct json_value found;
	if (!json_find(document->json, pointer, &found))
		return DOCUMENT_ABSENT;
	if (found.kind != JSON_STRING && found.kind != JSON_NUMBER)
		return DOCUMENT_NO_SCALAR;
	*value = (struct document_value){found.text, found.length};
	return DOCUMENT_FOUND;
}

static bool is_name(const char *name, const void *data, size_t length)
{
	return strlen(name) == length && (length == 0 || memcmp(name, data, length) == 0);
}

static enum document_lookup find_in_form(const struct form *form, const char *name,
					 struct document_value *value)
{
	enum document_lookup lookup = DOCUMENT_ABSENT;
	for (size_t i = 0; i < form->count; i++) {
		const struct form_pair *pair = &form->pairs[i];
		if (!is_name(name, pair->name, pair->name_length))
			continue;
		if (lookup != DOCUMENT_ABSENT)
			return DOCUMENT_REPEATED;
		lookup = DOCUMENT_FOUND;
		*value = (struct document_value){pair->value, pair->value_length};
	}
	return lookup;
}

static enum document_lookup find_in_multipart(const struct multipart *multipart, const char *name,
					      struct document_value *value)
{
	enum document_lookup lookup = DOCUMENT_ABSENT;
	for (size_t i = 0; i < multipart->count; i++) {
		const struct multipart_part *part = &multipart->parts[i];
		if (!is_name(name, part->name.data, part->name.length))
			continue;
		if (lookup != DOCUMENT_ABSENT)
			return DOCUMENT_REPEATED;
		lookup = multipart_is_file(part) ? DOCUMENT_NO_SCALAR : DOCUMENT_FOUND;
		*value = (struct document_value){(const char *)part->content, part->content_length};
	}
	return lookup;
}

enum document_lookup document_field(struct document *document, const char *name,
				    struct document_value *value)
{
	if (document->length == 0)
		return DOCUMENT_ABSENT;
	if (claims_form(document))
		return has_form(document) ? find_in_form(&document->form, name, value)
					  : why_not(&document->form_view);
	if (multipart_is(document->content_type))
		return has_multipart(document)
			   ? find_in_multipart(&document->multipart, name, value)
			   : why_not(&document->multipart_view);
	return DOCUMENT_ABSENT;
}

bool document_is(struct document *document, enum route_body_form form, struct error *why)
{
	switch (form) {
	case BODY_FORM_RAW:
		return true;
	case BODY_FORM_JSON:
		if (has_json(document))
			return true;
		*why = document->json_view.trouble;
		error_prefix(why, "the body is not well-formed JSON");
		return false;
	case BODY_FORM_FORM:
		if (has_form(document))
			return true;
		*why = document->form_view.trouble;
		error_prefix(why, "the body is not a well-formed form");
		return false;
	case BODY_FORM_MULTIPART:
		if (has_multipart(document))
			return true;
		*why = document->multipart_view.trouble;
		error_prefix(why, "the body is not a well-formed multipart form");
		return false;
	}
	return false;
}

bool document_is_json(struct document *document, struct error *why)
{
	return document_is(document, BODY_FORM_JSON, why);
}

bool document_has_fields(struct document *document, struct error *why)
{
	bool parts = multipart_is(document->content_type);
	return document_is(document, parts ? BODY_FORM_MULTIPART : BODY_FORM_FORM, why);
}

/* Add the canonical form; -1 when out of memory. The body is of that form. */
static int add_canonical(const struct document *document, enum route_body_form form,
			 struct digest *digest)
{
	struct buffer text = {.limit = 0};
	int result = 0;
	switch (form) {
	case BODY_FORM_RAW:
		break;
	case BODY_FORM_JSON:
		digest_add(digest, "j", 1);
		result = json_canonical(document->json, &text);
		break;
	case BODY_FORM_FORM:
		digest_add(digest, "f", 1);
		result = form_canonical(&document->form, &text);
		break;
	case BODY_FORM_MULTIPART:
		digest_add(digest, "m", 1);
		multipart_digest(&document->multipart, digest);
		break;
	}
	digest_add(digest, text.data, text.length);
	buffer_free(&text);
	return result;
}

int document_digest(struct document *document, enum route_body_form form,
		    const unsigned char raw_digest[DIGEST_LENGTH], unsigned char out[DIGEST_LENGTH])
{
	if (form == BODY_FORM_RAW) {
		memcpy(out, raw_digest, DIGEST_LENGTH);
		return 0;
	}
	struct error why = {.kind = ERROR_NONE};
	bool is_of_form = document_is(document, form, &why);
	if (!is_of_form && why.kind == ERROR_MEMORY)
		return -1;
	struct digest *digest = digest_new();
	if (digest == NULL)
		return -1;
	int result = 0;
	if (is_of_form) {
		result = add_canonical(document, form, digest);
	} else {
		digest_add(digest, "r", 1);
		digest_add(digest, raw_digest, DIGEST_LENGTH);
	}
	digest_finish(digest, out);
	digest_free(digest);
	return result;
}
