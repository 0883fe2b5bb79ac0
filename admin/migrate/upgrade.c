/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/migrate/upgrade.h"

#include <sysexits.h>

#include "admin/common/person.h"
#include "admin/common/writer.h"
#include "admin/migrate/standing.h"

/* The SQL of what `up` would do, marks included: a person may run it by the mariadb client. */
int upgrade_plan(struct migrate *migrate)
{
	struct schema schema;
	int status = migrate_open(migrate, CONNECTION_ADMIN);
	if (status == GO_ON)
		status = migrate_read(migrate, &schema);
	if (status != GO_ON)
		return status;
	char who[PERSON_LENGTH];
	struct buffer text = {0};
	person_describe(who);
	if (schema_overall(&schema) > SCHEMA_PENDING) {
		status = standing_judge(migrate, &schema);
	} else {
		schema_plan(&schema, who, &text);
		if (text.length == 0)
			buffer_append_text(&text, "-- nothing is pending\n");
		status = writer_print(MIGRATE_NAME, &text);
	}
	schema_free(&schema);
	buffer_free(&text);
	return status;
}

/* On its way through the migrations. */
struct run {
	struct migrate *migrate;
	unsigned count;
};

static void applied(void *context, const struct migration *migration)
{
	struct run *run = context;
	run->count++;
	migrate_say(run->migrate, "applied %s\n", migration->file);
}

int upgrade_run(struct migrate *migrate)
{
	struct connect *connect = &migrate->connect;
	struct run run = {.migrate = migrate};
	struct error error;
	char who[PERSON_LENGTH];
	if (migrate->dry_run)
		return upgrade_plan(migrate);
	int status = migrate_open(migrate, CONNECTION_MIGRATION);
	if (status != GO_ON)
		return status;
	person_describe(who);
	enum schema_result result =
	    schema_up(&connect->connection, who, (unsigned)connect->timeout, applied, &run, &error);
	if (result != SCHEMA_DONE)
		return migrate_failed(migrate, result, &error);
	if (run.count == 0)
		migrate_say(migrate, "nothing to do: the schema is current\n");
	return migrate->said == GO_ON ? EX_OK : migrate->said;
}
