/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/person.h"

#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void person_describe(char text[PERSON_LENGTH])
{
	char host[65] = "";
	char number[24];
	const struct passwd *account = getpwuid(getuid());
	const char *sudo = getenv("SUDO_USER");
	if (gethostname(host, sizeof(host) - 1) != 0)
		strcpy(host, "?");
	snprintf(number, sizeof(number), "%ju", (uintmax_t)getuid());
	const char *name = account != NULL ? account->pw_name : number;
	if (sudo != NULL && *sudo != '\0')
		snprintf(text, PERSON_LENGTH, "%s@%s (sudo: %s)", name, host, sudo);
	else
		snprintf(text, PERSON_LENGTH, "%s@%s", name, host);
}
