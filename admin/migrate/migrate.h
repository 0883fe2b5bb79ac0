/* SPDX-License-Identifier: ISC */
/* One run of once-migrate: what its verbs have to work with, and what they share. */
#ifndef ONCEWRAP_ADMIN_MIGRATE_MIGRATE_H
#define ONCEWRAP_ADMIN_MIGRATE_MIGRATE_H

#include "admin/common/connect.h"
#include "admin/common/output.h"
#include "store/schema.h"

#include <stdbool.h>

#define MIGRATE_NAME  "once-migrate"
#define MIGRATE_GROUP "oncewrap-migrate"

/* What of a verb's answer is no failure. */
enum { MIGRATE_PENDING = 1, MIGRATE_DIFFERS = 1 };

struct migrate {
	struct connect connect;
	struct output_settings settings;
	struct output output;
	const char *host; /* --host; NULL: not given */
	bool dry_run, quiet;
	const char *argument; /* behind the verb; NULL: none */
	int said;             /* what migrate_say came to; GO_ON: all was told */
};

/* Log in. GO_ON, or the exit status of what was told; so are all that follow. */
int migrate_open(struct migrate *migrate, enum connection_use use)
    __attribute__((warn_unused_result));

/* What has been applied; to be freed by schema_free where it is GO_ON. */
int migrate_read(struct migrate *migrate, struct schema *schema)
    __attribute__((warn_unused_result));

/* Tell what was done, unless --quiet. A reader that has gone is no reason to stop half way. */
void migrate_say(struct migrate *migrate, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Tell of a failure; the exit status. */
int migrate_failed(const struct migrate *migrate, enum schema_result result,
		   const struct error *error);

/* Tell a person; "run: once-..." gets the --config of this run. */
void migrate_tell(const struct migrate *migrate, const char *message);

#endif
