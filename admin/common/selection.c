/* SPDX-License-Identifier: ISC */
#include <config.h>

#include "admin/common/selection.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "admin/common/harmless.h"
#include "admin/common/selection_key.h"
#include "base/clock.h"
#include "base/encode.h"
#include "store/lookup.h"

enum { ID_DIGITS = 2 * DIGEST_LENGTH, SHOWN_DIGITS = 12 };

/* No more of what somebody typed is shown. */
enum { SHOWN = 80 };

/* A name that stands for several is told with some of them. */
enum { CANDIDATES = 3 };

/* An id, or the range of a prefix. */
struct selection_name {
	unsigned char first[DIGEST_LENGTH], last[DIGEST_LENGTH];
	unsigned digits;
};

static int take_key(void *target, const char *argument, struct error *error)
{
	if (*argument == '\0') {
		error_set(error, ERROR_INPUT, "no record has an empty key");
		return -1;
	}
	((struct selection *)target)->key = argument;
	return 0;
}

static int take_tenant(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct selection *)target)->tenant = argument;
	return 0;
}

static int take_route(void *target, const char *argument, struct error *error)
{
	(void)error;
	((struct selection *)target)->route = argument;
	return 0;
}

static const struct option_entry entries[] = {
    {.name = "key",
     .argument = "KEY",
     .help = "the record of this key, in place of an id",
     .take = take_key},
    {.name = "tenant",
     .argument = "NAME",
     .help = "whose key it is, as once-list prints it",
     .take = take_tenant},
    {.name = "route",
     .argument = "NAME",
     .help = "by which route it came, where that is part of the id",
     .take = take_route},
};

struct option_group selection_options(struct selection *selection)
{
	return (struct option_group)OPTION_GROUP(entries, selection);
}

bool selection_is_given(const struct selection *selection)
{
	return selection->key != NULL || selection->operand_count > 0;
}

static int out_of_memory(const struct program *program)
{
	fprintf(stderr, "%s: out of memory\n", program->name);
	return EX_SOFTWARE;
}

/* Hex digits and where they lead: with zeros behind them, and with the highest digits. */
static bool read_digits(const char *text, size_t length, struct selection_name *name)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	char whole[ID_DIGITS + 1];
	if (length < SELECTION_LEAST_DIGITS || length > ID_DIGITS)
		return false;
	for (size_t i = 0; i < length; i++)
		if (memchr(digits, text[i], sizeof(digits) - 1) == NULL)
			return false;
	whole[ID_DIGITS] = '\0';
	memcpy(whole, text, length);
	memset(whole + length, '0', ID_DIGITS - length);
	bool read = decode_hex(name->first, DIGEST_LENGTH, whole) == 0;
	memset(whole + length, 'f', ID_DIGITS - length);
	name->digits = (unsigned)length;
	return read && decode_hex(name->last, DIGEST_LENGTH, whole) == 0;
}

/* `line` of standard input; 0: an operand. */
static int refuse_name(const struct program *program, const char *text, size_t length, size_t line)
{
	struct buffer shown = {0};
	size_t most = length < SHOWN ? length : SHOWN;
	harmless_append(&shown, text, most, false);
	if (line > 0)
		fprintf(stderr, "%s: standard input, line %zu: ", program->name, line);
	else
		fprintf(stderr, "%s: ", program->name);
	fprintf(stderr,
		"\"%s%s\" is no id: one has from %d to %d hex digits, as once-list prints them\n",
		buffer_text(&shown), most < length ? "..." : "", SELECTION_LEAST_DIGITS, ID_DIGITS);
	buffer_free(&shown);
	return line > 0 ? EX_DATAERR : EX_USAGE;
}

static int add_name(struct selection *selection, const struct program *program, const char *text,
		    size_t length, size_t line)
{
	if (selection->name_count == selection->name_capacity) {
		size_t capacity = selection->name_capacity == 0 ? 16 : selection->name_capacity * 2;
		struct selection_name *names =
		    reallocarray(selection->names, capacity, sizeof(*names));
		if (names == NULL)
			return out_of_memory(program);
		selection->names = names;
		selection->name_capacity = capacity;
	}
	if (!read_digits(text, length, &selection->names[selection->name_count]))
		return refuse_name(program, text, length, line);
	selection->name_count++;
	return GO_ON;
}

