/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/sql_file.h"

#include <stdio.h>
#include <string.h>

void sql_file_init(struct sql_file *file, const char *text)
{
	*file = (struct sql_file){.place = text, .delimiter = ";"};
}

/* The next line, without its end; the place moves behind it. */
static size_t next_line(struct sql_file *file, const char **line)
{
	*line = file->place;
	size_t length = strcspn(file->place, "\n");
	file->place += length + (file->place[length] == '\n' ? 1 : 0);
	while (length > 0 && strchr(" \t\r", (*line)[length - 1]) != NULL)
		length--;
	return length;
}

static bool take_delimiter(struct sql_file *file, const char *line, size_t length)
{
	static const char word[] = "DELIMITER ";
	const size_t word_length = sizeof(word) - 1;
	if (length <= word_length || strncmp(line, word, word_length) != 0)
		return false;
	snprintf(file->delimiter, sizeof(file->delimiter), "%.*s", (int)(length - word_length),
		 line + word_length);
	return true;
}

enum sql_file_result sql_file_next(struct sql_file *file, struct buffer *statement)
{
	buffer_clear(statement);
	while (*file->place != '\0') {
		const char *line;
		size_t length = next_line(file, &line);
		if (statement->length == 0 && (length == 0 || strncmp(line, "--", 2) == 0 ||
					       take_delimiter(file, line, length)))
			continue;
		size_t end = strlen(file->delimiter);
		bool last = length >= end && memcmp(line + length - end, file->delimiter, end) == 0;
		buffer_append(statement, line, last ? length - end : length);
		if (last)
			return statement->failed ? SQL_FILE_BROKEN : SQL_FILE_STATEMENT;
		buffer_append_byte(statement, '\n');
	}
	return statement->length == 0 && !statement->failed ? SQL_FILE_END : SQL_FILE_BROKEN;
}
