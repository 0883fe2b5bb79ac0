/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/output.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "admin/common/csv.h"
#include "admin/common/json_lines.h"
#include "admin/common/lines.h"
#include "admin/common/writer.h"

/* A table is laid out in parts of this many rows, so that a long list takes no more memory than a
 * short one. */
enum { TABLE_ROWS = 1000 };

/* Lines of the other formats are written when there is this much of them. */
enum { ENOUGH = 32 * 1024 };

static const struct {
	const char *name;
	unsigned shown; /* which columns, without --columns */
} formats[] = {
    [OUTPUT_TABLE] = {"table", COLUMN_TABLE},
    [OUTPUT_WIDE] = {"wide", COLUMN_WIDE},
    [OUTPUT_JSON] = {"json", COLUMN_DATA},
    [OUTPUT_CSV] = {"csv", COLUMN_DATA},
    [OUTPUT_ID] = {"id", 0},
    [OUTPUT_LINES] = {"lines", COLUMN_WIDE},
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static bool is_there(const struct output_settings *settings, size_t format)
{
	return format != OUTPUT_ID || !settings->no_ids;
}

static int take_format(void *target, const char *argument, struct error *error)
{
	struct output_settings *settings = target;
	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(formats[i].name, argument) == 0 && is_there(settings, i)) {
			settings->format = (enum output_format)i;
			return 0;
		}
	error_set(error, ERROR_INPUT, "\"%s\" is none of table, wide, json, csv, %slines", argument,
		  settings->no_ids ? "" : "id, ");
	return -1;
}

static void offer_formats(const void *target, struct buffer *names)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (is_there(target, i))
			options_offer(names, formats[i].name);
}

static int take_json(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct output_settings *)target)->format = OUTPUT_JSON;
	return 0;
}

static int take_columns(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct output_settings *)target)->columns = argument;
	return 0;
}

static void offer_columns(const void *target, struct buffer *names)
{
	const struct output_settings *settings = target;
	for (size_t list = 0; list < OUTPUT_MOST_LISTS; list++)
		for (size_t i = 0; i < settings->offered[list].count; i++)
			options_offer(names, settings->offered[list].columns[i].name);
}

static int take_no_header(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct output_settings *)target)->no_header = true;
	return 0;
}

static int take_full(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct output_settings *)target)->full = true;
	return 0;
}

static int take_utc(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct output_settings *)target)->local_time = false;
	return 0;
}

static int take_local_time(void *target, const char *argument, struct error *error)
{
	(void)argument, (void)error;
	((struct output_settings *)target)->local_time = true;
	return 0;
}

static const char *const colors[] = {
    [OUTPUT_COLOR_AUTO] = "auto",
    [OUTPUT_COLOR_ALWAYS] = "always",
    [OUTPUT_COLOR_NEVER] = "never",
};
#define COLORS (sizeof(colors) / sizeof(colors[0]))

static void offer_colors(const void *target, struct buffer *names)
{
	(void)target;
	for (size_t i = 0; i < COLORS; i++)
		options_offer(names, colors[i]);
}

static int take_color(void *target, const char *argument, struct error *error)
{
	for (size_t i = 0; i < COLORS; i++)
		if (strcmp(colors[i], argument) == 0) {
			((struct output_settings *)target)->color = (enum output_color)i;
			return 0;
		}
	error_set(error, ERROR_INPUT, "\"%s\" is none of auto, always, never", argument);
	return -1;
}

static const struct option_entry entries[] = {
    {.letter = 'o',
     .name = "output",
     .argument = "FORMAT",
     .help = "table, wide, json, csv, id or lines",
     .take = take_format,
     .offer = offer_formats},
    {.letter = 'j', .name = "json", .help = "the same as --output=json", .take = take_json},
    {.name = "columns",
     .argument = "NAME,...",
     .help = "show these columns, in this order",
     .take = take_columns,
     .offer = offer_columns,
     .several = true},
    {.name = "no-header", .help = "leave out the line of column names", .take = take_no_header},
    {.name = "full", .help = "cut nothing short", .take = take_full},
    {.name = "utc", .help = "times in UTC (this is the default)", .take = take_utc},
    {.name = "local-time", .help = "times in the time zone of this host", .take = take_local_time},
    {.name = "color",
     .argument = "WHEN",
     .help = "auto, always or never (auto: on a terminal)",
     .take = take_color,
     .offer = offer_colors},
};

struct option_group output_options(struct output_settings *settings)
{
	return (struct option_group)OPTION_GROUP(entries, settings);
}

bool output_is_asked(const struct output_settings *settings)
{
	return settings->format != OUTPUT_TABLE || settings->columns != NULL ||
	       settings->no_header || settings->full || settings->local_time;
}

static void choose_by_format(struct output *output, const struct column *columns, size_t count)
{
	unsigned shown = formats[output->settings->format].shown;
	if (output->settings->format == OUTPUT_ID)
		output->columns[output->count++] = &columns[0];
	for (size_t i = 0; i < count; i++)
		if ((columns[i].shown & shown) != 0)
			output->columns[output->count++] = &columns[i];
}

static int refuse_column(const char *name, size_t length, const struct column *columns,
			 size_t count, struct error *error)
{
	struct buffer names = {0};
	for (size_t i = 0; i < count; i++)
		buffer_printf(&names, "%s%s", i > 0 ? ", " : "", columns[i].name);
	error_set(error, ERROR_INPUT, "--columns: \"%.*s\" is none of %s", (int)length, name,
		  buffer_text(&names));
	buffer_free(&names);
	return -1;
}

