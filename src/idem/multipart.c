/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/multipart.h"

#include "idem/field_value.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct text {
	const char *start;
	size_t length;
};

/* What is left to read of the body. */
struct reader {
	const char *start, *next, *end;
	char delimiter[sizeof("\r\n--") + MULTIPART_MOST_BOUNDARY]; /* CRLF, two dashes, boundary */
	size_t delimiter_length;
	struct error *why;
};

static int refuse(struct reader *reader, enum error_kind kind, const char *rule)
{
	error_set(reader->why, kind, "byte %zu: %s", (size_t)(reader->next - reader->start) + 1,
		  rule);
	return -1;
}

static int no_memory(struct error *why)
{
	error_set(why, ERROR_MEMORY, "out of memory for a multipart body");
	return -1;
}

bool multipart_is(const char *content_type)
{
	struct field_value field;
	field_value_open(&field, content_type, strlen(content_type));
	return field_value_is(&field, "multipart/form-data");
}

/* RFC 2046 5.1.1, but for the set of characters: clients go beyond it. */
static bool is_boundary(const struct buffer *text)
{
	if (text->length == 0 || text->length > MULTIPART_MOST_BOUNDARY ||
	    text->data[text->length - 1] == ' ')
		return false;
	for (size_t i = 0; i < text->length; i++)
		if (text->data[i] < 0x20 || text->data[i] > 0x7e)
			return false;
	return true;
}

static int take_boundary(struct reader *reader, const struct buffer *text)
{
	if (reader->delimiter_length > 0 || !is_boundary(text)) {
		error_set(reader->why, ERROR_INPUT,
			  "the content type must name one boundary of 1 to %d printable "
			  "characters, the last no blank",
			  MULTIPART_MOST_BOUNDARY);
		return -1;
	}
	memcpy(reader->delimiter, "\r\n--", 4);
	memcpy(reader->delimiter + 4, text->data, text->length);
	reader->delimiter_length = 4 + text->length;
	return 0;
}

static int read_content_type(struct reader *reader, const char *content_type)
{
	struct buffer name = {.limit = 0};
	struct buffer text = {.limit = 0};
	struct buffer none = {.limit = 0};
	struct field_value field;
	enum field_value_taken taken;
	int result = 0;
	field_value_open(&field, content_type, strlen(content_type));
	if (!field_value_is(&field, "multipart/form-data")) {
		error_set(reader->why, ERROR_INPUT, "the content type is not multipart/form-data");
		return -1;
	}
	while (result == 0 &&
	       (taken = field_value_next(&field, &name, &text)) == FIELD_VALUE_PARAMETER)
		if (strcmp(buffer_text(&name), "boundary") == 0)
			result = take_boundary(reader, &text);
	if (result == 0 && (name.failed || text.failed))
		result = no_memory(reader->why);
	if (result == 0 && taken == FIELD_VALUE_MALFORMED) {
		error_set(reader->why, ERROR_INPUT, "the content type is malformed");
		result = -1;
	}
	if (result == 0 && reader->delimiter_length == 0)
		result = take_boundary(reader, &none);
	buffer_free(&name);
	buffer_free(&text);
	return result;
}

static bool at_text(const struct reader *reader, const char *text, size_t length)
{
	return (size_t)(reader->end - reader->next) >= length &&
	       memcmp(reader->next, text, length) == 0;
}

/* What follows the boundary on its line: a part (1) or nothing more (0). */
static int take_line_end(struct reader *reader)
{
	bool last = at_text(reader, "--", 2);
	if (last)
		reader->next += 2;
	while (reader->next < reader->end && (*reader->next == ' ' || *reader->next == '\t'))
		reader->next++;
	if (last && reader->next == reader->end)
		return 0;
	if (!at_text(reader, "\r\n", 2))
		return refuse(reader, ERROR_INPUT, "the line of a boundary must end behind it");
	reader->next += 2;
	return last ? 0 : 1;
}

