/* SPDX-License-Identifier: ISC */
/* once-resolve(8): says what came of an operation whose outcome is not known. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "admin/change/answer.h"
#include "admin/change/author.h"
#include "admin/change/deeds.h"
#include "admin/common/confirm.h"
#include "admin/common/connect.h"
#include "admin/common/options.h"
#include "admin/common/output.h"
#include "admin/common/selection.h"
#include "store/change.h"

#define NAME "once-resolve"

struct resolve {
	bool applied;
	bool not_applied;
	struct answer answer;
	int64_t retention; /* ms, of the record in hand */
	struct author author;
	struct selection selection;
	struct confirm confirm;
	bool quiet;
	struct output_settings settings;
	struct connect connect;
	struct output output;
};

static int take_applied(void *target, const char *argument, struct error *error)
{
	(void)argument;
	(void)error;
	((struct resolve *)target)->applied = true;
	return 0;
}

static int take_not_applied(void *target, const char *argument, struct error *error)
{
	(void)argument;
	(void)error;
	((struct resolve *)target)->not_applied = true;
	return 0;
}

static const struct option_entry entries[] = {
    {.name = "applied", .help = "the handler has done its work", .take = take_applied},
    {.name = "not-applied",
     .help = "it has not, and the next retry runs it",
     .take = take_not_applied},
};

static int refuse_contradiction(const struct resolve *resolve, const struct program *program)
{
	if (resolve->applied == resolve->not_applied)
		return options_refuse(program, "say one of: --applied, --not-applied");
	if (resolve->not_applied && answer_is_given(&resolve->answer))
		return options_refuse(
		    program,
		    "--status, --header and --body-file have no meaning with --not-applied");
	if (*resolve->author.reason == '\0')
		return options_refuse(program, "--reason is missing: say how that was found out");
	return answer_check(&resolve->answer, program);
}

static const struct route *route_named(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->route_count; i++)
		if (strcmp(config->routes[i].name, name) == 0)
			return &config->routes[i];
	return NULL;
}

/* As the wrapper will answer, if its route stays as it is. */
static void tell_replay(struct deed *deed, const struct answer *answer, const struct route *route)
{
	int64_t status = answer->status;
	bool fixed = route != NULL && route->replay_status != REPLAY_STATUS_ORIGINAL &&
		     status >= 200 && status <= 299;
	snprintf(deed->next, sizeof(deed->next), "gets the answer given here, status %" PRId64,
		 fixed ? route->replay_status : status);
}

static void tell_not_kept(struct deed *deed, const struct route *route)
{
	if (route == NULL)
		snprintf(deed->next, sizeof(deed->next),
			 "is told that it was done, without an answer");
	else if (route->rebuild)
		snprintf(deed->next, sizeof(deed->next),
			 "gets its answer made again by the handler (ONCE_REPLAY=1)");
	else
		snprintf(deed->next, sizeof(deed->next),
			 "is told that it was done, without an answer, status %" PRId64,
			 route->status.not_kept);
}

static void judge(void *context, const struct inspection *seen, struct deed *deed)
{
	struct resolve *resolve = context;
	if (deed_refuse_state(deed, seen))
		return;
	if (resolve->not_applied) {
		deed_tell_free(deed, seen);
		return;
	}
	const struct route *route = route_named(resolve->connect.config, deed->route);
	/* A record whose route is not configured here is kept for as long as it was to be. */
	resolve->retention =
	    route != NULL ? route->retention : seen->expires_ms - seen->record.created_ms;
	deed->after = RECORD_COMPLETE;
	if (answer_is_given(&resolve->answer))
		tell_replay(deed, &resolve->answer, route);
	else
		tell_not_kept(deed, route);
}

static enum change_result change(void *context, const struct change_seen *seen,
				 struct change_now *now, int64_t deadline, struct error *error)
{
	struct resolve *resolve = context;
	struct connection *connection = &resolve->connect.connection;
	struct audit_author author = author_of(&resolve->author, NAME);
	if (resolve->not_applied)
		return change_release(connection, seen, false, &author, now, deadline, error);
	struct store_answer answer = answer_to_store(&resolve->answer);
	answer.retention = resolve->retention;
	return change_applied(connection, seen, &answer, &author, now, deadline, error);
}

