/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "store/rights.h"

#include <stdio.h>
#include <string.h>

void rights_begin(struct rights *rights)
{
	*rights = (struct rights){0};
	sql_file_init(&rights->file, rights_text);
}

void rights_end(struct rights *rights)
{
	buffer_free(&rights->statement);
}

/* Blanks of any kind and number become one. */
static void flatten(char *text)
{
	char *out = text;
	for (const char *in = text; *in != '\0'; in++) {
		char byte = *in == '\t' || *in == '\n' ? ' ' : *in;
		if (byte != ' ' || (out > text && out[-1] != ' '))
			*out++ = byte;
	}
	*out = '\0';
}

/* Copy what stands between `start` and the first `end` behind it; where that ends, NULL when it is
 * not there or too long. */
static const char *take(char out[RIGHT_LENGTH], const char *start, const char *end)
{
	const char *found = strstr(start, end);
	if (found == NULL || found - start >= RIGHT_LENGTH)
		return NULL;
	memcpy(out, start, (size_t)(found - start));
	out[found - start] = '\0';
	return found + strlen(end);
}

/* "GRANT PRIVILEGES ON oncewrap.TABLE TO 'ACCOUNT'@'HOST'" */
static bool parse(const char *statement, struct right *right)
{
	char text[1024];
	if (strncmp(statement, "GRANT ", strlen("GRANT ")) != 0 ||
	    (size_t)snprintf(text, sizeof(text), "%s", statement) >= sizeof(text))
		return false;
	flatten(text);
	const char *next = take(right->privileges, text + strlen("GRANT "), " ON oncewrap.");
	if (next != NULL)
		next = take(right->table, next, " TO '");
	return next != NULL && take(right->account, next, "'") != NULL;
}

bool rights_next(struct rights *rights, struct right *right)
{
	while (sql_file_next(&rights->file, &rights->statement) == SQL_FILE_STATEMENT)
		if (parse(buffer_text(&rights->statement), right))
			return true;
	return false;
}

/* Where the first privilege of a list ends: at a comma, but not at one between its columns. */
static char *end_of_first(char *list)
{
	char *end = list + strcspn(list, ",(");
	if (*end == '(')
		end += strcspn(end, ")");
	return end + strcspn(end, ",");
}

char *rights_privilege(char **rest)
{
	char *start = *rest + strspn(*rest, ", ");
	if (*start == '\0')
		return NULL;
	char *end = end_of_first(start);
	*rest = *end != '\0' ? end + 1 : end;
	while (end > start && end[-1] == ' ')
		end--;
	*end = '\0';
	return start;
}

void rights_quote(struct buffer *out, const char *name, char quote)
{
	buffer_append_byte(out, (unsigned char)quote);
	for (; *name != '\0'; name++) {
		if (*name == quote || (quote == '\'' && *name == '\\'))
			buffer_append_byte(out, (unsigned char)*name);
		buffer_append_byte(out, (unsigned char)*name);
	}
	buffer_append_byte(out, (unsigned char)quote);
}

void rights_quote_account(struct buffer *out, const char *account)
{
	/* A user's name may hold an @, a host's cannot. */
	const char *at = strrchr(account, '@');
	struct buffer user = {0};
	buffer_append(&user, account, at != NULL ? (size_t)(at - account) : strlen(account));
	rights_quote(out, buffer_text(&user), '\'');
	buffer_append_byte(out, '@');
	rights_quote(out, at != NULL ? at + 1 : "%", '\'');
	out->failed = out->failed || user.failed;
	buffer_free(&user);
}
