/* SPDX-License-Identifier: ISC */
/* Schema and tables. */
#include <config.h>

#include "admin/doctor/examination.h"

#include <limits.h>

#include "base/clock.h"
#include "store/schema.h"
#include "store/verify.h"

static bool read_schema(struct examination *examination, struct schema *schema)
{
	struct error error;
	struct login *admin = &examination->admin;
	if (!examination_login(examination, admin))
		return false;
	if (schema_read(&admin->connection, schema, clock_now() + examination->timeout, &error) ==
	    0)
		return true;
	examination_add_message(examination, FINDING_SKIP, error.message);
	return false;
}

static void count_difference(void *context, const struct difference *difference)
{
	(void)difference;
	++*(unsigned *)context;
}

/* Are the tables what the migrations make, whatever the ledger says? */
static bool is_whole(struct examination *examination)
{
	struct error ignored;
	unsigned differences = 0;
	return verify_schema(&examination->admin.connection, UINT_MAX, count_difference,
			     &differences, clock_now() + examination->timeout, &ignored) == 0 &&
	       differences == 0;
}

static void tell_entry(struct examination *examination, const struct schema_entry *entry)
{
	struct findings *findings = &examination->findings;
	switch (entry->status) {
	case SCHEMA_APPLIED:
		break;
	case SCHEMA_PENDING:
		findings_add(findings, FINDING_FAIL, "migration %u (%s) is pending", entry->version,
			     entry->file);
		examination_cure_program(examination, "once-migrate", "up");
		break;
	case SCHEMA_DIRTY:
	case SCHEMA_CHANGED:
		findings_add(findings, entry->status == SCHEMA_DIRTY ? FINDING_FAIL : FINDING_WARN,
			     entry->status == SCHEMA_DIRTY
				 ? "migration %u (%s) was begun and not ended"
				 : "migration %u (%s) was applied from another text than this "
				   "build has",
			     entry->version, entry->file);
		if (is_whole(examination))
			examination_cure_program(examination, "once-migrate", "mark %u",
						 entry->version);
		else
			examination_cure_program(examination, "once-migrate", "verify");
		break;
	case SCHEMA_NEWER:
		findings_add(findings, FINDING_FAIL,
			     "migration %u (%s) is not known to this build: the schema is newer",
			     entry->version, entry->file);
		findings_cure(findings, "apt-get install --only-upgrade oncewrap");
		break;
	}
}

void layout_check_schema(struct examination *examination)
{
	struct schema schema;
	if (!read_schema(examination, &schema))
		return;
	for (size_t i = 0; i < schema.count; i++)
		tell_entry(examination, &schema.entries[i]);
	schema_free(&schema);
}

static void tell_difference(void *context, const struct difference *difference)
{
	struct examination *examination = context;
	findings_add(&examination->findings, FINDING_FAIL, "%s: %s", difference->table,
		     difference->what);
	if (difference->cure != NULL)
		examination_cure_sql(examination, true, "%s", difference->cure);
}

void layout_check_tables(struct examination *examination)
{
	struct schema schema;
	struct error error;
	if (!read_schema(examination, &schema))
		return;
	/* Of what was never applied nothing is missing: the check "schema" tells. */
	unsigned latest = 0;
	bool pending = false;
	for (size_t i = 0; i < schema.count; i++) {
		pending = pending || schema.entries[i].status == SCHEMA_PENDING;
		if (schema.entries[i].status != SCHEMA_PENDING)
			latest = schema.entries[i].version;
	}
	schema_free(&schema);
	if (latest == 0 && pending) {
		findings_add(&examination->findings, FINDING_SKIP, "no migration was applied yet");
		return;
	}
	if (verify_schema(&examination->admin.connection, latest, tell_difference, examination,
			  clock_now() + examination->timeout, &error) < 0)
		examination_add_message(examination, FINDING_SKIP, error.message);
}
