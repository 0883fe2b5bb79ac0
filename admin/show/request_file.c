/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/show/request_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/encode.h"

enum { PIECE = 64 * 1024 };

/* Where a head is read. */
struct head {
	char *next, *end;
	size_t line; /* of the file, from 1 */
	bool traced; /* by curl -v */
};

static int refuse(struct error *error, size_t line, const char *rule)
{
	error_set(error, ERROR_INPUT, "line %zu: %s", line, rule);
	return -1;
}

static int out_of_memory(struct error *error)
{
	error_set(error, ERROR_MEMORY, "out of memory");
	return -1;
}

/* The next line, ended by a NUL in place of its LF or CRLF; NULL at the end, or with *error. */
static char *raw_line(struct head *head, struct error *error)
{
	error->kind = ERROR_NONE;
	if (head->next == head->end)
		return NULL;
	char *line = head->next;
	char *stop = memchr(line, '\n', (size_t)(head->end - line));
	head->line++;
	/* a NUL stands behind the text */
	head->next = stop != NULL ? stop + 1 : head->end;
	char *last = stop != NULL ? stop : head->end;
	if (last > line && last[-1] == '\r')
		last--;
	*last = '\0';
	if (strlen(line) == (size_t)(last - line))
		return line;
	refuse(error, head->line, "holds a NUL byte");
	return NULL;
}

/* The same without what curl -v puts before it; curl's own remarks are left out. */
static char *next_line(struct head *head, struct error *error)
{
	char *line;
	while ((line = raw_line(head, error)) != NULL) {
		if (head->traced && *line == '*')
			continue;
		if (head->traced && *line != '>') {
			refuse(error, head->line, "other lines of the head begin with \">\"");
			return NULL;
		}
		if (head->traced)
			line += line[1] == ' ' ? 2 : 1;
		return line;
	}
	return NULL;
}

static bool is_token(const char *text, size_t length)
{
	static const char others[] = "!#$%&'*+-.^_`|~";
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];
		bool alphanumeric =
		    (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
		if (!alphanumeric && memchr(others, byte, sizeof(others) - 1) == NULL)
			return false;
	}
	return length > 0;
}

/* Web servers hand a handler its path decoded, without scheme and authority, and runs of slashes as
 * one. */
static char *path_of(const char *target)
{
	const char *scheme = strstr(target, "://");
	if (*target != '/' && scheme != NULL) {
		const char *slash = strchr(scheme + strlen("://"), '/');
		target = slash != NULL ? slash : "/";
	}
	char *path = strdup(target);
	if (path == NULL || percent_decode(path) < 0) {
		free(path);
		return NULL;
	}
	char *to = path;
	for (const char *from = path; *from != '\0'; from++)
		if (*from != '/' || to == path || to[-1] != '/')
			*to++ = *from;
	*to = '\0';
	return path;
}

static int take_target(struct request_file *request, char *target, size_t line, struct error *error)
{
	target[strcspn(target, "#")] = '\0';
	char *query = strchr(target, '?');
	if (query != NULL)
		*query++ = '\0';
	request->source.query = query != NULL ? query : "";
	request->path = path_of(target);
	if (request->path == NULL || *request->path != '/')
		return refuse(error, line,
			      "the path must begin with / and have proper %XX escapes");
	request->source.path = request->path;
	return 0;
}

static int take_request_line(struct request_file *request, struct head *head, struct error *error)
{
	static const char form[] = "is no request line: one reads METHOD /path HTTP/1.1";
	char *line = next_line(head, error);
	if (line == NULL)
		return error->kind != ERROR_NONE ? -1 : refuse(error, 1, form);
	size_t length = strcspn(line, " ");
	char *target = line + length;
	if (*target != ' ' || !is_token(line, length))
		return refuse(error, head->line, form);
	*target++ = '\0';
	size_t target_length = strcspn(target, " ");
	const char *version = target + target_length;
	if (target_length == 0 || (*version != '\0' && strncmp(version, " HTTP/", 6) != 0))
		return refuse(error, head->line, form);
	target[target_length] = '\0';
	request->source.method = line;
	return take_target(request, target, head->line, error);
}

static int add_entry(struct request_file *request, const char *name, const char *value,
		     struct error *error)
{
	if (request->params.count == request->entry_capacity) {
		size_t capacity = request->entry_capacity == 0 ? 16 : request->entry_capacity * 2;
		char **entries = reallocarray(request->entries, capacity, sizeof(*entries));
		if (entries == NULL)
			return out_of_memory(error);
		request->entries = entries;
		request->entry_capacity = capacity;
	}
	char *entry = NULL;
	if (asprintf(&entry, "%s=%s", name, value) < 0)
		return out_of_memory(error);
	request->entries[request->params.count++] = entry;
	request->params.entries = (const char *const *)request->entries;
	return 0;
}