/* Go behind the next boundary, *before being what stands before it; as take_line_end. */
static int take_delimiter(struct reader *reader, struct text *before)
{
	const char *start = reader->next;
	const char *found = memmem(start, (size_t)(reader->end - start), reader->delimiter,
				   reader->delimiter_length);
	if (found == NULL) {
		reader->next = reader->end;
		return refuse(reader, ERROR_INPUT, "the closing boundary is missing");
	}
	*before = (struct text){start, (size_t)(found - start)};
	reader->next = found + reader->delimiter_length;
	return take_line_end(reader);
}

/* The first needs no line break before it, when nothing else is. */
static int take_first_delimiter(struct reader *reader)
{
	struct text preamble;
	if (!at_text(reader, reader->delimiter + 2, reader->delimiter_length - 2))
		return take_delimiter(reader, &preamble);
	reader->next += reader->delimiter_length - 2;
	return take_line_end(reader);
}

static bool has_name(const struct text *line, const char *name)
{
	size_t length = strlen(name);
	return line->length > length && line->start[length] == ':' &&
	       strncasecmp(line->start, name, length) == 0;
}

static struct text value_of(const struct text *line)
{
	const char *colon = memchr(line->start, ':', line->length);
	const char *start = colon + 1;
	const char *end = line->start + line->length;
	while (start < end && (*start == ' ' || *start == '\t'))
		start++;
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct text){start, (size_t)(end - start)};
}

static int set_text(struct reader *reader, struct multipart_text *text, const void *data,
		    size_t length)
{
	if (text->present)
		return refuse(reader, ERROR_INPUT, "a part says the same thing twice");
	text->present = true;
	return buffer_append(&text->text, data, length) < 0 ? no_memory(reader->why) : 0;
}

static int take_disposition(struct reader *reader, struct text value, struct multipart_part *part,
			    struct multipart_text *part_name)
{
	struct buffer name = {.limit = 0};
	struct buffer text = {.limit = 0};
	struct field_value field;
	enum field_value_taken taken;
	int result = 0;
	field_value_open(&field, value.start, value.length);
	if (!field_value_is(&field, "form-data"))
		return refuse(reader, ERROR_INPUT, "a part's disposition must be form-data");
	while (result == 0 &&
	       (taken = field_value_next(&field, &name, &text)) == FIELD_VALUE_PARAMETER) {
		const char *which = buffer_text(&name);
		struct multipart_text *wanted = strcmp(which, "name") == 0       ? part_name
						: strcmp(which, "filename") == 0 ? &part->file_name
						: strcmp(which, "filename*") == 0
						    ? &part->extended_file_name
						    : NULL;
		if (wanted != NULL)
			result = set_text(reader, wanted, text.data, text.length);
	}
	if (result == 0 && (name.failed || text.failed))
		result = no_memory(reader->why);
	else if (result == 0 && taken == FIELD_VALUE_MALFORMED)
		result = refuse(reader, ERROR_INPUT, "a part's disposition is malformed");
	buffer_free(&name);
	buffer_free(&text);
	return result;
}

