/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "idem/json.h"

#include "base/encode.h"
#include "idem/decimal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A run of json.text. */
struct run {
	uint32_t start, length;
};

/* Values stand in one array and name each other by index; 0, the outermost, is nobody's child. */
struct node {
	struct run name; /* as a member of an object */
	struct run text; /* of a string or number */
	uint32_t child;  /* the first */
	uint32_t next;   /* sibling */
	enum json_kind kind;
};

struct json {
	struct node *nodes; /* owned */
	size_t count, capacity;
	struct buffer text;
};

struct parser {
	struct json *json;
	const unsigned char *start, *next, *end;
	struct {
		uint32_t node;
		uint32_t last; /* child so far */
	} open[JSON_MOST_DEPTH];
	size_t depth;
	struct error *why;
};

static int refuse(struct parser *parser, enum error_kind kind, const char *rule)
{
	error_set(parser->why, kind, "byte %zu: %s", (size_t)(parser->next - parser->start) + 1,
		  rule);
	return -1;
}

static int no_memory(struct parser *parser)
{
	error_set(parser->why, ERROR_MEMORY, "out of memory for a JSON text");
	return -1;
}

static void skip_blanks(struct parser *parser)
{
	while (parser->next < parser->end && (*parser->next == ' ' || *parser->next == '\t' ||
					      *parser->next == '\n' || *parser->next == '\r'))
		parser->next++;
}

static bool at_byte(const struct parser *parser, unsigned char byte)
{
	return parser->next < parser->end && *parser->next == byte;
}

static bool take_byte(struct parser *parser, unsigned char byte)
{
	if (!at_byte(parser, byte))
		return false;
	parser->next++;
	return true;
}

/* Four hex digits; -1 when there are none. */
static int32_t take_hex(struct parser *parser)
{
	char digits[5] = "";
	unsigned char bytes[2];
	if (parser->end - parser->next < 4)
		return -1;
	memcpy(digits, parser->next, 4);
	if (decode_hex(bytes, sizeof(bytes), digits) < 0)
		return -1;
	parser->next += 4;
	return bytes[0] << 8 | bytes[1];
}

static void append_utf8(struct buffer *out, uint32_t code)
{
	if (code < 0x80) {
		buffer_append_byte(out, (unsigned char)code);
		return;
	}
	int following = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
	buffer_append_byte(out, (unsigned char)(leads[following] | code >> (6 * following)));
	while (following-- > 0)
		buffer_append_byte(out, (unsigned char)(0x80 | (code >> (6 * following) & 0x3f)));
}

/* Behind \u: a character, or the two halves of one (RFC 8259 section 7). */
static int take_unicode(struct parser *parser)
{
	int32_t code = take_hex(parser);
	if (code < 0)
		return refuse(parser, ERROR_INPUT, "four hex digits must follow \\u");
	bool high = code >= 0xd800 && code <= 0xdbff;
	if (high && take_byte(parser, '\\') && take_byte(parser, 'u')) {
		int32_t low = take_hex(parser);
		if (low >= 0xdc00 && low <= 0xdfff) {
			append_utf8(&parser->json->text, 0x10000 +
							     (((uint32_t)code & 0x3ff) << 10) +
							     ((uint32_t)low & 0x3ff));
			return 0;
		}
	}
	if (code >= 0xd800 && code <= 0xdfff)
		return refuse(parser, ERROR_INPUT, "half of a surrogate pair stands alone");
	append_utf8(&parser->json->text, (uint32_t)code);
	return 0;
}

