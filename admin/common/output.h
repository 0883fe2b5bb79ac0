/* SPDX-License-Identifier: ISC */
/*
 * How an admin program lists things: the options that say how, and rows on their way to standard
 * output in the format asked for. Hides the formats and their libraries. Needs memory for a
 * thousand rows at most.
 */
#ifndef ONCEWRAP_ADMIN_OUTPUT_H
#define ONCEWRAP_ADMIN_OUTPUT_H

#include "admin/common/column.h"
#include "admin/common/options.h"
#include "admin/common/status.h"
#include "admin/common/table.h"

enum output_format {
	OUTPUT_TABLE,
	OUTPUT_WIDE,
	OUTPUT_JSON,
	OUTPUT_CSV,
	OUTPUT_ID,
	OUTPUT_LINES, /* one thing in full */
};

enum output_color { OUTPUT_COLOR_AUTO, OUTPUT_COLOR_ALWAYS, OUTPUT_COLOR_NEVER };

#define OUTPUT_MOST_LISTS 3

struct output_settings {
	enum output_format format;
	const char *columns; /* --columns; NULL: not given */
	bool no_header;
	bool full;
	bool local_time;
	enum output_color color;
	bool no_ids; /* what the program lists has none: there is no --output=id */
	/* What --columns may name, for the completion: a program may have several lists. */
	struct output_columns {
		const struct column *columns;
		size_t count;
	} offered[OUTPUT_MOST_LISTS];
};

/* The options behind `settings`, which begins as { 0 }, or with another format. */
struct option_group output_options(struct output_settings *settings);

/* Was any of them given a meaning? */
bool output_is_asked(const struct output_settings *settings);

#define OUTPUT_MOST_COLUMNS 48

struct output {
	const char *program;
	const struct output_settings *settings;
	struct cell_style style;
	const struct column *columns[OUTPUT_MOST_COLUMNS]; /* chosen */
	size_t count;
	struct table *table; /* NULL: not that format */
	struct buffer text;  /* not yet written */
	bool begun;          /* lines of a row are there or were */
};

/*
 * Choose from `columns`, the program's table; its first column is what `-o id` prints. 0, or -1
 * with *error, which tells what is wrong on the command line.
 */
int output_open(struct output *output, const char *program, const struct output_settings *settings,
		const struct column *columns, size_t count, struct error *error);

/* The chosen columns of a row, cut where they are to be. */
void output_cells(const struct output *output, const void *row,
		  struct cell cells[OUTPUT_MOST_COLUMNS]);

/* GO_ON, or the exit status to end with. */
int output_row(struct output *output, const void *row) __attribute__((warn_unused_result));

/* Write what a caller has put into output->text, once there is enough of it. */
int output_flush(struct output *output) __attribute__((warn_unused_result));

/* Write what is left; a table without a row still has its header. GO_ON, or the exit status to end
 * with. */
int output_end(struct output *output) __attribute__((warn_unused_result));

void output_free(struct output *output); /* fine for { 0 }, and twice */

#endif