/* An id a line, blanks around it; empty lines name nothing. */
static int read_standard_input(struct selection *selection, const struct program *program)
{
	static const char blanks[] = " \t\r\n";
	char *text = NULL;
	size_t size = 0;
	ssize_t count;
	int status = GO_ON;
	for (size_t line = 1; status == GO_ON && (count = getline(&text, &size, stdin)) >= 0;
	     line++) {
		size_t length = (size_t)count;
		while (length > 0 && memchr(blanks, text[length - 1], sizeof(blanks) - 1) != NULL)
			length--;
		size_t start = 0;
		while (start < length && (text[start] == ' ' || text[start] == '\t'))
			start++;
		if (start < length)
			status = add_name(selection, program, text + start, length - start, line);
	}
	if (status == GO_ON && ferror(stdin)) {
		fprintf(stderr, "%s: standard input: %s\n", program->name, strerror(errno));
		status = EX_DATAERR;
	}
	free(text);
	return status;
}

static int read_operands(struct selection *selection, const struct program *program)
{
	bool input_read = false;
	for (size_t i = 0; i < selection->operand_count; i++) {
		const char *operand = selection->operands[i];
		int status;
		if (strcmp(operand, "-") != 0)
			status = add_name(selection, program, operand, strlen(operand), 0);
		else if (input_read)
			status = options_refuse(program, "- is given more than once");
		else {
			status = read_standard_input(selection, program);
			input_read = true;
		}
		if (status != GO_ON)
			return status;
	}
	return GO_ON;
}

int selection_read(struct selection *selection, const struct program *program)
{
	if (selection->named)
		return GO_ON;
	selection->named = true;
	if (selection->key == NULL && (selection->tenant != NULL || selection->route != NULL))
		return options_refuse(program, "--%s says whose --key is meant; give that too",
				      selection->tenant != NULL ? "tenant" : "route");
	if (selection->key != NULL && selection->operand_count > 0)
		return options_refuse(program, "name records by id or by --key, not by both");
	if (!selection_is_given(selection))
		return options_refuse(program,
				      "say which record: its id, as once-list prints it, or --key");
	return read_operands(selection, program);
}

static int add_id(struct selection *selection, const struct program *program,
		  const unsigned char id[DIGEST_LENGTH])
{
	if (selection->count == selection->capacity) {
		size_t capacity = selection->capacity == 0 ? 16 : selection->capacity * 2;
		unsigned char(*ids)[DIGEST_LENGTH] =
		    reallocarray(selection->ids, capacity, sizeof(*ids));
		if (ids == NULL)
			return out_of_memory(program);
		selection->ids = ids;
		selection->capacity = capacity;
	}
	memcpy(selection->ids[selection->count++], id, DIGEST_LENGTH);
	return GO_ON;
}

static enum lookup_where where_to_look(const struct selection *selection)
{
	return selection->ever ? LOOKUP_EVER : LOOKUP_RECORDS;
}

static int64_t deadline_of(const struct connect *connect)
{
	return clock_now() + connect->timeout * 1000;
}

static void tell_missing(struct selection *selection, const struct program *program,
			 const struct selection_name *name)
{
	char digits[ID_DIGITS + 1];
	encode_hex(digits, name->first, DIGEST_LENGTH);
	selection->missing++;
	fprintf(stderr, "%s: %.*s: there is no such record\n", program->name, (int)name->digits,
		digits);
}

/* Digits as once-list prints them, or as many as tell these apart. */
static void tell_ambiguous(struct selection *selection, const struct program *program,
			   const struct selection_name *name,
			   const unsigned char (*ids)[DIGEST_LENGTH], size_t count)
{
	char texts[CANDIDATES][ID_DIGITS + 1];
	size_t shown = count < CANDIDATES ? count : CANDIDATES;
	size_t alike = 0;
	for (size_t i = 0; i < shown; i++) {
		encode_hex(texts[i], ids[i], DIGEST_LENGTH);
		size_t same = 0;
		while (i > 0 && same < ID_DIGITS && texts[i][same] == texts[i - 1][same])
			same++;
		alike = same > alike ? same : alike;
	}
	int digits = (int)(alike < SHOWN_DIGITS ? SHOWN_DIGITS : alike + 1);
	selection->missing++;
	fprintf(stderr, "%s: %.*s: more than one record begins so:", program->name,
		(int)name->digits, texts[0]);
	for (size_t i = 0; i < shown; i++)
		fprintf(stderr, "%s %.*s", i > 0 ? "," : "", digits, texts[i]);
	fprintf(stderr, "%s; give more digits\n", count > shown ? ", ..." : "");
}