static int take_escape(struct parser *parser)
{
	/* in pairs: the letter behind the backslash, and what it stands for */
	static const char short_forms[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	for (const char *pair = short_forms; *pair != '\0'; pair += 2)
		if (take_byte(parser, (unsigned char)pair[0])) {
			buffer_append_byte(&parser->json->text, (unsigned char)pair[1]);
			return 0;
		}
	if (take_byte(parser, 'u'))
		return take_unicode(parser);
	return refuse(parser, ERROR_INPUT, "a backslash must be followed by one of \"\\/bfnrtu");
}

/* As many characters as stand for themselves. */
static int take_plain(struct parser *parser)
{
	const unsigned char *start = parser->next;
	while (parser->next < parser->end && *parser->next != '"' && *parser->next != '\\') {
		if (*parser->next >= 0x20 && *parser->next < 0x80) { /* nearly always */
			parser->next++;
			continue;
		}
		uint32_t code;
		size_t size = utf8_next(parser->next, (size_t)(parser->end - parser->next), &code);
		if (size == 0)
			return refuse(parser, ERROR_INPUT, "a string is not valid UTF-8");
		if (code < 0x20)
			return refuse(parser, ERROR_INPUT,
				      "a control byte in a string must be escaped");
		parser->next += size;
	}
	buffer_append(&parser->json->text, start, (size_t)(parser->next - start));
	return 0;
}

/* Behind the opening quote. */
static int take_string(struct parser *parser, struct run *run)
{
	struct buffer *text = &parser->json->text;
	run->start = (uint32_t)text->length;
	while (!take_byte(parser, '"')) {
		if (take_plain(parser) < 0)
			return -1;
		if (parser->next == parser->end)
			return refuse(parser, ERROR_INPUT, "a string has no closing quote");
		if (take_byte(parser, '\\') && take_escape(parser) < 0)
			return -1;
	}
	run->length = (uint32_t)(text->length - run->start);
	return text->failed ? no_memory(parser) : 0;
}

static int take_number(struct parser *parser, struct run *run)
{
	struct buffer *text = &parser->json->text;
	run->start = (uint32_t)text->length;
	const char *rule = decimal_take(&parser->next, parser->end, text);
	if (rule != NULL)
		return refuse(parser, ERROR_INPUT, rule);
	run->length = (uint32_t)(text->length - run->start);
	return text->failed ? no_memory(parser) : 0;
}

static int take_word(struct parser *parser, enum json_kind *kind)
{
	static const struct {
		const char *word;
		enum json_kind kind;
	} words[] = {{"true", JSON_TRUE}, {"false", JSON_FALSE}, {"null", JSON_NULL}};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t length = strlen(words[i].word);
		if ((size_t)(parser->end - parser->next) < length ||
		    memcmp(parser->next, words[i].word, length) != 0)
			continue;
		parser->next += length;
		*kind = words[i].kind;
		return 0;
	}
	return refuse(parser, ERROR_INPUT,
		      parser->next == parser->end ? "the text ends where a value must stand"
						  : "here a value must stand");
}

/* Put a node behind its elder siblings; its index, 0 also where it is the outermost. -1 on failure.
 */
static int64_t add_node(struct parser *parser, const struct node *node)
{
	struct json *json = parser->json;
	if (json->count == JSON_MOST_VALUES)
		return refuse(parser, ERROR_LIMIT, "there are too many values");
	if (json->count == json->capacity) {
		size_t capacity = json->capacity == 0 ? 16 : 2 * json->capacity;
		struct node *nodes = realloc(json->nodes, capacity * sizeof(*nodes));
		if (nodes == NULL)
			return no_memory(parser);
		json->nodes = nodes;
		json->capacity = capacity;
	}
	uint32_t index = (uint32_t)json->count++;
	json->nodes[index] = *node;
	if (parser->depth > 0) {
		uint32_t last = parser->open[parser->depth - 1].last;
		if (last != 0)
			json->nodes[last].next = index;
		else
			json->nodes[parser->open[parser->depth - 1].node].child = index;
		parser->open[parser->depth - 1].last = index;
	}
	return index;
}

/* One value, or the opening of one that holds others. */
static int take_value(struct parser *parser, struct run name)
{
	struct node node = {.name = name};
	int taken = 0;
	bool opens = at_byte(parser, '{') || at_byte(parser, '[');
	if (opens && parser->depth == JSON_MOST_DEPTH)
		return refuse(parser, ERROR_LIMIT, "arrays and objects are nested too deep");
	if (opens) {
		node.kind = *parser->next++ == '{' ? JSON_OBJECT : JSON_ARRAY;
	} else if (take_byte(parser, '"')) {
		node.kind = JSON_STRING;
		taken = take_string(parser, &node.text);
	} else if (parser->next < parser->end &&
		   (*parser->next == '-' || (*parser->next >= '0' && *parser->next <= '9'))) {
		node.kind = JSON_NUMBER;
		taken = take_number(parser, &node.text);
	} else {
		taken = take_word(parser, &node.kind);
	}
	int64_t index = taken < 0 ? -1 : add_node(parser, &node);
	if (index < 0)
		return -1;
	if (opens) {
		parser->open[parser->depth].node = (uint32_t)index;
		parser->open[parser->depth++].last = 0;
	}
	return 0;
}

static int compare_runs(const struct json *json, struct run one, struct run other)
{
	uint32_t shared = one.length < other.length ? one.length : other.length;
	int order = shared == 0 ? 0
				: memcmp(json->text.data + one.start, json->text.data + other.start,
					 shared);
	if (order != 0)
		return order;
	return (one.length > other.length) - (one.length < other.length);
}

