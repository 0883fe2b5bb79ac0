/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/show/history.h"

static struct cell text_cell(const struct inspect_text *text)
{
	return text->data != NULL ? cell_bytes(text->data, text->length) : (struct cell){0};
}

static struct cell done_at_of(const void *row)
{
	return cell_number(CELL_TIME, ((const struct inspect_entry *)row)->done_ms);
}

static struct cell program_of(const void *row)
{
	return text_cell(&((const struct inspect_entry *)row)->program);
}

static struct cell before_of(const void *row)
{
	return text_cell(&((const struct inspect_entry *)row)->before);
}

/* A state before it and none after: the record was deleted. With neither it is told of no record,
 * but of a purge. */
static struct cell after_of(const void *row)
{
	const struct inspect_entry *entry = row;
	if (entry->after.data == NULL && entry->before.data != NULL)
		return cell_text("gone");
	return text_cell(&entry->after);
}

static struct cell who_of(const void *row)
{
	return text_cell(&((const struct inspect_entry *)row)->who);
}

static struct cell host_of(const void *row)
{
	return text_cell(&((const struct inspect_entry *)row)->host);
}

static struct cell token_of(const void *row)
{
	const struct inspect_text *token = &((const struct inspect_entry *)row)->token;
	return token->data != NULL ? cell_hash(token->data, token->length) : (struct cell){0};
}

static struct cell reason_of(const void *row)
{
	return text_cell(&((const struct inspect_entry *)row)->reason);
}

static const struct column done_at = {.name = "done_at", .kind = CELL_TIME, .value = done_at_of};
static const struct column program = {.name = "program", .kind = CELL_TEXT, .value = program_of};
static const struct column before = {.name = "before", .kind = CELL_TEXT, .value = before_of};
static const struct column after = {.name = "after", .kind = CELL_TEXT, .value = after_of};
static const struct column who = {.name = "who", .kind = CELL_TEXT, .value = who_of};
static const struct column host = {.name = "host", .kind = CELL_TEXT, .value = host_of};
static const struct column token = {.name = "token", .kind = CELL_HASH, .value = token_of};
static const struct column reason = {.name = "reason", .kind = CELL_TEXT, .value = reason_of};

static const struct column *const columns[] = {&done_at, &program, &before, &after,
					       &who,     &host,    &token,  &reason};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void tell_last(struct buffer *out, const struct inspect_entry *entry,
		      const struct cell_style *style)
{
	struct cell program_cell = program_of(entry), who_cell = who_of(entry),
		    done_cell = done_at_of(entry);
	buffer_clear(out);
	cell_for_eyes(out, &program_cell, style);
	buffer_append_text(out, " by ");
	cell_for_eyes(out, &who_cell, style);
	buffer_append_text(out, " at ");
	cell_for_eyes(out, &done_cell, style);
}

static void take_entry(void *context, const struct inspect_entry *entry)
{
	struct history *history = context;
	tell_last(&history->last, entry, history->list.style);
	sublist_add(&history->list, entry);
}

int history_read(struct history *history, struct connection *connection,
		 const unsigned char id[DIGEST_LENGTH], const struct cell_style *style,
		 int64_t deadline, struct error *error)
{
	if (sublist_begin(&history->list, columns, COLUMNS, history->json, style, error) < 0)
		return -1;
	int result = inspect_history(connection, id, take_entry, history, deadline, error);
	sublist_end(&history->list);
	return result;
}

void history_free(struct history *history)
{
	buffer_free(&history->last);
	sublist_free(&history->list);
}
