/* SPDX-License-Identifier: ISC */
/* once-expire(8): takes what is past its time out of the tables, in small steps. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "admin/common/confirm.h"
#include "admin/common/connect.h"
#include "admin/common/hint.h"
#include "admin/common/options.h"
#include "admin/common/output.h"
#include "admin/common/person.h"
#include "admin/common/progress.h"
#include "admin/expire/brake.h"
#include "admin/expire/expiry.h"
#include "admin/expire/wishes.h"
#include "base/clock.h"
#include "store/schema.h"

#define NAME  "once-expire"
#define GROUP "oncewrap-admin"

/* What one run has to work with. */
struct expire {
	const struct program *program;
	struct connect connect;
	struct output_settings settings;
	struct output output;
	struct confirm confirm;
	struct wishes wishes;
	struct progress progress;
	struct expiry expiry;
};

static const struct purge_counts *counts_of(const void *row)
{
	return &((const struct expiry *)row)->purge.counts;
}

static struct cell deleted_of(const void *row)
{
	return cell_number(CELL_NUMBER, (int64_t)counts_of(row)->deleted);
}

static struct cell tombstoned_of(const void *row)
{
	return cell_number(CELL_NUMBER, (int64_t)counts_of(row)->tombstoned);
}

static struct cell unknown_of(const void *row)
{
	return cell_number(CELL_NUMBER, (int64_t)counts_of(row)->unknown);
}

static struct cell busy_of(const void *row)
{
	return cell_number(CELL_NUMBER, (int64_t)counts_of(row)->busy);
}

static struct cell leases_of(const void *row)
{
	return cell_number(CELL_NUMBER, (int64_t)counts_of(row)->leases);
}

static struct cell natural_keys_of(const void *row)
{
	return cell_number(CELL_NUMBER, (int64_t)counts_of(row)->natural_keys);
}

static struct cell batches_of(const void *row)
{
	return cell_number(CELL_NUMBER, (int64_t)counts_of(row)->batches);
}

static struct cell time_of(const void *row)
{
	const struct expiry *expiry = row;
	return cell_number(CELL_SPAN, expiry->ended - expiry->began);
}

static struct cell ended_of(const void *row)
{
	return cell_text(expiry_ending_name(((const struct expiry *)row)->ending));
}