static int compare_names(const void *one, const void *other, void *context)
{
	const struct json *json = context;
	return compare_runs(json, json->nodes[*(const uint32_t *)one].name,
			    json->nodes[*(const uint32_t *)other].name);
}

static size_t count_children(const struct json *json, uint32_t parent)
{
	size_t count = 0;
	for (uint32_t child = json->nodes[parent].child; child != 0;
	     child = json->nodes[child].next)
		count++;
	return count;
}

static int sort_members(struct parser *parser, uint32_t object)
{
	struct json *json = parser->json;
	size_t count = count_children(json, object);
	if (count < 2)
		return 0;
	uint32_t *members = malloc(count * sizeof(*members));
	if (members == NULL)
		return no_memory(parser);
	int result = 0;
	uint32_t child = json->nodes[object].child;
	for (size_t i = 0; i < count; i++, child = json->nodes[child].next)
		members[i] = child;
	qsort_r(members, count, sizeof(*members), compare_names, json);
	uint32_t *link = &json->nodes[object].child;
	for (size_t i = 0; i < count && result == 0; i++) {
		if (i > 0 && compare_names(&members[i - 1], &members[i], json) == 0)
			result = refuse(parser, ERROR_INPUT,
					"the object that ends before here names a member twice");
		*link = members[i];
		link = &json->nodes[members[i]].next;
	}
	*link = 0;
	free(members);
	return result;
}

static int take_name(struct parser *parser, struct run *name)
{
	if (!take_byte(parser, '"'))
		return refuse(parser, ERROR_INPUT, "a member must begin with its name in quotes");
	if (take_string(parser, name) < 0)
		return -1;
	skip_blanks(parser);
	if (!take_byte(parser, ':'))
		return refuse(parser, ERROR_INPUT, "a colon must follow a member's name");
	skip_blanks(parser);
	return 0;
}

/* The next element of the innermost array or object, or its end. */
static int take_element(struct parser *parser)
{
	uint32_t node = parser->open[parser->depth - 1].node;
	bool object = parser->json->nodes[node].kind == JSON_OBJECT;
	bool first = parser->open[parser->depth - 1].last == 0;
	struct run name = {0, 0};
	skip_blanks(parser);
	if (take_byte(parser, object ? '}' : ']')) {
		parser->depth--;
		return object ? sort_members(parser, node) : 0;
	}
	if (!first) {
		if (!take_byte(parser, ','))
			return refuse(parser, ERROR_INPUT,
				      object ? "a comma or } must follow a member"
					     : "a comma or ] must follow an element");
		skip_blanks(parser);
	}
	if (object && take_name(parser, &name) < 0)
		return -1;
	return take_value(parser, name);
}

static int take_text(struct parser *parser)
{
	skip_blanks(parser);
	if (take_value(parser, (struct run){0, 0}) < 0)
		return -1;
	while (parser->depth > 0)
		if (take_element(parser) < 0)
			return -1;
	skip_blanks(parser);
	return parser->next == parser->end
		   ? 0
		   : refuse(parser, ERROR_INPUT, "something follows the JSON text");
}

struct json *json_parse(const void *text, size_t length, struct error *why)
{
	if (length > JSON_MOST_BYTES) {
		error_set(why, ERROR_LIMIT, "the text is too large to be looked into");
		return NULL;
	}
	struct json *json = calloc(1, sizeof(*json));
	if (json == NULL) {
		error_set(why, ERROR_MEMORY, "out of memory for a JSON text");
		return NULL;
	}
	const unsigned char *start = length > 0 ? text : (const unsigned char *)"";
	struct parser parser = {
	    .json = json, .start = start, .next = start, .end = start + length, .why = why};
	if (take_text(&parser) < 0) {
		json_free(json);
		return NULL;
	}
	return json;
}

void json_free(struct json *json)
{
	if (json == NULL)
		return;
	free(json->nodes);
	buffer_free(&json->text);
	free(json);
}

/* One token of a pointer, its escapes undone, moving *pointer behind it; -1 when it has a bad one
 * or does not begin with a slash. */
static int take_token(const char **pointer, struct buffer *token)
{
	const char *next = *pointer;
	buffer_clear(token);
	if (*next++ != '/')
		return -1;
	for (; *next != '\0' && *next != '/'; next++) {
		char byte = *next;
		if (byte == '~') {
			if (next[1] != '0' && next[1] != '1')
				return -1;
			byte = *++next == '0' ? '~' : '/';
		}
		buffer_append_byte(token, (unsigned char)byte);
	}
	*pointer = next;
	return token->failed ? -1 : 0;
}