static int find_prefix(struct selection *selection, const struct program *program,
		       struct connect *connect, const struct selection_name *name)
{
	struct error error;
	unsigned char ids[CANDIDATES + 1][DIGEST_LENGTH];
	int count = lookup_range(&connect->connection, where_to_look(selection), name->first,
				 name->last, ids, CANDIDATES + 1, deadline_of(connect), &error);
	if (count < 0)
		return connect_failed(connect, program->name, &error);
	if (count == 1)
		return add_id(selection, program, ids[0]);
	if (count == 0)
		tell_missing(selection, program, name);
	else
		tell_ambiguous(selection, program, name, (const unsigned char(*)[DIGEST_LENGTH])ids,
			       (size_t)count);
	return GO_ON;
}

/* Whole ids from there on, many by one statement: a list of them is what once-list hands on. */
static int find_whole(struct selection *selection, const struct program *program,
		      struct connect *connect, size_t from, size_t count)
{
	struct error error;
	unsigned char ids[LOOKUP_MOST_IDS][DIGEST_LENGTH];
	bool found[LOOKUP_MOST_IDS];
	int status = GO_ON;
	for (size_t i = 0; i < count; i++)
		memcpy(ids[i], selection->names[from + i].first, DIGEST_LENGTH);
	if (lookup_ids(&connect->connection, where_to_look(selection),
		       (const unsigned char(*)[DIGEST_LENGTH])ids, count, found,
		       deadline_of(connect), &error) < 0)
		return connect_failed(connect, program->name, &error);
	for (size_t i = 0; i < count && status == GO_ON; i++)
		if (found[i])
			status = add_id(selection, program, ids[i]);
		else
			tell_missing(selection, program, &selection->names[from + i]);
	return status;
}

static int find_names(struct selection *selection, const struct program *program,
		      struct connect *connect)
{
	int status = GO_ON;
	for (size_t i = 0, step; i < selection->name_count && status == GO_ON; i += step) {
		const struct selection_name *names = &selection->names[i];
		size_t left = selection->name_count - i;
		size_t whole = 0;
		while (whole < left && whole < LOOKUP_MOST_IDS && names[whole].digits == ID_DIGITS)
			whole++;
		step = whole > 0 ? whole : 1;
		status = whole > 0 ? find_whole(selection, program, connect, i, whole)
				   : find_prefix(selection, program, connect, names);
	}
	return status;
}

static int find_key(struct selection *selection, const struct program *program,
		    struct connect *connect)
{
	struct selection_key key;
	int status = selection_key_find(&key, selection, program, connect, deadline_of(connect));
	if (status != GO_ON)
		return status;
	if (key.found)
		return add_id(selection, program, key.id);
	selection->missing++;
	return GO_ON;
}

/* An id among the others, and the place it was named at. */
struct place {
	const unsigned char *id;
	size_t place;
};

static int by_id(const void *one, const void *other)
{
	const struct place *a = one, *b = other;
	int order = memcmp(a->id, b->id, DIGEST_LENGTH);
	return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

/* Keep the first of those that are the same; a record changed twice would look changed by somebody
 * else. */
static int drop_repeated(struct selection *selection, const struct program *program)
{
	size_t count = selection->count;
	struct place *places = calloc(count + 1, sizeof(*places));
	bool *repeated = calloc(count + 1, sizeof(*repeated));
	int status = places != NULL && repeated != NULL ? GO_ON : out_of_memory(program);
	if (status != GO_ON)
		goto out;
	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){selection->ids[i], i};
	qsort(places, count, sizeof(*places), by_id);
	for (size_t i = 1; i < count; i++)
		repeated[places[i].place] =
		    memcmp(places[i].id, places[i - 1].id, DIGEST_LENGTH) == 0;
	selection->count = 0;
	for (size_t i = 0; i < count; i++)
		if (!repeated[i])
			memmove(selection->ids[selection->count++], selection->ids[i],
				DIGEST_LENGTH);
out:
	free(places);
	free(repeated);
	return status;
}

int selection_find(struct selection *selection, const struct program *program,
		   struct connect *connect)
{
	int status = selection_read(selection, program);
	if (status != GO_ON)
		return status;
	status = selection->key != NULL ? find_key(selection, program, connect)
					: find_names(selection, program, connect);
	return status == GO_ON ? drop_repeated(selection, program) : status;
}

void selection_free(struct selection *selection)
{
	free(selection->ids);
	free(selection->names);
	selection->ids = NULL;
	selection->names = NULL;
	selection->count = selection->capacity = 0;
	selection->name_count = selection->name_capacity = 0;
}
