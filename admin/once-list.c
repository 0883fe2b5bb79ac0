/* SPDX-License-Identifier: ISC */
/* once-list(8): the records that the store holds. Reads only. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "admin/common/connect.h"
#include "admin/common/options.h"
#include "admin/common/output.h"
#include "admin/common/progress.h"
#include "admin/common/selection.h"
#include "admin/common/writer.h"
#include "admin/list/columns.h"
#include "admin/list/wishes.h"
#include "base/clock.h"
#include "base/encode.h"
#include "store/census.h"
#include "store/listing.h"

#define NAME "once-list"

enum { STATUS_EMPTY = 1, STATUS_GONE = 1 };

/* Before that nobody wonders what takes so long. */
enum { PROGRESS_AFTER = 1000 };

/* Of an id, as a table has them. */
enum { ID_DIGITS = 12 };

static const struct mode {
	const struct column *columns;
	const size_t *count;
} modes[] = {
    [LIST_RECORDS] = {list_columns, &list_column_count},
    [LIST_COUNT] = {count_columns, &count_column_count},
    [LIST_SUMMARY] = {summary_columns, &summary_column_count},
};

/* One round, and what all rounds need. */
struct list {
	struct wishes wishes;
	struct output_settings settings;
	struct connect connect;
	struct selection after;
	struct output output;
	struct progress progress;
	int64_t began;
	uint64_t looked; /* entries of an index, where they were counted */
	uint64_t rows;   /* records that matched */
	unsigned char last[DIGEST_LENGTH];
	int status; /* GO_ON, or what ends the round */
};

static bool take_record(void *context, const struct listing_record *record)
{
	struct list *list = context;
	progress_hide(&list->progress);
	list->rows++;
	memcpy(list->last, record->id, DIGEST_LENGTH);
	list->status = output_row(&list->output, record);
	return list->status == GO_ON;
}

static void tell_looked(void *context, uint64_t count)
{
	struct list *list = context;
	list->looked = count;
	if (clock_now() - list->began >= PROGRESS_AFTER)
		progress_show(&list->progress, count, -1);
}

static bool is_shown(const struct output *output, const char *name)
{
	for (size_t i = 0; i < output->count; i++)
		if (strcmp(output->columns[i]->name, name) == 0)
			return true;
	return false;
}

static int failed(struct list *list, const struct error *error)
{
	progress_hide(&list->progress);
	/* Rows that came before a failure hold; without any it must not look like an empty list. */
	int status = list->rows == 0 ? GO_ON : output_end(&list->output);
	if (error->kind == ERROR_INPUT) {
		fprintf(stderr, NAME ": --after: %s\n", error->message);
		return STATUS_GONE;
	}
	int told = connect_failed(&list->connect, NAME, error);
	return status == GO_ON || status == EX_OK ? told : status;
}

static void tell_more(const struct list *list)
{
	char id[2 * DIGEST_LENGTH + 1];
	encode_hex(id, list->last, DIGEST_LENGTH);
	fprintf(stderr,
		NAME ": there are more than the %" PRIu64
		     " listed; --limit=0 lists all, --after=%.*s goes on\n",
		list->rows, ID_DIGITS, id);
}

static int list_records(struct list *list)
{
	struct error error;
	bool more;
	struct listing_filter filter = list->wishes.filter;
	filter.sizes = is_shown(&list->output, "size");
	if (list->wishes.after != NULL)
		filter.after = list->after.ids[0];
	const struct listing_reader reader = {
	    .context = list, .take = take_record, .looked = tell_looked};
	if (listing_run(&list->connect.connection, &filter, &reader, &more, &error) < 0)
		return failed(list, &error);
	if (list->status != GO_ON)
		return list->status;
	int status = output_end(&list->output);
	if (status == GO_ON && more && !list->wishes.quiet)
		tell_more(list);
	return status;
}

static int list_counts(struct list *list)
{
	struct census census;
	struct error error;
	bool summary = list->wishes.mode == LIST_SUMMARY;
	int status = GO_ON;
	if ((summary ? census_take : census_count)(&list->connect.connection, &list->wishes.filter,
						   tell_looked, list, &census, &error) < 0) {
		status = failed(list, &error);
		goto out;
	}
	progress_hide(&list->progress);
	list->rows = census.records;
	if (!summary)
		status = output_row(&list->output, &census);
	for (size_t i = 0; summary && i < census.count && status == GO_ON; i++)
		status = output_row(&list->output, &census.entries[i]);
	if (status == GO_ON)
		status = output_end(&list->output);
out:
	census_free(&census);
	return status;
}

static void tell_effort(const struct list *list)
{
	int64_t spent = clock_now() - list->began;
	fprintf(stderr, NAME ": %" PRIu64 " matched in %" PRId64 ".%03" PRId64 " s", list->rows,
		spent / 1000, spent % 1000);
	if (list->looked > 0)
		fprintf(stderr, "; each of %" PRIu64 " looked at", list->looked);
	fputs("\n", stderr);
}

