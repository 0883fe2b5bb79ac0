/* SPDX-License-Identifier: ISC */
/* Who runs a program that changes records, and the reason given for it. */
#ifndef ONCEWRAP_ADMIN_CHANGE_AUTHOR_H
#define ONCEWRAP_ADMIN_CHANGE_AUTHOR_H

#include "admin/common/options.h"
#include "admin/common/person.h"
#include "store/audit.h"

struct author {
	const char *reason; /* --reason; "": not given */
	char who[PERSON_LENGTH];
	char host[PERSON_LENGTH];
};

void author_init(struct author *author);

struct option_group author_options(struct author *author);

/* As the audit trail takes it; borrowed from `author`. */
struct audit_author author_of(const struct author *author, const char *program);

#endif