static const struct column columns[] = {
    {.name = "deleted",
     .kind = CELL_NUMBER,
     .value = deleted_of,
     .shown = COLUMN_ALL,
     .right = true},
    {.name = "tombstoned",
     .kind = CELL_NUMBER,
     .value = tombstoned_of,
     .shown = COLUMN_ALL,
     .right = true},
    {.name = "unknown",
     .kind = CELL_NUMBER,
     .value = unknown_of,
     .shown = COLUMN_ALL,
     .right = true},
    {.name = "busy", .kind = CELL_NUMBER, .value = busy_of, .shown = COLUMN_ALL, .right = true},
    {.name = "leases", .kind = CELL_NUMBER, .value = leases_of, .shown = COLUMN_ALL, .right = true},
    {.name = "natural_keys",
     .kind = CELL_NUMBER,
     .value = natural_keys_of,
     .shown = COLUMN_ALL,
     .right = true},
    {.name = "batches",
     .kind = CELL_NUMBER,
     .value = batches_of,
     .shown = COLUMN_ALL,
     .right = true},
    {.name = "seconds", .kind = CELL_SPAN, .value = time_of, .shown = COLUMN_ALL, .right = true},
    {.name = "ended", .kind = CELL_TEXT, .value = ended_of, .shown = COLUMN_ALL},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* A key must go on being told "expired" for as long as its route says; where the configuration has
 * no such route any more, for as long as any route says. */
static int64_t tombstone_of(void *context, const char *name, size_t length)
{
	const struct config *config = context;
	int64_t longest = 0;
	for (size_t i = 0; i < config->route_count; i++) {
		const struct route *route = &config->routes[i];
		if (strlen(route->name) == length && memcmp(route->name, name, length) == 0)
			return route->tombstone;
		longest = route->tombstone > longest ? route->tombstone : longest;
	}
	return longest;
}

static int begin_purge(struct expire *expire, bool dry_run)
{
	const struct wishes *wishes = &expire->wishes;
	const struct purge_settings settings = {
	    .selection = wishes->selection,
	    .batch = (size_t)wishes->batch,
	    .most = (uint64_t)wishes->most,
	    .dry_run = dry_run,
	    .tombstone = tombstone_of,
	    .context = expire->connect.config,
	};
	struct purge *purge = &expire->expiry.purge;
	if (purge_init(purge, &expire->connect.connection, &settings) < 0) {
		fputs(NAME ": out of memory\n", stderr);
		return EX_SOFTWARE;
	}
	progress_begin(&expire->progress, NAME, "records", (uint64_t)wishes->progress,
		       wishes->quiet);
	if (expire->progress.bar)
		purge_expect(purge);
	return GO_ON;
}

/* What to wait for cannot be seen; the exit status. */
static int tell_blind(const struct expire *expire, const struct error *error)
{
	unsigned code = brake_code(&expire->wishes.brake);
	fprintf(stderr, NAME ": %s\n", error->message);
	return code != 0 ? status_of_store(code) : EX_CONFIG;
}

/* Tell what failed, once; the exit status. Before anything else is asked of the connection. */
static int run_purge(struct expire *expire)
{
	struct expiry *expiry = &expire->expiry;
	expiry_run(expiry);
	progress_hide(&expire->progress);
	switch (expiry->ending) {
	case EXPIRY_FAILED:
		return connect_failed(&expire->connect, NAME, &expiry->error);
	case EXPIRY_BLIND:
		return tell_blind(expire, &expiry->error);
	default:
		return expiry_ending_status(expiry->ending);
	}
}

static bool has_failed(const struct expiry *expiry)
{
	return expiry->ending == EXPIRY_FAILED || expiry->ending == EXPIRY_BLIND;
}

/* What the audit trail says of the run. */
static void describe(const struct expire *expire, char *text, size_t size)
{
	const struct expiry *expiry = &expire->expiry;
	const struct purge_counts *counts = &expiry->purge.counts;
	char selection[AUDIT_REASON_LENGTH - 200];
	wishes_describe(&expire->wishes, selection, sizeof(selection));
	snprintf(text, size,
		 "%s: deleted %" PRIu64 ", tombstoned %" PRIu64 ", unknown %" PRIu64 " in %" PRId64
		 " s, ended: %s",
		 selection, counts->deleted, counts->tombstoned, counts->unknown,
		 (expiry->ended - expiry->began) / 1000, expiry_ending_name(expiry->ending));
}

/* The task is given back whatever became of the run. */
static int end_task(struct expire *expire, int status)
{
	const struct maintenance_counts counts = expiry_counts(&expire->expiry);
	char who[PERSON_LENGTH], host[PERSON_LENGTH], reason[AUDIT_REASON_LENGTH + 1];
	person_name(who);
	person_host(host);
	describe(expire, reason, sizeof(reason));
	const struct audit_author author = {
	    .who = who, .host = host, .program = NAME, .reason = reason};
	struct error error;
	bool succeeded = !has_failed(&expire->expiry);
	bool changed = purge_changed(&expire->expiry.purge) > 0;
	if (maintenance_end(&expire->expiry.maintenance, &counts, succeeded,
			    changed ? &author : NULL, &error) == 0)
		return status;
	if (!succeeded)
		return status; /* told already */
	return connect_failed(&expire->connect, NAME, &error);
}

static void tell_work(const struct expiry *expiry)
{
	for (unsigned work = 0; work < PURGE_WORKS; work++) {
		const struct purge_figures *figures = &expiry->purge.figures[work];
		fprintf(stderr, NAME ": %s: %" PRIu64 " statements, %" PRIu64 " rows, %.3f s\n",
			purge_work_names[work], figures->calls, figures->rows,
			(double)figures->time / 1000);
	}
	fprintf(stderr, NAME ": pause: %.3f s\n", (double)expiry->paused / 1000);
}

/* What was done is told also where it came to a bad end; that end's status wins. */
static int report(struct expire *expire, int status)
{
	const struct wishes *wishes = &expire->wishes;
	const struct expiry *expiry = &expire->expiry;
	bool early = expiry->ending != EXPIRY_DONE && !has_failed(expiry);
	if (wishes->why_quit || (early && !wishes->quiet))
		fprintf(stderr, NAME ": ended: %s\n", expiry_ending_reason(expiry->ending));
	if (expiry->ending == EXPIRY_TAKEN)
		fprintf(stderr, NAME ": %s\n", expiry->error.message);
	if (wishes->statistics)
		tell_work(expiry);
	if (wishes->quiet)
		return status;
	int printed = output_row(&expire->output, expiry);
	if (printed == GO_ON)
		printed = output_end(&expire->output);
	return status == EX_OK && printed != GO_ON ? printed : status;
}

/* How many it would be, without a change. */
static int count(struct expire *expire)
{
	int status = begin_purge(expire, true);
	return status == GO_ON ? run_purge(expire) : status;
}

/* Anything that is not expired is asked for: count first. */
static int ask(struct expire *expire)
{
	char question[96];
	int status = count(expire);
	const struct purge_counts *counts = &expire->expiry.purge.counts;
	snprintf(question, sizeof(question),
		 "delete %" PRIu64 " records, and make tombstones of %" PRIu64, counts->deleted,
		 counts->tombstoned);
	purge_free(&expire->expiry.purge);
	if (status != EX_OK && expire->expiry.ending != EXPIRY_MAX_ROWS)
		return status;
	return confirm_ask(&expire->confirm, NAME, question);
}

static int take_task(struct expire *expire)
{
	char who[PERSON_LENGTH];
	struct error error;
	person_describe(who);
	switch (maintenance_take(&expire->expiry.maintenance, &expire->connect.connection,
				 MAINTENANCE_PURGE, who, &error)) {
	case MAINTENANCE_HELD:
		return GO_ON;
	case MAINTENANCE_BUSY:
		fprintf(stderr, NAME ": another purge is at work: %s\n", error.message);
		return EX_TEMPFAIL;
	case MAINTENANCE_MISSING:
		fprintf(stderr, NAME ": %s\n", error.message);
		return EX_CONFIG;
	case MAINTENANCE_FAILED:
		break;
	}
	return connect_failed(&expire->connect, NAME, &error);
}

static int open_brake(struct expire *expire)
{
	struct error error;
	struct brake *brake = &expire->wishes.brake;
	if (brake_open(brake, &expire->connect, GROUP, &error) == 0)
		return GO_ON;
	return tell_blind(expire, &error);
}

static int purge(struct expire *expire)
{
	int status = expire->wishes.selection.expired || expire->confirm.yes ? GO_ON : ask(expire);
	if (status == GO_ON)
		status = open_brake(expire);
	if (status == GO_ON)
		status = take_task(expire);
	if (status != GO_ON)
		return status;
	expiry_heed_signals();
	status = begin_purge(expire, false);
	if (status == GO_ON)
		status = run_purge(expire);
	return report(expire, end_task(expire, status));
}

/* A table that a newer version has made may mean what this one does not know. */
static int check_schema(struct connect *connect)
{
	struct error error;
	struct schema schema;
	if (schema_read(&connect->connection, &schema, clock_now() + connect->timeout * 1000,
			&error) < 0)
		return connect_failed(connect, NAME, &error);
	enum schema_status found = schema_overall(&schema);
	schema_free(&schema);
	if (found == SCHEMA_APPLIED)
		return GO_ON;
	struct buffer options = {0};
	hint_append_config(&options, connect->file);
	fprintf(stderr, NAME ": the schema is %s; run: once-migrate%s status\n",
		schema_status_name(found), buffer_text(&options));
	buffer_free(&options);
	return EX_CONFIG;
}

static int run(struct expire *expire)
{
	int status = connect_open(&expire->connect, NAME, CONNECTION_ADMIN, GROUP);
	if (status == GO_ON)
		status = check_schema(&expire->connect);
	if (status != GO_ON)
		return status;
	if (!expire->confirm.dry_run)
		return purge(expire);
	return report(expire, count(expire));
}

int main(int argc, char **argv)
{
	options_begin();
	struct expire expire = {.settings = {.no_ids = true, .offered = {{columns, COLUMNS}}}};
	struct expiry *expiry = &expire.expiry;
	wishes_init(&expire.wishes);
	connect_init(&expire.connect);
	const struct option_group groups[] = {
	    wishes_options(&expire.wishes),
	    confirm_options(&expire.confirm),
	    output_options(&expire.settings),
	    connect_options(&expire.connect),
	};
	const struct program program = {
	    .name = NAME,
	    .arguments = "",
	    .summary = "Take records past their retention, and what belongs to them, out of the "
		       "tables,\nin small steps beside live requests.",
	    .see = "once-expire(8)",
	    .groups = groups,
	    .group_count = sizeof(groups) / sizeof(groups[0]),
	};
	int first;
	struct error error;
	int status = options_parse(&program, argc, argv, &first);
	if (status != GO_ON)
		return status;
	if (first < argc)
		return options_refuse(&program, "\"%s\": takes no arguments", argv[first]);
	if (wishes_check(&expire.wishes, &error) < 0 ||
	    output_open(&expire.output, NAME, &expire.settings, columns, COLUMNS, &error) < 0)
		return options_refuse(&program, "%s", error.message);
	expiry->connect = &expire.connect;
	expiry->brake = &expire.wishes.brake;
	expiry->progress = &expire.progress;
	expiry->sleep = expire.wishes.sleep;
	expiry->run_time = expire.wishes.run_time;
	status = run(&expire);
	purge_free(&expiry->purge);
	brake_close(&expire.wishes.brake);
	output_free(&expire.output);
	connect_close(&expire.connect);
	return status;
}
