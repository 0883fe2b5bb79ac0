/* SPDX-License-Identifier: ISC */
/* once-release(8): frees keys whose owner has gone. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "admin/change/author.h"
#include "admin/change/deeds.h"
#include "admin/common/confirm.h"
#include "admin/common/connect.h"
#include "admin/common/options.h"
#include "admin/common/output.h"
#include "admin/common/selection.h"
#include "base/clock.h"
#include "base/encode.h"
#include "config/unit.h"
#include "store/change.h"
#include "store/stale.h"

#define NAME "once-release"

struct release {
	bool stale;
	bool has_older;
	int64_t older; /* ms */
	bool live;
	bool has_token;
	unsigned char token[TOKEN_LENGTH];
	struct author author;
	struct selection selection;
	struct confirm confirm;
	bool quiet;
	struct output_settings settings;
	struct connect connect;
	struct output output;
};

static int take_stale(void *target, const char *argument, struct error *error)
{
	(void)argument;
	(void)error;
	((struct release *)target)->stale = true;
	return 0;
}

static int take_older(void *target, const char *argument, struct error *error)
{
	struct release *release = target;
	if (unit_parse_duration(argument, &release->older) < 0 ||
	    release->older > ROUTE_MOST_RETENTION) {
		error_set(error, ERROR_INPUT,
			  "\"%s\" is no span of up to ten years, such as 30s, 15m, 12h or 7d",
			  argument);
		return -1;
	}
	release->has_older = true;
	return 0;
}

static int take_live(void *target, const char *argument, struct error *error)
{
	(void)argument;
	(void)error;
	((struct release *)target)->live = true;
	return 0;
}

static int take_token(void *target, const char *argument, struct error *error)
{
	struct release *release = target;
	if (decode_hex(release->token, TOKEN_LENGTH, argument) < 0) {
		error_set(error, ERROR_INPUT,
			  "\"%s\" is not the %d hex digits that once-show prints", argument,
			  2 * TOKEN_LENGTH);
		return -1;
	}
	release->has_token = true;
	return 0;
}

static const struct option_entry entries[] = {
    {.name = "stale", .help = "all whose lease is over, in place of ids", .take = take_stale},
    {.name = "older",
     .argument = "SPAN",
     .help = "with --stale: only those created so long ago",
     .take = take_older},
    {.name = "live",
     .help = "also take it from an owner that lives; needs --token",
     .take = take_live},
    {.name = "token",
     .argument = "HEX",
     .help = "with --live: the owner's, as once-show prints it",
     .take = take_token},
};

/* What contradicts itself on the command line; GO_ON: nothing. */
static int refuse_contradiction(const struct release *release, const struct program *program)
{
	bool named = selection_is_given(&release->selection);
	if (release->stale && named)
		return options_refuse(program, "--stale and named records: say one of them");
	if (release->has_older && !release->stale)
		return options_refuse(program, "--older has no meaning without --stale");
	if (release->live && release->stale)
		return options_refuse(program, "--live takes one named record, not --stale");
	if (release->live != release->has_token)
		return options_refuse(program, release->live
						   ? "--live needs --token, as once-show prints it"
						   : "--token has no meaning without --live");
	if (!release->stale && !named)
		return options_refuse(program, "say which: ID..., --key and --tenant, or --stale");
	return GO_ON;
}

/* Is something against freeing it, whose owner lives? */
static bool refuse_living(const struct release *release, struct deed *deed,
			  const struct inspection *seen)
{
	if (memcmp(seen->record.token, release->token, TOKEN_LENGTH) != 0)
		deed_skip(deed, "it has another token than the one given");
	else if ((seen->record.flags & RECORD_LAPSE_UNKNOWN) != 0)
		deed_skip(deed, "its handler must not run twice, and may have acted: end its"
				" worker, find out, then once-resolve --applied or --not-applied");
	return deed->result == DEED_SKIPPED;
}

/* ... or whose owner has gone? Freed, its handler would run, perhaps once more. */
static bool refuse_abandoned(struct deed *deed, const struct inspection *seen)
{
	if (deed_refuse_state(deed, seen))
		return true;
	if (seen->record.state == RECORD_UNKNOWN ||
	    (seen->record.flags & RECORD_LAPSE_UNKNOWN) != 0)
		deed_skip(deed, "whether its handler has acted is not known: find out, then"
				" once-resolve --applied or --not-applied");
	return deed->result == DEED_SKIPPED;
}

static void judge(void *context, const struct inspection *seen, struct deed *deed)
{
	const struct release *release = context;
	bool living = seen->record.state == RECORD_IN_FLIGHT && !seen->stale;
	if (release->live && living ? refuse_living(release, deed, seen)
				    : refuse_abandoned(deed, seen))
		return;
	deed_tell_free(deed, seen);
}

