/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/doctor/systemd.h"

#include <stdio.h>
#include <string.h>

/* Is the first line that the command prints this one? */
static bool says(const char *verb, const char *unit, const char *line)
{
	char command[256], found[64] = "";
	snprintf(command, sizeof(command), "systemctl %s %s 2>/dev/null", verb, unit);
	FILE *output = popen(command, "re");
	if (output == NULL)
		return false;
	if (fgets(found, sizeof(found), output) == NULL)
		*found = '\0';
	(void)pclose(output);
	found[strcspn(found, "\n")] = '\0';
	return strcmp(found, line) == 0;
}

bool systemd_runs(void)
{
	return !says("is-system-running", "", "offline") && !says("is-system-running", "", "");
}

bool systemd_is_enabled(const char *unit)
{
	return says("is-enabled", unit, "enabled");
}

bool systemd_is_active(const char *unit)
{
	return says("is-active", unit, "active");
}
