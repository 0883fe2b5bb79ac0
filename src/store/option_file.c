/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/option_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/shell.h"

/* Where the reading stands. */
struct reading {
	const char *path;
	const char *group;
	unsigned line;
	bool inside; /* the lines now belong to the group */
	struct credentials *credentials;
};

static int check(int fd, const char *path, struct error *error)
{
	struct stat status;
	if (fstat(fd, &status) < 0) {
		error_set_errno(error, errno, "%s", path);
		return -1;
	}
	if (!S_ISREG(status.st_mode)) {
		error_set(error, ERROR_INPUT, "%s: not a regular file", path);
		return -1;
	}
	struct buffer word = {0};
	shell_append(&word, path);
	bool others = (status.st_mode & (S_IWGRP | S_IWOTH | S_IROTH)) != 0;
	bool foreign = status.st_uid != 0 && status.st_uid != geteuid();
	if (foreign)
		error_set(error, ERROR_INPUT, "%s: belongs to account %ju; run: chown root %s",
			  path, (uintmax_t)status.st_uid, buffer_text(&word));
	else if (others)
		error_set(error, ERROR_INPUT,
			  "%s: mode %03o lets others %s it; run: chmod u=rw,g=r,o= %s", path,
			  (unsigned)status.st_mode & 0777,
			  (status.st_mode & S_IROTH) != 0 ? "read" : "write", buffer_text(&word));
	buffer_free(&word);
	return foreign || others ? -1 : 0;
}

static char *trim(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	size_t length = strlen(text);
	while (length > 0 && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

static char unescaped(char letter)
{
	static const char letters[] = "ntrbs\"'\\";
	static const char meanings[] = "\n\t\r\b \"'\\";
	const char *place = letter != '\0' ? strchr(letters, letter) : NULL;
	return place != NULL ? meanings[place - letters] : '\0';
}

/* Take off quotes and resolve escapes, in place; an unknown escape keeps its backslash, as in the
 * clients. */
static char *unquote(char *value)
{
	size_t length = strlen(value);
	if (length >= 2 && (*value == '"' || *value == '\'') && value[length - 1] == *value) {
		value[length - 1] = '\0';
		value++;
	}
	char *out = value;
	for (const char *in = value; *in != '\0'; in++) {
		char meaning = *in == '\\' ? unescaped(in[1]) : '\0';
		if (meaning != '\0') {
			*out++ = meaning;
			in++;
		} else {
			*out++ = *in;
		}
	}
	*out = '\0';
	return value;
}

static int keep(char **place, const char *value, struct error *error)
{
	free(*place);
	*place = strdup(value);
	if (*place == NULL) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return -1;
	}
	return 0;
}

static int read_option(struct reading *reading, char *line, struct error *error)
{
	char *equals = strchr(line, '=');
	if (equals != NULL)
		*equals = '\0';
	const char *name = trim(line);
	char **place = strcmp(name, "user") == 0       ? &reading->credentials->user
		       : strcmp(name, "password") == 0 ? &reading->credentials->password
						       : NULL;
	if (place == NULL || equals == NULL) {
		error_set(
		    error, ERROR_INPUT,
		    "%s:%u: group [%s] takes user = NAME and password = WORD only; the rest is "
		    "set in oncewrap.conf",
		    reading->path, reading->line, reading->group);
		return -1;
	}
	return keep(place, unquote(trim(equals + 1)), error);
}

static int read_line(struct reading *reading, char *line, bool *found, struct error *error)
{
	line = trim(line);
	if (*line == '\0' || *line == '#' || *line == ';')
		return 0;
	if (*line == '!') {
		error_set(error, ERROR_INPUT, "%s:%u: %s is not followed here; write the group out",
			  reading->path, reading->line, line);
		return -1;
	}
	if (*line != '[')
		return reading->inside ? read_option(reading, line, error) : 0;
	char *end = strchr(line, ']');
	if (end == NULL) {
		error_set(error, ERROR_INPUT, "%s:%u: group without its ]", reading->path,
			  reading->line);
		return -1;
	}
	*end = '\0';
	reading->inside = strcmp(trim(line + 1), reading->group) == 0;
	*found = *found || reading->inside;
	return 0;
}

static int read_lines(FILE *file, struct reading *reading, bool *found, struct error *error)
{
	char *line = NULL;
	size_t size = 0;
	int result = 0;
	errno = 0;
	while (result == 0 && getline(&line, &size, file) >= 0) {
		reading->line++;
		result = read_line(reading, line, found, error);
	}
	if (result == 0 && ferror(file)) {
		error_set_errno(error, errno, "%s", reading->path);
		result = -1;
	}
	if (line != NULL)
		explicit_bzero(line, size);
	free(line);
	return result;
}

int option_file_read(const char *path, const char *group, struct credentials *credentials,
		     bool *found, struct error *error)
{
	*credentials = (struct credentials){0};
	*found = false;
	if (*path != '/') {
		error_set(error, ERROR_INPUT, "%s: must be an absolute path", path);
		return -1;
	}
	/* O_NONBLOCK: a FIFO must not hang us before it is refused */
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		error_set_errno(error, errno, errno == ELOOP ? "%s is a symbolic link" : "%s",
				path);
		return -1;
	}
	int result = -1;
	FILE *file = NULL;
	if (check(fd, path, error) < 0)
		goto out;
	file = fdopen(fd, "r");
	if (file == NULL) {
		error_set_errno(error, errno, "%s", path);
		goto out;
	}
	struct reading reading = {.path = path, .group = group, .credentials = credentials};
	result = read_lines(file, &reading, found, error);
out:
	if (file != NULL)
		fclose(file);
	else
		close(fd);
	if (result < 0)
		credentials_free(credentials);
	return result;
}

void credentials_free(struct credentials *credentials)
{
	if (credentials->password != NULL)
		explicit_bzero(credentials->password, strlen(credentials->password));
	free(credentials->password);
	free(credentials->user);
	*credentials = (struct credentials){0};
}