static enum change_result change(void *context, const struct change_seen *seen,
				 struct change_now *now, int64_t deadline, struct error *error)
{
	struct release *release = context;
	struct audit_author author = author_of(&release->author, NAME);
	return change_release(&release->connect.connection, seen, release->live, &author, now,
			      deadline, error);
}

static int release_all(struct release *release, unsigned char (*ids)[DIGEST_LENGTH], size_t count,
		       size_t missing)
{
	struct deeds deeds = {
	    .program = NAME,
	    .words =
		{
		    [DEED_DONE] = "released",
		    [DEED_PLANNED] = "would release",
		    [DEED_SKIPPED] = "skipped",
		    [DEED_FAILED] = "failed",
		},
	    .connect = &release->connect,
	    .output = &release->output,
	    .confirm = &release->confirm,
	    .quiet = release->quiet,
	    .context = release,
	    .judge = judge,
	    .change = change,
	};
	return deeds_run(&deeds, ids, count, missing);
}

/* A filter always asks, for what it says it will do. */
static int ask_stale(const struct release *release, const struct stale_list *list)
{
	char question[128];
	size_t count = list->count - list->unsure;
	if (list->count == 0)
		return GO_ON;
	int length = snprintf(question, sizeof(question), "release %zu stale record%s", count,
			      count == 1 ? "" : "s");
	if (list->unsure > 0)
		snprintf(question + length, sizeof(question) - (size_t)length,
			 " (and not %zu whose handler may have acted)", list->unsure);
	return confirm_ask(&release->confirm, NAME, question);
}

static int release_stale(struct release *release)
{
	struct stale_list list = {0};
	struct error error;
	const struct stale_filter filter = {
	    .route = release->selection.route,
	    .tenant = release->selection.tenant,
	    .older = release->older,
	};
	int status;
	if (stale_find(&release->connect.connection, &filter, &list,
		       clock_now() + release->connect.timeout * 1000, &error) == 0)
		status = ask_stale(release, &list);
	else
		status = connect_failed(&release->connect, NAME, &error);
	if (status == GO_ON)
		status = release_all(release, list.ids, list.count, 0);
	stale_free(&list);
	return status;
}

static int ask_named(const struct release *release, size_t count)
{
	char question[64];
	if (count < 2)
		return GO_ON;
	snprintf(question, sizeof(question), "release %zu records", count);
	return confirm_ask(&release->confirm, NAME, question);
}

static int release_named(struct release *release, const struct program *program)
{
	struct selection *selection = &release->selection;
	int status = selection_find(selection, program, &release->connect);
	if (status != GO_ON)
		return status;
	if (release->live && selection->count + selection->missing > 1)
		return options_refuse(program, "--live takes one named record, not %zu",
				      selection->count + selection->missing);
	if (selection->count == 0 && selection->missing > 0)
		return DEEDS_SOME_SKIPPED;
	status = ask_named(release, selection->count);
	return status == GO_ON
		   ? release_all(release, selection->ids, selection->count, selection->missing)
		   : status;
}

static int run(struct release *release, const struct program *program)
{
	struct error error;
	int status = refuse_contradiction(release, program);
	if (status != GO_ON)
		return status;
	if (output_open(&release->output, NAME, &release->settings, deed_columns, deed_column_count,
			&error) < 0)
		return options_refuse(program, "%s", error.message);
	status = release->stale ? GO_ON : selection_read(&release->selection, program);
	if (status == GO_ON)
		status = connect_open(&release->connect, NAME, CONNECTION_ADMIN, "oncewrap-admin");
	if (status == GO_ON)
		status = release->stale ? release_stale(release) : release_named(release, program);
	return status;
}

int main(int argc, char **argv)
{
	options_begin();
	struct release release = {.settings.offered = {{deed_columns, deed_column_count}}};
	author_init(&release.author);
	connect_init(&release.connect);
	const struct option_group groups[] = {
	    OPTION_GROUP(entries, &release),       author_options(&release.author),
	    selection_options(&release.selection), confirm_options(&release.confirm),
	    deeds_options(&release.quiet),         output_options(&release.settings),
	    connect_options(&release.connect),
	};
	const struct program program = {
	    .name = NAME,
	    .arguments = "[ID|-]...",
	    .summary = "Free keys whose owner has gone: the next retry runs the handler.",
	    .see = "once-release(8)",
	    .groups = groups,
	    .group_count = sizeof(groups) / sizeof(groups[0]),
	    .records = true,
	};
	int first;
	int status = options_parse(&program, argc, argv, &first);
	if (status != GO_ON)
		return status;
	release.selection.operands = argv + first;
	release.selection.operand_count = (size_t)(argc - first);
	status = run(&release, &program);
	output_free(&release.output);
	selection_free(&release.selection);
	connect_close(&release.connect);
	return status;
}