static int ask(const struct resolve *resolve)
{
	char question[80];
	size_t count = resolve->selection.count;
	if (count < 2)
		return GO_ON;
	snprintf(question, sizeof(question), "resolve %zu records as %s", count,
		 resolve->applied ? "applied" : "not applied");
	return confirm_ask(&resolve->confirm, NAME, question);
}

static int resolve_found(struct resolve *resolve)
{
	struct selection *selection = &resolve->selection;
	struct deeds deeds = {
	    .program = NAME,
	    .words =
		{
		    [DEED_DONE] = "resolved",
		    [DEED_PLANNED] = "would resolve",
		    [DEED_SKIPPED] = "skipped",
		    [DEED_FAILED] = "failed",
		},
	    .connect = &resolve->connect,
	    .output = &resolve->output,
	    .confirm = &resolve->confirm,
	    .quiet = resolve->quiet,
	    .context = resolve,
	    .judge = judge,
	    .change = change,
	};
	if (selection->count == 0 && selection->missing > 0)
		return DEEDS_SOME_SKIPPED;
	int status = ask(resolve);
	return status == GO_ON
		   ? deeds_run(&deeds, selection->ids, selection->count, selection->missing)
		   : status;
}

static int find_and_resolve(struct resolve *resolve, const struct program *program)
{
	struct connect *connect = &resolve->connect;
	struct selection *selection = &resolve->selection;
	int status = connect_open(connect, NAME, CONNECTION_ADMIN, "oncewrap-admin");
	if (status == GO_ON)
		status = answer_compose(&resolve->answer, NAME, &connect->config->limits,
					connection_largest(&connect->connection));
	if (status == GO_ON)
		status = selection_find(selection, program, connect);
	if (status != GO_ON)
		return status;
	/* What one operation was answered is not what another was. */
	if (answer_is_given(&resolve->answer) && selection->count + selection->missing > 1)
		return options_refuse(program, "--status: an answer is one record's, not %zu's",
				      selection->count + selection->missing);
	return resolve_found(resolve);
}

static int run(struct resolve *resolve, const struct program *program)
{
	struct error error;
	int status = refuse_contradiction(resolve, program);
	if (status != GO_ON)
		return status;
	if (output_open(&resolve->output, NAME, &resolve->settings, deed_columns, deed_column_count,
			&error) < 0)
		return options_refuse(program, "%s", error.message);
	status = selection_read(&resolve->selection, program);
	return status == GO_ON ? find_and_resolve(resolve, program) : status;
}

int main(int argc, char **argv)
{
	options_begin();
	struct resolve resolve = {.settings.offered = {{deed_columns, deed_column_count}}};
	author_init(&resolve.author);
	connect_init(&resolve.connect);
	const struct option_group groups[] = {
	    OPTION_GROUP(entries, &resolve),   answer_options(&resolve.answer),
	    author_options(&resolve.author),   selection_options(&resolve.selection),
	    confirm_options(&resolve.confirm), deeds_options(&resolve.quiet),
	    output_options(&resolve.settings), connect_options(&resolve.connect),
	};
	const struct program program = {
	    .name = NAME,
	    .arguments = "ID|-...",
	    .summary = "Say what came of operations whose outcome is not known.",
	    .see = "once-resolve(8)",
	    .groups = groups,
	    .group_count = sizeof(groups) / sizeof(groups[0]),
	    .records = true,
	};
	int first;
	int status = options_parse(&program, argc, argv, &first);
	if (status == GO_ON) {
		resolve.selection.operands = argv + first;
		resolve.selection.operand_count = (size_t)(argc - first);
		status = run(&resolve, &program);
	}
	output_free(&resolve.output);
	selection_free(&resolve.selection);
	answer_free(&resolve.answer);
	connect_close(&resolve.connect);
	return status;
}