static int choose_by_name(struct output *output, const struct column *columns, size_t count,
			  struct error *error)
{
	for (const char *name = output->settings->columns;; name++) {
		size_t length = strcspn(name, ",");
		const struct column *found = NULL;
		for (size_t i = 0; i < count && found == NULL; i++)
			if (strlen(columns[i].name) == length &&
			    memcmp(columns[i].name, name, length) == 0)
				found = &columns[i];
		if (found == NULL)
			return refuse_column(name, length, columns, count, error);
		if (output->count == OUTPUT_MOST_COLUMNS) {
			error_set(error, ERROR_INPUT, "--columns: more than %d names",
				  OUTPUT_MOST_COLUMNS);
			return -1;
		}
		output->columns[output->count++] = found;
		name += length;
		if (*name == '\0')
			return 0;
	}
}

static int choose(struct output *output, const struct column *columns, size_t count,
		  struct error *error)
{
	const struct output_settings *settings = output->settings;
	if (settings->columns == NULL) {
		choose_by_format(output, columns, count);
		return 0;
	}
	if (settings->format == OUTPUT_ID) {
		error_set(error, ERROR_INPUT, "--columns has no meaning with --output=id");
		return -1;
	}
	return choose_by_name(output, columns, count, error);
}

/* The width that a table is fitted into: none in a pipe, and none where all was asked for. */
static size_t table_width(const struct output_settings *settings)
{
	struct winsize size;
	if (settings->format == OUTPUT_WIDE || settings->full || isatty(STDOUT_FILENO) == 0 ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return 0;
	return size.ws_col;
}

/* As https://no-color.org has it: set and not empty. */
static bool is_colored(const struct output_settings *settings)
{
	if (settings->color != OUTPUT_COLOR_AUTO)
		return settings->color == OUTPUT_COLOR_ALWAYS;
	const char *unwanted = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");
	return (unwanted == NULL || *unwanted == '\0') && terminal != NULL &&
	       strcmp(terminal, "dumb") != 0 && isatty(STDOUT_FILENO) != 0;
}

int output_open(struct output *output, const char *program, const struct output_settings *settings,
		const struct column *columns, size_t count, struct error *error)
{
	*output = (struct output){.program = program, .settings = settings};
	output->style = (struct cell_style){
	    .full = settings->full || settings->format == OUTPUT_LINES,
	    .local_time = settings->local_time,
	    .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
	};
	if (choose(output, columns, count, error) < 0)
		return -1;
	if (settings->format == OUTPUT_CSV && !settings->no_header)
		csv_header(&output->text, output->columns, output->count);
	if (settings->format != OUTPUT_TABLE && settings->format != OUTPUT_WIDE)
		return 0;
	struct table_layout layout = {.header = !settings->no_header,
				      .colored = is_colored(settings),
				      .width = table_width(settings)};
	output->table = table_new(output->columns, output->count, &layout);
	if (output->table == NULL) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return -1;
	}
	return 0;
}

/* An empty line between two of them. */
static void append_lines(struct output *output, const struct cell *cells)
{
	const struct lines_layout layout = {.names = !output->settings->no_header, .nothing = true};
	if (output->begun)
		buffer_append_byte(&output->text, '\n');
	output->begun = true;
	lines_row(&output->text, output->columns, cells, output->count, &layout, &output->style);
}

static void append_row(struct output *output, const struct cell *cells)
{
	switch (output->settings->format) {
	case OUTPUT_TABLE:
	case OUTPUT_WIDE:
		table_add(output->table, cells, &output->style);
		if (table_rows(output->table) == TABLE_ROWS)
			table_print(output->table, &output->text);
		break;
	case OUTPUT_JSON:
		json_lines_row(&output->text, output->columns, cells, output->count,
			       &output->style);
		break;
	case OUTPUT_CSV:
		csv_row(&output->text, cells, output->count, &output->style);
		break;
	case OUTPUT_LINES:
		append_lines(output, cells);
		break;
	case OUTPUT_ID:
		cell_for_data(&output->text, &cells[0], &output->style);
		buffer_append_byte(&output->text, '\n');
		break;
	}
}

void output_cells(const struct output *output, const void *row,
		  struct cell cells[OUTPUT_MOST_COLUMNS])
{
	for (size_t i = 0; i < output->count; i++) {
		const struct column *column = output->columns[i];
		cells[i] = column->value(row);
		if (cells[i].kind == CELL_TEXT && column->cut > 0 && !output->settings->full)
			cell_cut(&cells[i], column->cut);
	}
}

int output_flush(struct output *output)
{
	if (output->text.length < ENOUGH && !output->text.failed)
		return GO_ON;
	return writer_write(output->program, &output->text);
}

int output_row(struct output *output, const void *row)
{
	struct cell cells[OUTPUT_MOST_COLUMNS];
	output_cells(output, row, cells);
	append_row(output, cells);
	return output_flush(output);
}

int output_end(struct output *output)
{
	if (output->table != NULL)
		table_print(output->table, &output->text);
	return writer_write(output->program, &output->text);
}

void output_free(struct output *output)
{
	table_free(output->table);
	output->table = NULL;
	buffer_free(&output->text);
}
