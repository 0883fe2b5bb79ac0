/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/person.h"

#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The real account, for what this runs as may be set by a bit of the file. */
static void write_account(char text[PERSON_LENGTH])
{
	const struct passwd *account = getpwuid(getuid());
	if (account != NULL)
		snprintf(text, PERSON_LENGTH, "%s", account->pw_name);
	else
		snprintf(text, PERSON_LENGTH, "%ju", (uintmax_t)getuid());
}

/* Nothing without sudo. */
static void append_sudo_user(char text[PERSON_LENGTH])
{
	const char *user = getenv("SUDO_USER");
	size_t length = strlen(text);
	if (user != NULL && *user != '\0')
		snprintf(text + length, PERSON_LENGTH - length, " (sudo: %s)", user);
}

void person_name(char text[PERSON_LENGTH])
{
	write_account(text);
	append_sudo_user(text);
}

void person_host(char text[PERSON_LENGTH])
{
	text[PERSON_LENGTH - 1] = '\0';
	if (gethostname(text, PERSON_LENGTH - 1) != 0)
		strcpy(text, "?");
}

void person_describe(char text[PERSON_LENGTH])
{
	char host[PERSON_LENGTH];
	person_host(host);
	write_account(text);
	size_t length = strlen(text);
	snprintf(text + length, PERSON_LENGTH - length, "@%s", host);
	append_sudo_user(text);
}