static bool is_identity_encoding(struct text value)
{
	static const char *const words[] = {"7bit", "8bit", "binary"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (value.length == strlen(words[i]) &&
		    strncasecmp(value.start, words[i], value.length) == 0)
			return true;
	return false;
}

static int take_header(struct reader *reader, const struct text *line, struct multipart_part *part,
		       struct multipart_text *name)
{
	const char *colon = memchr(line->start, ':', line->length);
	if (colon == NULL || colon == line->start || *line->start == ' ' || *line->start == '\t' ||
	    memchr(line->start, '\n', line->length) != NULL ||
	    memchr(line->start, '\0', line->length) != NULL)
		return refuse(reader, ERROR_INPUT, "a part's header line must be name: value");
	struct text value = value_of(line);
	if (has_name(line, "Content-Disposition"))
		return take_disposition(reader, value, part, name);
	if (has_name(line, "Content-Type"))
		return set_text(reader, &part->content_type, value.start, value.length);
	if (has_name(line, "Content-Transfer-Encoding") && !is_identity_encoding(value))
		return refuse(reader, ERROR_INPUT, "a part's content must not be encoded");
	return 0;
}

static int take_headers(struct reader *reader, struct multipart_part *part,
			struct multipart_text *name)
{
	const char *limit = reader->end - reader->next > MULTIPART_MOST_HEADER_BYTES
				? reader->next + MULTIPART_MOST_HEADER_BYTES
				: reader->end;
	for (;;) {
		size_t left = (size_t)(limit - reader->next);
		const char *line_end = memmem(reader->next, left, "\r\n", 2);
		if (line_end == NULL && limit < reader->end)
			return refuse(reader, ERROR_LIMIT, "a part's headers are too long");
		if (line_end == NULL)
			return refuse(reader, ERROR_INPUT, "a part's headers do not end");
		struct text line = {reader->next, (size_t)(line_end - reader->next)};
		if (line.length > 0 && take_header(reader, &line, part, name) < 0)
			return -1;
		reader->next = line_end + 2;
		if (line.length == 0)
			return 0;
	}
}

/* Headers and content, and the boundary behind it; as take_line_end. */
static int take_part(struct reader *reader, struct multipart_part *part)
{
	struct multipart_text name = {.present = false};
	struct text content = {NULL, 0};
	int more = take_headers(reader, part, &name);
	part->name = name.text;
	if (more < 0)
		return -1;
	if (!name.present)
		return refuse(reader, ERROR_INPUT, "a part has no name");
	/* the line break of a boundary right behind the headers is that of their empty line */
	reader->next -= 2;
	const char *after_headers = reader->next;
	more = take_delimiter(reader, &content);
	bool empty = content.length < 2;
	part->content = (const unsigned char *)after_headers + 2;
	part->content_length = empty ? 0 : content.length - 2;
	return more;
}

static int add_part(struct reader *reader, struct multipart *multipart)
{
	if (multipart->count == MULTIPART_MOST_PARTS)
		return refuse(reader, ERROR_LIMIT, "there are too many parts");
	size_t size = (multipart->count + 1) * sizeof(*multipart->parts);
	struct multipart_part *parts = realloc(multipart->parts, size);
	if (parts == NULL)
		return no_memory(reader->why);
	multipart->parts = parts;
	parts[multipart->count] = (struct multipart_part){.content_length = 0};
	return take_part(reader, &parts[multipart->count++]);
}

int multipart_parse(struct multipart *multipart, const char *content_type, const void *body,
		    size_t length, struct error *why)
{
	const char *start = length > 0 ? body : "";
	struct reader reader = {.start = start, .next = start, .end = start + length, .why = why};
	*multipart = (struct multipart){.count = 0};
	int more = read_content_type(&reader, content_type);
	if (more == 0)
		more = take_first_delimiter(&reader);
	while (more > 0)
		more = add_part(&reader, multipart);
	if (more < 0)
		multipart_free(multipart);
	return more;
}

void multipart_free(struct multipart *multipart)
{
	for (size_t i = 0; i < multipart->count; i++) {
		buffer_free(&multipart->parts[i].name);
		buffer_free(&multipart->parts[i].file_name.text);
		buffer_free(&multipart->parts[i].extended_file_name.text);
		buffer_free(&multipart->parts[i].content_type.text);
	}
	free(multipart->parts);
	*multipart = (struct multipart){.count = 0};
}

bool multipart_is_file(const struct multipart_part *part)
{
	return part->file_name.present || part->extended_file_name.present;
}

static void add_text(struct digest *digest, const struct multipart_text *text)
{
	digest_add(digest, text->present ? "+" : "-", 1);
	if (text->present)
		digest_add_field(digest, text->text.data, text->text.length);
}

void multipart_digest(const struct multipart *multipart, struct digest *digest)
{
	for (size_t i = 0; i < multipart->count; i++) {
		const struct multipart_part *part = &multipart->parts[i];
		digest_add_field(digest, part->name.data, part->name.length);
		add_text(digest, &part->file_name);
		add_text(digest, &part->extended_file_name);
		add_text(digest, &part->content_type);
		digest_add_field(digest, part->content, part->content_length);
	}
}