/* One list, from its header to its hints; the exit status. */
static int run_round(struct list *list)
{
	const struct wishes *wishes = &list->wishes;
	const struct mode *mode = &modes[wishes->mode];
	struct error error;
	list->looked = list->rows = 0;
	list->status = GO_ON;
	list->began = clock_now();
	progress_begin(&list->progress, NAME, "records", 0, wishes->quiet);
	if (output_open(&list->output, NAME, &list->settings, mode->columns, *mode->count, &error) <
	    0) {
		fprintf(stderr, NAME ": %s\n", error.message);
		return EX_SOFTWARE;
	}
	int status = wishes->mode == LIST_RECORDS ? list_records(list) : list_counts(list);
	progress_hide(&list->progress);
	output_free(&list->output);
	if (status != GO_ON) {
		list->status = status;
		return status;
	}
	if (list->connect.verbose)
		tell_effort(list);
	return wishes->exit_empty && list->rows == 0 ? STATUS_EMPTY : EX_OK;
}

/* On a terminal a round takes the place of the one before; its height leaves room for the header
 * and a hint. */
static bool fit_screen(struct list *list)
{
	enum { SPARE = 4 };
	struct winsize size;
	if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return false;
	if (!list->wishes.limited && list->wishes.largest == 0 && size.ws_row > SPARE)
		list->wishes.filter.limit = size.ws_row - SPARE;
	return true;
}

static int begin_screen(const struct list *list)
{
	struct buffer text = {0};
	char stamp[CLOCK_STAMP_LENGTH];
	clock_stamp(stamp);
	buffer_printf(&text, "\033[H\033[2J" NAME ", every %" PRId64 " s, %s\n", list->wishes.watch,
		      stamp);
	int status = writer_write(NAME, &text);
	buffer_free(&text);
	return status;
}

static void wait_until(int64_t when)
{
	for (int64_t left; (left = when - clock_now()) > 0;) {
		struct timespec span = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
		if (nanosleep(&span, NULL) == 0 || errno != EINTR)
			return;
	}
}

/* Until somebody interrupts it. A database that has gone is what is watched for: it may come back.
 */
static int watch(struct list *list)
{
	bool alive = true;
	while (alive) {
		int64_t next = clock_now() + list->wishes.watch * 1000;
		bool screen = fit_screen(list);
		int status = screen ? begin_screen(list) : GO_ON;
		if (status == GO_ON)
			status = run_round(list);
		/* Nobody reads any more: the status says no more than that all is well. */
		alive = (status == EX_OK && list->status == GO_ON) || status == STATUS_EMPTY ||
			status == EX_UNAVAILABLE || status == EX_TEMPFAIL;
		if (!alive)
			return status;
		wait_until(next);
	}
	return EX_OK;
}

static int start(struct list *list, const struct program *program)
{
	char *operand = (char *)(uintptr_t)list->wishes.after;
	int status = connect_open(&list->connect, NAME, CONNECTION_ADMIN, "oncewrap-admin");
	if (status != GO_ON)
		return status;
	if (list->wishes.after != NULL) {
		list->after.operands = &operand;
		list->after.operand_count = 1;
		status = selection_find(&list->after, program, &list->connect);
		if (status == GO_ON && list->after.count == 0)
			status = STATUS_GONE;
	}
	if (status != GO_ON)
		return status;
	return list->wishes.watch > 0 ? watch(list) : run_round(list);
}

/* A mistake in the options is told before the database is asked. */
static int check(struct list *list, const struct program *program)
{
	struct error error;
	const struct mode *mode = &modes[list->wishes.mode];
	if (wishes_check(&list->wishes, &error) < 0)
		return options_refuse(program, "%s", error.message);
	if (list->wishes.mode != LIST_RECORDS && list->settings.format == OUTPUT_ID)
		return options_refuse(program, "counts have no ids: --output=id is for records");
	/* The number alone, for eyes and for a shell's $(...). */
	if (list->wishes.mode == LIST_COUNT && list->settings.format <= OUTPUT_WIDE)
		list->settings.no_header = true;
	int opened =
	    output_open(&list->output, NAME, &list->settings, mode->columns, *mode->count, &error);
	output_free(&list->output);
	return opened == 0 ? GO_ON : options_refuse(program, "%s", error.message);
}

int main(int argc, char **argv)
{
	options_begin();
	struct list list = {.status = GO_ON};
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		list.settings.offered[i] =
		    (struct output_columns){modes[i].columns, *modes[i].count};
	wishes_init(&list.wishes);
	connect_init(&list.connect);
	const struct option_group groups[] = {
	    wishes_options(&list.wishes),
	    output_options(&list.settings),
	    connect_options(&list.connect),
	};
	const struct program program = {
	    .name = NAME,
	    .arguments = "",
	    .summary = "List the records of idempotency keys, those that expire last first.",
	    .see = "once-list(8)",
	    .groups = groups,
	    .group_count = sizeof(groups) / sizeof(groups[0]),
	};
	int first;
	int status = options_parse(&program, argc, argv, &first);
	if (status != GO_ON)
		return status;
	if (first < argc)
		return options_refuse(&program, "\"%s\": takes no arguments", argv[first]);
	status = check(&list, &program);
	if (status == GO_ON)
		status = start(&list, &program);
	selection_free(&list.after);
	output_free(&list.output);
	connect_close(&list.connect);
	return status;
}