static uint32_t find_member(const struct json *json, uint32_t object, const struct buffer *name)
{
	for (uint32_t child = json->nodes[object].child; child != 0;
	     child = json->nodes[child].next) {
		struct run run = json->nodes[child].name;
		if (run.length == name->length &&
		    (run.length == 0 ||
		     memcmp(json->text.data + run.start, name->data, run.length) == 0))
			return child;
	}
	return 0;
}

/* RFC 6901 section 4: digits without a zero in front; `-`, which stands behind the end, is nothing.
 */
static uint32_t find_element(const struct json *json, uint32_t array, const struct buffer *token)
{
	const unsigned char *digits = token->data;
	if (token->length == 0 || token->length > 9 || (digits[0] == '0' && token->length > 1))
		return 0;
	uint32_t index = 0;
	for (size_t i = 0; i < token->length; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return 0;
		index = 10 * index + (uint32_t)(digits[i] - '0');
	}
	uint32_t child = json->nodes[array].child;
	while (child != 0 && index-- > 0)
		child = json->nodes[child].next;
	return child;
}

bool json_find(const struct json *json, const char *pointer, struct json_value *value)
{
	struct buffer token = {.limit = 0};
	bool found = true;
	uint32_t at = 0;
	while (found && *pointer != '\0') {
		found = take_token(&pointer, &token) == 0;
		if (found && json->nodes[at].kind == JSON_OBJECT)
			at = find_member(json, at, &token);
		else if (found && json->nodes[at].kind == JSON_ARRAY)
			at = find_element(json, at, &token);
		else
			at = 0; /* a scalar holds nothing */
		found = found && at != 0;
	}
	buffer_free(&token);
	if (!found)
		return false;
	const struct node *node = &json->nodes[at];
	bool has_text = node->text.length > 0;
	*value = (struct json_value){
	    .kind = node->kind,
	    .text = has_text ? (const char *)json->text.data + node->text.start : "",
	    .length = node->text.length,
	};
	return true;
}

/* Not base/encode.h's, which is for showing and may change: these bytes are kept for years. */
static void put_string(const struct json *json, struct run run, struct buffer *out)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t end = run.start + run.length;
	buffer_append_byte(out, '"');
	for (uint32_t at = run.start; at < end; at++) {
		const unsigned char *plain = json->text.data + at;
		while (at < end && json->text.data[at] >= 0x20 && json->text.data[at] != '"' &&
		       json->text.data[at] != '\\')
			at++;
		buffer_append(out, plain, (size_t)(json->text.data + at - plain));
		if (at == end)
			break;
		unsigned char byte = json->text.data[at];
		if (byte < 0x20)
			buffer_append(
			    out,
			    (char[]){'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 0xf]},
			    6);
		else
			buffer_append(out, (unsigned char[]){'\\', byte}, 2);
	}
	buffer_append_byte(out, '"');
}

static void put_scalar(const struct json *json, const struct node *node, struct buffer *out)
{
	switch (node->kind) {
	case JSON_STRING:
		put_string(json, node->text, out);
		break;
	case JSON_NUMBER:
		buffer_append(out, json->text.data + node->text.start, node->text.length);
		break;
	case JSON_TRUE:
		buffer_append_text(out, "true");
		break;
	case JSON_FALSE:
		buffer_append_text(out, "false");
		break;
	case JSON_NULL:
		buffer_append_text(out, "null");
		break;
	case JSON_OBJECT:
	case JSON_ARRAY:
		break;
	}
}

int json_canonical(const struct json *json, struct buffer *out)
{
	uint32_t open[JSON_MOST_DEPTH];
	size_t depth = 0;
	uint32_t at = 0;
	do {
		const struct node *node = &json->nodes[at];
		if (depth > 0 && json->nodes[open[depth - 1]].kind == JSON_OBJECT) {
			put_string(json, node->name, out);
			buffer_append_byte(out, ':');
		}
		put_scalar(json, node, out);
		bool holds = node->kind == JSON_OBJECT || node->kind == JSON_ARRAY;
		if (holds) {
			buffer_append_byte(out, node->kind == JSON_OBJECT ? '{' : '[');
			open[depth++] = at;
		}
		at = holds ? node->child : node->next;
		bool first = holds && at != 0;
		while (at == 0 && depth > 0) {
			const struct node *closed = &json->nodes[open[--depth]];
			buffer_append_byte(out, closed->kind == JSON_OBJECT ? '}' : ']');
			at = closed->next;
		}
		if (at != 0 && !first)
			buffer_append_byte(out, ',');
	} while (at != 0);
	return out->failed ? -1 : 0;
}
