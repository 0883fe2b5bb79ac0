/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "config/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"

enum {
	SIZE_MOST = 1 << 20,
	DIGITS_MOST = 9, /* libconfig 1.5 cuts longer numbers to 32 bits without a word */
};

/* Reads up to the file's end into `text`; 0, or -1 with errno. */
static int read_whole(int descriptor, struct buffer *text)
{
	for (;;) {
		char piece[8192];
		ssize_t got = read(descriptor, piece, sizeof(piece));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -1 : 0;
		if (buffer_append(text, piece, (size_t)got) < 0) {
			errno = text->length + (size_t)got > text->limit ? EFBIG : ENOMEM;
			return -1;
		}
	}
}

/* Not blocking, so that a FIFO does not hang a reload. */
static int open_regular(const char *name)
{
	struct stat status = {0};
	int descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (descriptor < 0)
		return -1;
	if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
		return descriptor;
	int saved = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
	close(descriptor);
	errno = saved;
	return -1;
}

struct file *file_read(const char *name, unsigned order, struct problems *problems)
{
	struct file *file = NULL;
	struct buffer text = {.limit = SIZE_MOST};
	int descriptor = open_regular(name);
	if (descriptor < 0 || read_whole(descriptor, &text) < 0) {
		const char *why = strerror(errno);
		if (errno == EINVAL)
			why = "not a regular file";
		else if (errno == EFBIG)
			why = "larger than 1 MiB; no configuration is";
		problems_add(problems, name, order, 0, "cannot be read: %s", why);
		goto out;
	}
	const char *nul = memchr(buffer_text(&text), '\0', text.length);
	if (nul != NULL) {
		problems_add(problems, name, order, 0, "holds a NUL byte; a configuration is text");
		goto out;
	}
	file = file_parse(name, order, buffer_text(&text), problems);
out:
	if (descriptor >= 0)
		close(descriptor);
	buffer_free(&text);
	return file;
}

/* What stands at `text`: a comment, a quoted text, a name or a number, or one byte of anything
 * else. */
static size_t token_length(const char *text)
{
	if (*text == '#' || strncmp(text, "//", 2) == 0)
		return strcspn(text, "\n");
	if (strncmp(text, "/*", 2) == 0) {
		const char *end = strstr(text + 2, "*/");
		return end != NULL ? (size_t)(end - text) + 2 : strlen(text);
	}
	if (*text == '"') {
		size_t length = 1;
		while (text[length] != '\0' && text[length] != '"')
			length += text[length] == '\\' && text[length + 1] != '\0' ? 2 : 1;
		return text[length] == '"' ? length + 1 : length;
	}
	size_t length = 0;
	while (isalnum((unsigned char)text[length]) || text[length] == '_')
		length++;
	return length > 0 ? length : 1;
}

/* Problems that libconfig does not see, or would not survive. */
static void check_tokens(const struct file *file, const char *text, struct problems *problems)
{
	unsigned line = 1;
	for (size_t length; *text != '\0'; text += length) {
		length = token_length(text);
		if (isdigit((unsigned char)*text) && strspn(text, "0123456789") > DIGITS_MOST)
			problems_add(problems, file->name, file->order, line,
				     "%.*s is too large a number for any setting",
				     (int)strspn(text, "0123456789"), text);
		if (*text == '@')
			problems_add(problems, file->name, file->order, line,
				     "@include is not supported: put routes into files of conf.d");
		for (size_t i = 0; i < length; i++)
			line += text[i] == '\n';
	}
}

/* libconfig's words for what people do wrong most, and what would be right. */
static const char *explain(const char *text)
{
	static const struct {
		const char *text, *meaning;
	} known[] = {
	    {"syntax error",
	     "syntax error: look here and just above for a missing quote, bracket or \";\""},
	    {"duplicate setting name", "this setting stands twice in its group: keep one"},
	    {"mismatched element type in array",
	     "a list in [ ] holds values of one kind: quote all of them or none"},
	};
	for (size_t i = 0; text != NULL && i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(text, known[i].text) == 0)
			return known[i].meaning;
	return text != NULL ? text : "cannot be parsed";
}

struct file *file_parse(const char *name, unsigned order, const char *text,
			struct problems *problems)
{
	struct file *file = calloc(1, sizeof(*file));
	if (file == NULL || (file->name = strdup(name)) == NULL) {
		problems->failed = true;
		free(file);
		return NULL;
	}
	file->order = order;
	config_init(&file->tree);
	size_t before = problems->count;
	check_tokens(file, text, problems);
	if (problems->count == before && config_read_string(&file->tree, text) == CONFIG_FALSE)
		problems_add(problems, name, order, (unsigned)config_error_line(&file->tree), "%s",
			     explain(config_error_text(&file->tree)));
	if (problems->count > before || problems->failed) {
		file_free(file);
		return NULL;
	}
	config_setting_set_hook(config_root_setting(&file->tree), file);
	return file;
}

static int is_configuration(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), suffix = strlen(FILE_SUFFIX);
	return entry->d_name[0] != '.' && length > suffix &&
	       strcmp(entry->d_name + length - suffix, FILE_SUFFIX) == 0;
}

static int compare_names(const struct dirent **one, const struct dirent **other)
{
	return strcmp((*one)->d_name, (*other)->d_name);
}

int file_list(const char *directory, struct dirent ***entries)
{
	return scandir(directory, entries, is_configuration, compare_names);
}

const config_setting_t *file_root(const struct file *file)
{
	return config_root_setting(&file->tree);
}

const struct file *file_of(const config_setting_t *setting)
{
	while (!config_setting_is_root(setting))
		setting = config_setting_parent(setting);
	return config_setting_get_hook(setting);
}

void file_free(struct file *file)
{
	if (file == NULL)
		return;
	config_destroy(&file->tree);
	free(file->name);
	free(file);
}
