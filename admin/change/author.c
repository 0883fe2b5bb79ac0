/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/change/author.h"

#include <string.h>

static int take_reason(void *target, const char *argument, struct error *error)
{
	if (argument[strspn(argument, " \t\r\n")] == '\0') {
		error_set(error, ERROR_INPUT, "says nothing");
		return -1;
	}
	if (strlen(argument) > AUDIT_REASON_LENGTH) {
		error_set(error, ERROR_INPUT, "%zu bytes are more than the %d that are kept",
			  strlen(argument), AUDIT_REASON_LENGTH);
		return -1;
	}
	((struct author *)target)->reason = argument;
	return 0;
}

static const struct option_entry entries[] = {
    {.name = "reason", .argument = "TEXT", .help = "why, for the audit trail", .take = take_reason},
};

void author_init(struct author *author)
{
	*author = (struct author){.reason = ""};
	person_name(author->who);
	person_host(author->host);
}

struct option_group author_options(struct author *author)
{
	return (struct option_group)OPTION_GROUP(entries, author);
}

struct audit_author author_of(const struct author *author, const char *program)
{
	return (struct audit_author){
	    .who = author->who,
	    .host = author->host,
	    .program = program,
	    .reason = author->reason,
	};
}