static int take_header(struct request_file *request, char *line, size_t number, struct error *error)
{
	char *colon = strchr(line, ':');
	char parameter[SOURCE_MAX_NAME + sizeof("HTTP_")];
	if (colon == NULL || !is_token(line, (size_t)(colon - line)))
		return refuse(error, number, "is no header line: one reads Name: value");
	*colon = '\0';
	char *value = colon + 1 + strspn(colon + 1, " \t");
	size_t length = strlen(value);
	while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
		length--;
	value[length] = '\0';
	/* No configured header's name is longer. */
	if (params_header_name(parameter, sizeof(parameter), line) < 0)
		return 0;
	return add_entry(request, parameter, value, error);
}

/* 0: the head has ended, with an empty line or with the file. */
static int take_head(struct request_file *request, struct head *head, struct error *error)
{
	if (take_request_line(request, head, error) < 0)
		return -1;
	for (;;) {
		char *line = next_line(head, error);
		if (line == NULL)
			return error->kind != ERROR_NONE ? -1 : 0;
		if (*line == '\0')
			return 0;
		if (take_header(request, line, head->line, error) < 0)
			return -1;
	}
}

/* As long as Content-Length says: an editor puts a newline behind the last line, and a web server
 * reads no further either. */
static int measure_body(const struct request_file *request, const struct head *head, size_t *length,
			struct error *error)
{
	const char *declared = params_get_filled(&request->params, "CONTENT_LENGTH");
	*length = (size_t)(head->end - head->next);
	if (declared == NULL)
		return 0;
	errno = 0;
	unsigned long long wanted = strtoull(declared, NULL, 10);
	if (strspn(declared, "0123456789") != strlen(declared) || errno != 0) {
		error_set(error, ERROR_INPUT, "Content-Length is no number");
		return -1;
	}
	if (wanted > *length) {
		error_set(error, ERROR_INPUT,
			  "the body has %zu bytes, but Content-Length says %llu; put the whole body"
			  " behind the empty line",
			  *length, wanted);
		return -1;
	}
	*length = (size_t)wanted;
	return 0;
}

static int take_body(struct request_file *request, const struct head *head, struct error *error)
{
	struct fingerprint_source *source = &request->source;
	size_t length;
	if (measure_body(request, head, &length, error) < 0)
		return -1;
	const char *type = params_get_filled(&request->params, "CONTENT_TYPE");
	source->content_type = type != NULL ? type : "";
	digest_of(head->next, length, request->body_digest);
	source->body_digest = request->body_digest;
	source->params = &request->params;
	source->document = document_new(head->next, length, source->content_type);
	return source->document != NULL ? 0 : out_of_memory(error);
}

/* Is the first line that is not one of curl's remarks one that it has sent? */
static bool is_traced(const char *text)
{
	while (*text == '*') {
		text += strcspn(text, "\n");
		text += *text != '\0';
	}
	return *text == '>';
}

/* Of what is in request->text. */
static int parse(struct request_file *request, struct error *error)
{
	char *text = (char *)(uintptr_t)buffer_text(&request->text);
	if (request->text.failed)
		return out_of_memory(error);
	struct head head = {
	    .next = text,
	    .end = text + request->text.length,
	    .traced = is_traced(text),
	};
	if (take_head(request, &head, error) < 0)
		return -1;
	return take_body(request, &head, error);
}

int request_file_parse(struct request_file *request, const void *text, size_t length,
		       struct error *error)
{
	*request = (struct request_file){0};
	buffer_append(&request->text, text, length);
	return parse(request, error);
}

static int read_all(int fd, struct buffer *text, struct error *error)
{
	for (;;) {
		unsigned char *room = buffer_reserve(text, PIECE);
		if (room == NULL)
			return out_of_memory(error);
		ssize_t count = read(fd, room, PIECE);
		if (count == 0)
			return 0;
		if (count > 0)
			text->length += (size_t)count;
		else if (errno != EINTR) {
			error_set(error, ERROR_SYSTEM, "%s", strerror(errno));
			return -1;
		}
	}
}

int request_file_read(struct request_file *request, const char *name, struct error *error)
{
	*request = (struct request_file){0};
	bool standard = strcmp(name, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	int result = -1;
	if (fd < 0)
		error_set(error, ERROR_SYSTEM, "%s", strerror(errno));
	else if (read_all(fd, &request->text, error) == 0)
		result = parse(request, error);
	if (fd >= 0 && !standard)
		close(fd);
	if (result < 0)
		error_prefix(error, "%s", standard ? "standard input" : name);
	return result;
}

void request_file_free(struct request_file *request)
{
	document_free(request->source.document);
	for (size_t i = 0; i < request->params.count; i++)
		free(request->entries[i]);
	free(request->entries);
	free(request->path);
	buffer_free(&request->text);
	*request = (struct request_file){0};
}
